package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
)

// Kept is a tree with the directory that its files are read from.
type Kept struct {
	Dir  string
	Tree Tree
}

// Patch is what turns one tree into another, for people and for `git apply`;
// repo is one to work in, in which nothing of the trees need be. Directories
// without files, and mode bits other than a file's executable one, are not in
// it: git does not know them.
func Patch(ctx context.Context, repo *git.Repo, before, after Kept) ([]byte, error) {
	was, now := map[string]*git.File{}, map[string]*git.File{}
	for _, d := range files.Compare(before.Tree, after.Tree) {
		if err := before.put(was, d.Before); err != nil {
			return nil, err
		}
		if err := after.put(now, d.After); err != nil {
			return nil, err
		}
	}
	a, err := repo.WriteFiles(ctx, "", was)
	if err != nil {
		return nil, err
	}
	b, err := repo.WriteFiles(ctx, "", now)
	if err != nil {
		return nil, err
	}
	return repo.Diff(ctx, a, b)
}

// put adds an entry to the files of a git tree; directories and nil are left out.
func (k Kept) put(files map[string]*git.File, e *Entry) error {
	if e == nil || e.IsDir() {
		return nil
	}
	file := &git.File{Mode: gitMode(*e), Data: []byte(e.Target)}
	if e.IsFile() {
		data, err := k.read(*e)
		if err != nil {
			return err
		}
		file.Data = data
	}
	files[e.Path] = file
	return nil
}

// read reads a file of the tree, which may have changed meanwhile.
func (k Kept) read(e Entry) ([]byte, error) {
	root, err := os.OpenRoot(k.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	data, err := root.ReadFile(filepath.FromSlash(e.Path))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", k.Dir, err)
	}
	return data, nil
}

func gitMode(e Entry) string {
	switch {
	case e.IsLink():
		return git.ModeSymlink
	case e.Mode&0o100 != 0:
		return git.ModeExecutable
	default:
		return git.ModeFile
	}
}
