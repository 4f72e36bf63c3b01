package sandbox

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

	"github.com/org/autoloop/internal/files"
)

// copyTree writes the entries of a manifest from one directory to another that
// is empty. Content that differs from the manifest is an error: nobody may
// change what the next sandbox is made of.
func copyTree(ctx context.Context, from, to *os.Root, m Manifest) error {
	for _, e := range m {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := copyEntry(from, to, e); err != nil {
			return fmt.Errorf("copy %s: %w", e.Path, err)
		}
	}
	return closeDirectories(to, m)
}

func copyEntry(from, to *os.Root, e Entry) error {
	local := filepath.FromSlash(e.Path)
	switch {
	case e.Mode.IsDir():
		return to.MkdirAll(local, 0o700)
	case e.IsLink():
		if err := to.MkdirAll(filepath.Dir(local), 0o700); err != nil {
			return err
		}
		return to.Symlink(e.Target, local)
	}
	source, err := files.OpenRegular(from, e.Path)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	sum := sha256.New()
	if err := writeFile(to, e, io.TeeReader(source, sum)); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != e.SHA256 {
		return fmt.Errorf("it changed while the suite ran; leave the fixtures as they are and run it again")
	}
	if info, err := source.Stat(); err == nil {
		return to.Chtimes(local, info.ModTime(), info.ModTime())
	}
	return nil
}

// writeFile creates a file with exactly the entry's permissions.
func writeFile(to *os.Root, e Entry, content io.Reader) error {
	local := filepath.FromSlash(e.Path)
	if err := to.MkdirAll(filepath.Dir(local), 0o700); err != nil {
		return err
	}
	file, err := to.OpenFile(local, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return to.Chmod(local, e.Mode.Perm())
}

// closeDirectories gives directories their modes when all is in them, the
// deepest first. Their owner can always work in them.
func closeDirectories(to *os.Root, m Manifest) error {
	const owner fs.FileMode = 0o700
	for i := len(m) - 1; i >= 0; i-- {
		if e := m[i]; e.Mode.IsDir() {
			if err := to.Chmod(filepath.FromSlash(e.Path), e.Mode.Perm()|owner); err != nil {
				return err
			}
		}
	}
	return nil
}
