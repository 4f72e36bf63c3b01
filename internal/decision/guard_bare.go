package decision

import (
	"iter"
	"strings"
)

// parts are what a directory has of a repository of git without a .git.
type parts int

const (
	hasObjects parts = 1 << iota
	hasRefs
	hasHead
	hasCommon
)

// partNames are the names of the parts. Objects and refs may be directories, links or
// executable files; the other parts are never directories.
var partNames = map[string]parts{"objects": hasObjects, "refs": hasRefs, "HEAD": hasHead, "commondir": hasCommon}

// repository reports whether git takes a directory with these parts for a
// repository: a HEAD, and either objects and refs or a file that says in which
// directory they are.
func (p parts) repository() bool {
	const own = hasObjects | hasRefs
	return p&hasHead != 0 && (p&own == own || p&hasCommon != 0)
}

// bare are the parts of directories.
type bare map[string]parts

// add notes what a path is of the directories that it lies in. File systems may ignore
// case.
func (b bare) add(path string) {
	names := strings.Split(path, "/")
	for i, name := range names {
		for known, part := range partNames {
			if strings.EqualFold(name, known) && (part <= hasRefs || i == len(names)-1) {
				b[strings.Join(names[:i], "/")] |= part
			}
		}
	}
}

// RefuseBare refuses the changes that make a repository of a directory which was
// none among the paths before: who works in it would run what its configuration
// says.
func RefuseBare(before iter.Seq[string], changes []Change) {
	was, is, deleted := bare{}, bare{}, map[string]bool{}
	for _, c := range changes {
		if deleted[c.Path] = c.Kind == Deleted; !deleted[c.Path] {
			is.add(c.Path)
		}
	}
	for path := range before {
		if was.add(path); !deleted[path] {
			is.add(path)
		}
	}
	for i, c := range changes {
		own := bare{}
		own.add(c.Path)
		for dir := range own {
			if !deleted[c.Path] && c.Refused == "" && is[dir].repository() && !was[dir].repository() {
				changes[i].Refused = "is part of a repository inside the repository"
			}
		}
	}
}
