package tree

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/decision"
)

// maxDepth is how many directories may be around a new file.
const maxDepth = 200

// Scan says in which paths the tree differs from what it was built from, in
// order of path. What git ignores by the built tree's own rules, or by the
// user's, is not part of it; neither is the content of submodules. A file whose
// content git would store as before is unchanged, whatever its line ends.
func (t *Tree) Scan(ctx context.Context) ([]decision.Change, error) {
	if err := t.unstage(); err != nil {
		return nil, err
	}
	if now, err := os.Lstat(t.Dir); err != nil || !os.SameFile(t.self, now) {
		//nolint:nilerr // it is the finding
		return []decision.Change{{Path: ".", Kind: decision.Type, Refused: "is not the directory that was built"}}, nil
	}
	t.found = t.id
	s := &scan{Tree: t, dirs: directoriesOf(t.entries), seen: map[string]bool{}}
	changes, err := s.run(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for changes: %w", err)
	}
	return changes, nil
}

// scan is one look at a tree that something foreign has worked in.
type scan struct {
	*Tree
	dirs  map[string]bool   // those with tracked files below them
	seen  map[string]bool   // tracked paths that are there
	blind bool              // a directory cannot be read, which is enough to refuse the tree
	fresh []decision.Change // untracked paths, not yet held against the ignore rules
	bytes int64             // of changed files, so far

	ruled, indexed bool // the control directory has the rules, and the incumbent's index

	// changes are the paths that may differ, by their stamps, and those refused.
	changes []decision.Change
}

func (s *scan) run(ctx context.Context) ([]decision.Change, error) {
	s.walk("")
	if err := s.explore(ctx); err != nil {
		return nil, err
	}
	if !s.blind {
		s.deletions()
	}
	if len(s.changes) == 0 {
		return nil, nil
	}
	if len(s.changes) > maxPaths { // the rest is cheap to refuse, and no candidate needs it
		s.changes = s.changes[:maxPaths]
		s.changes[0].Refused = tooMany
	}
	if err := s.stage(ctx); err != nil {
		return nil, err
	}
	slices.SortFunc(s.changes, func(a, b decision.Change) int { return strings.Compare(a.Path, b.Path) })
	return s.changes, nil
}

// directoriesOf lists every directory that has entries below it.
func directoriesOf[E any](entries map[string]E) map[string]bool {
	dirs := map[string]bool{"": true}
	for name := range entries {
		for dir := parent(name); !dirs[dir]; dir = parent(dir) {
			dirs[dir] = true
		}
	}
	return dirs
}

// parent is the directory of a path, "" for the tree itself.
func parent(name string) string {
	return name[:max(strings.LastIndexByte(name, '/'), 0)]
}

// control returns the directory that this scan's git commands work with.
func (s *scan) control() (*control, error) {
	if s.staged != nil {
		return s.staged, nil
	}
	c, err := newControl(s.repo, filepath.Dir(s.Dir))
	s.staged = c
	return c, err
}

func (s *scan) deletions() {
	for name, was := range s.entries {
		if !s.seen[name] && was.Type == "blob" {
			s.changes = append(s.changes, decision.Change{Path: name, Kind: decision.Deleted, OldMode: was.Mode})
		}
	}
}

// refuse adds a path that no candidate may contain.
func (s *scan) refuse(name, reason string) {
	kind := decision.Added
	name = cmp.Or(name, ".")
	if _, tracked := s.entries[name]; tracked || s.dirs[name] || name == "." {
		kind = decision.Modified
	}
	s.changes = append(s.changes, decision.Change{
		Path: name, Kind: kind, OldMode: s.entries[name].Mode,
		Refused: reason,
	})
}
