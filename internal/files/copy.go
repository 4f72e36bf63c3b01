package files

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
)

var errChanged = errors.New("it changed while it was copied; leave it as it is, and run this again")

// Copier copies what is below one root into another.
type Copier struct {
	From, Into *os.Root
	// Mode is what permissions a file or directory gets; nil leaves them as they are, but that
	// the owner of a directory can always work in it.
	Mode func(Entry) fs.FileMode
	// Finish is called for each file and directory when all is in it; of a directory
	// there is no file. Nil keeps the times of files.
	Finish func(e Entry, copied *os.File) error
	// Beside leaves files and links that are there already as they are; else they are errors.
	Beside bool
}

// Copy copies the entries of a manifest. Directories get their modes when all is in them.
func (c *Copier) Copy(ctx context.Context, m Manifest) error {
	for _, e := range m {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := c.Entry(e); err != nil && (!c.Beside || !errors.Is(err, fs.ErrExist)) {
			return fmt.Errorf("copy %q: %w", e.Path, err)
		}
	}
	for _, e := range slices.Backward(m) { // the deepest first
		if !e.IsDir() {
			continue
		}
		if c.Finish != nil {
			if err := c.Finish(e, nil); err != nil {
				return err
			}
		}
		if err := c.Into.Chmod(e.Path, c.mode(e)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Copier) mode(e Entry) fs.FileMode {
	switch {
	case c.Mode != nil:
		return c.Mode(e)
	case e.IsDir():
		return e.Mode.Perm() | 0o700
	default:
		return e.Mode.Perm()
	}
}

// Entry copies one entry, as Copy does, but for the mode of a directory.
func (c *Copier) Entry(e Entry) error {
	if e.IsDir() {
		return c.Into.MkdirAll(e.Path, 0o700)
	}
	if err := c.Into.MkdirAll(path.Dir(e.Path), 0o700); err != nil {
		return err
	}
	if e.IsLink() {
		return c.Into.Symlink(e.Target, e.Path)
	}
	source, err := OpenRegular(c.From, e.Path)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	return c.File(e, source)
}

// File copies a file to the place of an entry. A digest that the entry has must be that of
// what is copied.
func (c *Copier) File(e Entry, source *os.File) error {
	copied, err := c.Into.OpenFile(e.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if e.SHA256 == "" {
		_, err = io.Copy(copied, source)
	} else if _, sum, failed := hashed(copied, source); failed != nil || sum != e.SHA256 {
		err = cmp.Or(failed, errChanged)
	}
	err = errors.Join(err, copied.Chmod(c.mode(e)))
	if err == nil && c.Finish != nil {
		err = c.Finish(e, copied)
	}
	if err = errors.Join(err, copied.Close()); err != nil || c.Finish != nil {
		return err
	}
	info, err := source.Stat()
	if err != nil {
		return err
	}
	return c.Into.Chtimes(e.Path, info.ModTime(), info.ModTime())
}

func hashed(into io.Writer, source io.Reader) (size int64, sum string, err error) {
	hash := sha256.New()
	size, err = io.Copy(io.MultiWriter(hash, into), source)
	return size, hex.EncodeToString(hash.Sum(nil)), err
}
