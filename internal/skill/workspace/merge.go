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
			data, err = os.ReadFile(filepath.Join(from.Dir, local))
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
