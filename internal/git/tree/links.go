package tree

import (
	"maps"
	"path/filepath"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
)

// checkLinks refuses links of a changed tree, as [decision.RefuseLinks] does.
func (s *scan) checkLinks() {
	before := links{}
	for name, was := range s.entries {
		if was.Mode == git.ModeSymlink {
			before[name] = was.link
		}
	}
	after, moved := before.with(s.changes)
	if !moved {
		return
	}
	s.changes = decision.RefuseLinks(before, after, links.wrong, s.changes)
}

type links decision.Links

// with returns the links as they are after the changes, and whether any differ.
func (l links) with(changes []decision.Change) (after links, moved bool) {
	after = make(links, len(l))
	maps.Copy(after, l)
	for _, c := range changes {
		if c.OldMode == git.ModeSymlink {
			moved = true
			delete(after, c.Path)
		}
		if c.NewMode == git.ModeSymlink {
			moved = true
			after[c.Path] = c.LinkTarget
		}
	}
	return after, moved
}

// wrong says what is wrong with where a link leads, or "".
func (l links) wrong(name string) string {
	if filepath.IsAbs(l[name]) {
		return "is a link that leaves the tree"
	}
	return decision.Links(l).Wrong(name)
}
