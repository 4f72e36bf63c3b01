package tree

import (
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/gate"
	"github.com/org/autoloop/internal/git"
)

// checkLinks refuses changed links that leave the tree, and links that do so
// only because of the candidate: what is a link or a directory on the way
// decides where `..` leads.
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
	changed := map[string]int{}
	for i, c := range s.changes {
		changed[c.Path] = i
	}
	for name := range after {
		reason := after.wrong(name)
		i, ours := changed[name]
		switch {
		case reason == "":
		case !ours && before.wrong(name) == "":
			s.changes = append(s.changes, gate.Change{
				Path: name, Kind: gate.Modified, OldMode: git.ModeSymlink, NewMode: git.ModeSymlink,
				Refused: reason + " once the other changes are made",
			})
		case ours && s.changes[i].Refused == "":
			s.changes[i].Refused = reason
		}
	}
}

// links are the symbolic links of a tree and what they say.
type links map[string]string

// with returns the links as they are after the changes, and whether any differ.
func (l links) with(changes []gate.Change) (after links, moved bool) {
	after = make(links, len(l))
	for name, target := range l {
		after[name] = target
	}
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

// maxHops is how many links Linux follows in one path.
const maxHops = 40

// wrong says what is wrong with where a link leads, or "". It follows the other
// links of the tree as a kernel would; where nothing is, nothing is assumed.
func (l links) wrong(name string) string {
	const leaves = "is a link that leaves the tree"
	at, target := split(parent(name)), l[name]
	var todo []string
	for hops := 1; ; hops++ {
		switch {
		case hops > maxHops:
			return "is a link that leads round in circles"
		case strings.HasPrefix(target, "/") || filepath.IsAbs(target):
			return leaves
		}
		todo = append(split(target), todo...)
		for target = ""; target == ""; {
			if len(todo) == 0 {
				return ""
			}
			part := todo[0]
			todo = todo[1:]
			switch {
			case part == "" || part == ".":
			case part != "..":
				if gate.DotGit(part) {
					return leaves + " into a git directory"
				}
				at = append(at[:len(at):len(at)], part)
				if target = l[strings.Join(at, "/")]; target != "" {
					at = at[:len(at)-1]
				}
			case len(at) == 0:
				return leaves
			default:
				at = at[:len(at)-1]
			}
		}
	}
}

func split(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}
