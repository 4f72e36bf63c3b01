package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
)

// Merge writes into an empty directory what base becomes with the changes of
// both others; repo is one to work in. With conflicts, which are paths, what is
// in the directory is not to be used.
func Merge(ctx context.Context, repo *git.Repo, base, ours, theirs Kept, into string) (conflicts []string, err error) {
	m := &merging{base: base, ours: ours, theirs: theirs, repo: repo, changed: map[string]bool{}}
	for _, side := range []Kept{ours, theirs} {
		for _, d := range files.Compare(base.Tree, side.Tree) {
			m.changed[d.Path] = true
		}
	}
	merged, conflicts, err := m.tree(ctx)
	if err != nil || len(conflicts) > 0 {
		return conflicts, err
	}
	if m.into, err = os.OpenRoot(into); err != nil {
		return nil, err
	}
	defer func() { _ = m.into.Close() }()
	return nil, m.write(ctx, merged)
}

type merging struct {
	base, ours, theirs Kept
	repo               *git.Repo
	changed            map[string]bool // paths that one side changed
	into               *os.Root
}

// tree merges what either side changed, as git does.
func (m *merging) tree(ctx context.Context) (merged string, conflicts []string, err error) {
	base, err := m.commit(ctx, m.base)
	if err != nil {
		return "", nil, err
	}
	ours, err := m.commit(ctx, m.ours, base)
	if err != nil {
		return "", nil, err
	}
	theirs, err := m.commit(ctx, m.theirs, base)
	if err != nil {
		return "", nil, err
	}
	return m.repo.MergeTree(ctx, ours, theirs)
}

// anyTime is when the commits are made, which nobody sees; git refuses smaller
// numbers.
const anyTime = 1_000_000_000

func (m *merging) commit(ctx context.Context, side Kept, parents ...string) (string, error) {
	files := map[string]*git.File{}
	for i := range side.Tree {
		if m.changed[side.Tree[i].Path] {
			if err := side.put(files, &side.Tree[i]); err != nil {
				return "", err
			}
		}
	}
	commit, err := m.repo.CommitFiles(ctx, "", files, parents, side.Dir, time.Unix(anyTime, 0))
	return commit, err
}

// write puts the result together: what nobody changed, the merged files, and
// the directories that are left.
func (m *merging) write(ctx context.Context, merged string) error {
	for _, e := range m.ours.Tree {
		switch {
		case e.IsDir():
			if err := m.directory(e.Path); err != nil {
				return err
			}
		case !m.changed[e.Path]:
			if err := m.copy(e); err != nil {
				return err
			}
		}
	}
	for _, e := range m.theirs.Tree {
		if _, was := m.base.Tree.Find(e.Path); e.IsDir() && !was {
			if err := m.directory(e.Path); err != nil {
				return err
			}
		}
	}
	entries, err := m.repo.LsTree(ctx, merged)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := m.entry(ctx, entry); err != nil {
			return err
		}
	}
	return m.modes()
}

// directory makes one of ours or theirs, unless the other side removed it.
func (m *merging) directory(name string) error {
	_, was := m.base.Tree.Find(name)
	if e, is := m.theirs.Tree.Find(name); was && (!is || !e.IsDir()) {
		return nil
	}
	return m.into.MkdirAll(filepath.FromSlash(name), 0o700)
}

// copy takes over a file or link of ours.
func (m *merging) copy(e Entry) error {
	if e.IsLink() {
		return m.put(e.Path, git.ModeSymlink, []byte(e.Target))
	}
	data, err := m.ours.read(e)
	if err != nil {
		return err
	}
	return m.put(e.Path, git.ModeFile, data)
}

func (m *merging) entry(ctx context.Context, entry git.TreeEntry) error {
	objects, err := m.repo.Cat(ctx, entry.ID)
	if err != nil {
		return err
	}
	if len(objects) != 1 || objects[0].Type != "blob" {
		return fmt.Errorf("%q is no file after the merge", entry.Path)
	}
	return m.put(entry.Path, entry.Mode, objects[0].Data)
}

// put writes a file or link. Modes come at the end, but for what git alone
// knows of them.
func (m *merging) put(name, mode string, data []byte) error {
	local := filepath.FromSlash(name)
	if dir := path.Dir(name); dir != "." {
		if err := m.into.MkdirAll(filepath.FromSlash(dir), 0o700); err != nil {
			return err
		}
	}
	if mode == git.ModeSymlink {
		return m.into.Symlink(string(data), local)
	}
	if err := m.into.WriteFile(local, data, 0o600); err != nil {
		return err
	}
	if mode == git.ModeExecutable {
		return m.into.Chmod(local, 0o700) //nolint:gosec // an executable
	}
	return nil
}

// modes gives everything theirs where they changed it, else ours.
func (m *merging) modes() error {
	l, err := list(context.Background(), m.into.Name())
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
	was, inBase := m.base.Tree.Find(e.Path)
	ours, inOurs := m.ours.Tree.Find(e.Path)
	theirs, inTheirs := m.theirs.Tree.Find(e.Path)
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
