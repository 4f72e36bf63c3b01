package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

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
	entries, err := os.ReadDir(filepath.Dir(dir))
	for _, e := range entries {
		if name := hidden(dir, "stage-"); strings.HasPrefix(e.Name(), filepath.Base(name)) {
			err = errors.Join(err, files.RemoveAll(filepath.Join(filepath.Dir(dir), e.Name())))
		}
	}
	return err
}
