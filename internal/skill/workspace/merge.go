package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
)

// anyTime is when the commits of a merge are made, which nobody sees; git refuses
// smaller numbers.
const anyTime = 1_000_000_000

// Merge writes into an empty directory what base becomes with the changes of
// both others; repo is one to work in. With conflicts, which are paths, nothing is
// written.
func Merge(ctx context.Context, repo *git.Repo, base, ours, theirs Kept, into string) (conflicts []string, err error) {
	var commits, parents []string
	for _, side := range []Kept{base, ours, theirs} {
		files := map[string]*git.File{}
		for i := range side.Tree {
			if err := side.put(files, &side.Tree[i]); err != nil {
				return nil, err
			}
		}
		commit, err := repo.CommitFiles(ctx, "", files, parents, side.Dir, time.Unix(anyTime, 0))
		if err != nil {
			return nil, err
		}
		commits = append(commits, commit)
		parents = commits[:1]
	}
	merged, conflicts, err := repo.MergeTree(ctx, commits[1], commits[2])
	if err != nil || len(conflicts) > 0 {
		return conflicts, err
	}
	root, err := os.OpenRoot(into)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	m := merging{base.Tree, ours.Tree, theirs.Tree, root}
	return nil, errors.Join(m.directories(), m.files(ctx, repo, merged), m.modes(ctx))
}

type merging struct {
	base, ours, theirs Tree
	into               *os.Root
}

// directories makes those that one side added, or both still have: git knows none.
func (m *merging) directories() error {
	for _, e := range slices.Concat(m.ours, m.theirs) {
		_, was := m.base.Find(e.Path)
		ours, _ := m.ours.Find(e.Path)
		theirs, _ := m.theirs.Find(e.Path)
		if e.IsDir() && (!was || ours.IsDir() && theirs.IsDir()) {
			if err := m.into.MkdirAll(filepath.FromSlash(e.Path), 0o700); err != nil {
				return err
			}
		}
	}
	return nil
}

// files writes the files and links of a git tree, with what git knows of their modes.
func (m *merging) files(ctx context.Context, repo *git.Repo, tree string) error {
	entries, err := repo.LsTree(ctx, tree)
	if err != nil {
		return err
	}
	ids := make([]string, len(entries))
	for i, entry := range entries {
		ids[i] = entry.ID
	}
	return repo.CatEach(ctx, ids, func(i int, object git.Object) error {
		entry, mode := entries[i], fs.FileMode(0o600)
		if entry.Mode == git.ModeExecutable {
			mode = 0o700
		}
		local := filepath.FromSlash(entry.Path)
		err := m.into.MkdirAll(filepath.Dir(local), 0o700)
		switch {
		case err != nil:
			return err
		case object.Type != "blob":
			return fmt.Errorf("%q is no file after the merge", entry.Path)
		case entry.Mode == git.ModeSymlink:
			return m.into.Symlink(string(object.Data), local)
		default:
			return m.into.WriteFile(local, object.Data, mode)
		}
	})
}

// modes gives everything theirs where they changed it, else ours.
func (m *merging) modes(ctx context.Context) error {
	l, err := list(ctx, m.into.Name())
	if err != nil {
		return err
	}
	defer func() { _ = l.root.Close() }()
	for i := len(l.tree) - 1; i >= 0; i-- {
		if e := l.tree[i]; !e.IsLink() {
			if err := m.into.Chmod(filepath.FromSlash(e.Path), m.mode(e)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *merging) mode(e Entry) fs.FileMode {
	was, inBase := m.base.Find(e.Path)
	ours, inOurs := m.ours.Find(e.Path)
	theirs, inTheirs := m.theirs.Find(e.Path)
	switch {
	case inTheirs && theirs.Mode.Type() == e.Mode.Type() && (!inBase || !inOurs || theirs.Mode != was.Mode):
		return theirs.Mode.Perm()
	case inOurs && ours.Mode.Type() == e.Mode.Type():
		return ours.Mode.Perm()
	default: // a directory of a file that was moved, or the file
		mode := e.Mode.Perm()
		return mode | mode>>3&0o050 | mode>>6&0o005 | 0o044
	}
}

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
