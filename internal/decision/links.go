package decision

import (
	"slices"
	"strings"
)

// Links are the symbolic links of a tree by their clean paths, and what they
// say, both with slashes.
type Links map[string]string

// maxHops is how many links Linux follows in one path.
const maxHops = 40

// Wrong says what is wrong with where a link leads, or "". It follows the other
// links of the tree as a kernel would; where nothing is, nothing is assumed.
func (l Links) Wrong(name string) string {
	const leaves = "is a link that leaves the tree"
	var at []string
	hops, todo := 0, strings.Split(name, "/")
	for len(todo) > 0 {
		part := todo[0]
		todo = todo[1:]
		switch {
		case part == "" || part == ".":
			continue
		case part != "..":
			at = append(slices.Clip(at), part)
		case len(at) == 0:
			return leaves
		default:
			at = at[:len(at)-1]
			continue
		}
		target, is := l[strings.Join(at, "/")]
		switch {
		case DotGit(part):
			return leaves + " into a git directory"
		case !is:
			continue
		case strings.HasPrefix(target, "/"):
			return leaves
		case hops == maxHops:
			return "is a link that leads round in circles"
		}
		hops++
		at, todo = at[:len(at)-1], append(strings.Split(target, "/"), todo...)
	}
	return ""
}

// RefuseLinks refuses changed links that lead nowhere good, and links that do so only
// because of the changes: what is a link or a directory on the way decides where `..`
// leads. It returns the changes with these.
func RefuseLinks(before, after Links, changes []Change) []Change {
	const symlink = "120000" // git's mode of one
	changed := map[string]int{}
	for i, c := range changes {
		changed[c.Path] = i
	}
	for name := range after {
		reason := after.Wrong(name)
		i, ours := changed[name]
		switch {
		case reason == "":
		case ours && changes[i].Refused == "":
			changes[i].Refused = reason
		case !ours && before.Wrong(name) == "":
			changes = append(changes, Change{
				Path: name, Kind: Modified, OldMode: symlink, NewMode: symlink,
				Refused: reason + " once the other changes are made",
			})
		}
	}
	return changes
}
