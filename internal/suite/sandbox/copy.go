package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/files"
)

// copyTree writes the entries of a manifest from one directory to another that
// is empty. Content that differs from the manifest is an error: nobody may
// change what the next sandbox is made of.
func copyTree(ctx context.Context, from, to *os.Root, m Manifest) error {
	err := copier(from, to).Copy(ctx, m)
	if errors.Is(err, files.ErrChanged) {
		err = fmt.Errorf("%w; leave the fixtures as they are while the suite runs, and run it again", err)
	}
	return err
}

// copier keeps permissions and times. The owner of a directory can always work in it.
func copier(from, to *os.Root) *files.Copier {
	return &files.Copier{
		From: from, Into: to, Mode: func(e Entry) fs.FileMode {
			if e.IsDir() {
				return e.Mode.Perm() | 0o700
			}
			return e.Mode.Perm()
		},
		Finish: func(e Entry, source, _ *os.File) error {
			if e.IsDir() {
				return nil
			}
			info, err := source.Stat()
			if err != nil {
				return err
			}
			return to.Chtimes(filepath.FromSlash(e.Path), info.ModTime(), info.ModTime())
		},
	}
}
