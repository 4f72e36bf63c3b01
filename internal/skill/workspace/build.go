package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/files"
)

// build copies a tree's entries from a directory into another, a new one, with modes
// that fit those that they stand for, and syncs them. Digests that the tree has must be
// those of what is copied; those that it lacks are filled in.
func build(ctx context.Context, from *listing, t Tree, dir string, mode func(Entry) fs.FileMode) error {
	into, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = into.Close() }()
	for i := range t {
		if err := ctx.Err(); err != nil {
			return err
		}
		e, name := &t[i], filepath.FromSlash(t[i].Path)
		switch {
		case e.IsDir():
			err = into.Mkdir(name, 0o700)
		case e.IsLink():
			err = into.Symlink(e.Target, name)
		default:
			err = copyFile(from, into, e, mode(*e))
		}
		if err != nil {
			return err
		}
	}
	for i := len(t) - 1; i >= 0; i-- { // the deepest first
		if !t[i].IsDir() {
			continue
		}
		name := filepath.FromSlash(t[i].Path)
		if err := errors.Join(files.SyncDirectory(filepath.Join(dir, name)), into.Chmod(name, mode(t[i]))); err != nil {
			return err
		}
	}
	return files.SyncDirectory(dir)
}

func copyFile(from *listing, into *os.Root, e *Entry, mode fs.FileMode) error {
	size, sum, err := files.Copy(from.root, into, e.Path, mode)
	if err != nil {
		return fmt.Errorf("copy %q: %w", e.Path, err)
	}
	if e.SHA256 != "" && e.SHA256 != sum {
		return fmt.Errorf("%q changed while it was copied", e.Path)
	}
	e.Size, e.SHA256 = size, sum
	return nil
}

// written counts the files that a tree has otherwise than before.
func written(changes []files.Difference) (count int) {
	for _, d := range changes {
		if d.After != nil && d.After.IsFile() {
			count++
		}
	}
	return count
}

// newStage makes a new directory beside dir, in which a tree is put together.
func newStage(dir string) (string, error) {
	return os.MkdirTemp(filepath.Dir(dir), filepath.Base(hidden(dir, "stage-"))+"*")
}

// clearStages removes those that an interrupted run left.
func clearStages(dir string) error {
	left, err := filepath.Glob(globQuote(hidden(dir, "stage-")) + "*")
	if err != nil {
		return err
	}
	for _, name := range left {
		if err := files.RemoveAll(name); err != nil {
			return err
		}
	}
	return nil
}

// globQuote makes a pattern that matches only that name.
func globQuote(name string) string {
	var out []byte
	for i := range len(name) {
		switch name[i] {
		case '*', '?', '[', '\\':
			if filepath.Separator == '/' {
				out = append(out, '\\')
			}
		}
		out = append(out, name[i])
	}
	return string(out)
}
