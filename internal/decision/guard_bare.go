package decision

import (
	"iter"
	"strings"
)

// parts are what a directory has of a repository of git without a .git.
type parts int

const (
	hasHead parts = 1 << iota
	hasObjects
	hasRefs
	hasCommon
)

// repository reports whether git takes a directory with these parts for a
// repository: a HEAD, and either objects and refs or a file that says in which
// directory they are. Objects and refs may be directories, links or executable
// files.
func (p parts) repository() bool {
	const own = hasObjects | hasRefs
	return p&hasHead != 0 && (p&own == own || p&hasCommon != 0)
}

// RefuseBare refuses the changes that make a repository of a directory which was
// none among the paths before: who works in it would run what its configuration
// says.
func RefuseBare(before iter.Seq[string], changes []Change) {
	concerned := false
	for _, c := range changes {
		concerned = concerned || c.Kind != Deleted && len(bareParts(c.Path)) > 0
	}
	if !concerned {
		return
	}
	was, deleted := map[string]parts{}, map[string]bool{}
	is := map[string]parts{}
	for _, c := range changes {
		deleted[c.Path] = c.Kind == Deleted
	}
	for path := range before {
		for dir, part := range bareParts(path) {
			was[dir] |= part
			if !deleted[path] {
				is[dir] |= part
			}
		}
	}
	for _, c := range changes {
		if c.Kind != Deleted {
			for dir, part := range bareParts(c.Path) {
				is[dir] |= part
			}
		}
	}
	for i, c := range changes {
		for dir := range bareParts(c.Path) {
			if c.Kind != Deleted && c.Refused == "" && is[dir].repository() && !was[dir].repository() {
				changes[i].Refused = "is part of a repository inside the repository"
			}
		}
	}
}

// bareParts are the directories that a path makes more of a repository, and which
// parts of it it is. File systems may ignore case.
func bareParts(path string) map[string]parts {
	names := strings.Split(path, "/")
	var found map[string]parts
	for i, name := range names {
		part := partOf(name, i == len(names)-1)
		if part == 0 {
			continue
		}
		if found == nil {
			found = map[string]parts{}
		}
		found[strings.Join(names[:i], "/")] |= part
	}
	return found
}

// partOf is what a name is of a repository; last says that it is no directory.
func partOf(name string, last bool) parts {
	switch {
	case strings.EqualFold(name, "objects"):
		return hasObjects
	case strings.EqualFold(name, "refs"):
		return hasRefs
	case last && strings.EqualFold(name, "HEAD"):
		return hasHead
	case last && strings.EqualFold(name, "commondir"):
		return hasCommon
	}
	return 0
}
