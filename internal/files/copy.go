package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Digest reads a regular file below a root whole, and returns its size and the SHA-256
// of its content in hexadecimal. The path has slashes.
func Digest(root *os.Root, name string) (size int64, sum string, err error) {
	source, err := OpenRegular(root, name)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = source.Close() }()
	return hashed(io.Discard, source)
}

func hashed(into io.Writer, source io.Reader) (size int64, sum string, err error) {
	hash := sha256.New()
	size, err = io.Copy(io.MultiWriter(hash, into), source)
	return size, hex.EncodeToString(hash.Sum(nil)), err
}

// ErrChanged says that a file is not what its manifest says any more.
var ErrChanged = errors.New("it changed while it was copied")

// Copier copies what is below one root into another, which has nothing of it.
type Copier struct {
	From, Into *os.Root
	// Mode is what permissions a file or directory gets.
	Mode func(Entry) fs.FileMode
	// Finish is called for each file and directory when all is in it; of a directory
	// there are no files.
	Finish func(e Entry, source, copied *os.File) error
}

// Copy copies the entries of a manifest. Digests that it has must be those of what is
// copied; those that it lacks are filled in. Directories get their modes when all is in
// them.
func (c *Copier) Copy(ctx context.Context, m Manifest) error {
	for i := range m {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := c.Entry(&m[i]); err != nil {
			return fmt.Errorf("copy %q: %w", m[i].Path, err)
		}
	}
	for i := len(m) - 1; i >= 0; i-- { // the deepest first
		if e := m[i]; e.IsDir() {
			err := errors.Join(c.Finish(e, nil, nil), c.Into.Chmod(filepath.FromSlash(e.Path), c.Mode(e)))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Entry copies one entry, as Copy does, but for the mode of a directory.
func (c *Copier) Entry(e *Entry) error {
	local := filepath.FromSlash(e.Path)
	if err := c.Into.MkdirAll(filepath.Dir(local), 0o700); err != nil {
		return err
	}
	switch {
	case e.IsDir():
		return c.Into.MkdirAll(local, 0o700)
	case e.IsLink():
		return c.Into.Symlink(e.Target, local)
	}
	source, err := OpenRegular(c.From, e.Path)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	copied, err := c.Into.OpenFile(local, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	size, sum, err := hashed(copied, source)
	if err == nil && e.SHA256 != "" && e.SHA256 != sum {
		err = ErrChanged
	}
	err = errors.Join(err, copied.Chmod(c.Mode(*e)))
	if err == nil {
		err = c.Finish(*e, source, copied)
	}
	e.Size, e.SHA256 = size, sum
	return errors.Join(err, copied.Close())
}
