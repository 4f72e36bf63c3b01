package workspace

import (
	"context"
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
	copier := files.Copier{
		From: from.root, Into: into, Mode: mode,
		Finish: func(e Entry, _, copied *os.File) error {
			if e.IsDir() {
				return files.SyncDirectory(filepath.Join(dir, filepath.FromSlash(e.Path)))
			}
			return copied.Sync()
		},
	}
	if err := copier.Copy(ctx, t); err != nil {
		return err
	}
	return files.SyncDirectory(dir)
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
