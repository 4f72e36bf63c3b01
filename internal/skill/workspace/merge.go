package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
)

// Merge writes into an empty directory what base becomes with the changes of
// both others; repo is one to work in. With conflicts, which are paths, what is
// written has no meaning.
func Merge(ctx context.Context, repo *git.Repo, base, ours, theirs Kept, into string) (conflicts []string, err error) {
	m := merging{ctx, repo, base, ours, theirs, map[string]fs.FileMode{}}
	names := map[string]bool{}
	for _, e := range slices.Concat(base.Tree, ours.Tree, theirs.Tree) {
		names[e.Path] = true
	}
	root, err := os.OpenRoot(into)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	sorted := slices.Sorted(maps.Keys(names)) // directories before what is in them
	for _, name := range sorted {
		switch err := m.entry(root, name); {
		case errors.Is(err, errConflict):
			conflicts = append(conflicts, name)
		case err != nil:
			return nil, fmt.Errorf("merge %q: %w", name, err)
		}
	}
	for _, name := range slices.Backward(sorted) {
		if mode, is := m.modes[name]; is && err == nil {
			err = root.Chmod(filepath.FromSlash(name), mode)
		}
	}
	return conflicts, err
}

type merging struct {
	ctx                context.Context
	repo               *git.Repo
	base, ours, theirs Kept
	modes              map[string]fs.FileMode // of what was written, but for links
}

// errConflict says that both sides changed a path, and not alike.
var errConflict = errors.New("both sides changed it")

// entry writes what becomes of a path. Content and mode are each the side's that
// changed it.
func (m *merging) entry(root *os.Root, name string) error {
	was, before := m.base.Tree.Find(name)
	ours, here := m.ours.Tree.Find(name)
	theirs, there := m.theirs.Tree.Find(name)
	local, from, e, mode := filepath.FromSlash(name), m.ours, ours, ours.Mode
	if there && (!here || !before || theirs.Mode != was.Mode) {
		mode = theirs.Mode
	}
	var data []byte
	var err error
	switch {
	case content(ours) == content(theirs), content(theirs) == content(was):
	case content(ours) == content(was):
		from, e = m.theirs, theirs
	case before && was.IsFile() && here && ours.IsFile() && there && theirs.IsFile():
		data, err = m.lines(local)
	default:
		err = errConflict
	}
	if err != nil || e.Path == "" { // nobody has it any more
		return err
	}
	if err := root.MkdirAll(filepath.Dir(local), 0o755); err != nil {
		return errors.Join(errConflict, err) // the other side made a file of a directory above
	}
	switch {
	case e.IsLink():
		return root.Symlink(e.Target, local)
	case e.IsDir():
		err = root.Mkdir(local, 0o755)
		if errors.Is(err, fs.ErrExist) {
			err = nil
		}
	default:
		if data == nil {
			data, err = from.read(e)
		}
		err = errors.Join(err, root.WriteFile(local, data, 0o600))
	}
	m.modes[name] = mode.Perm()
	return err
}

// content is an entry without its permissions.
func content(e Entry) Entry {
	e.Mode = e.Mode.Type()
	return e
}

// lines merges a file that both sides changed, line by line.
func (m *merging) lines(local string) ([]byte, error) {
	merged, err := m.repo.Run(m.ctx, git.Input{}, "merge-file", "-p", filepath.Join(m.ours.Dir, local),
		filepath.Join(m.base.Dir, local), filepath.Join(m.theirs.Dir, local))
	if _, is := errors.AsType[*git.Error](err); is { // so many conflicts, or it is binary
		return nil, errConflict
	}
	return merged, err
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
