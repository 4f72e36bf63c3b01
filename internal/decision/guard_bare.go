package decision

import (
	"iter"
	"strings"
)

// The parts that make a directory a repository of git without a .git.
const (
	hasHead = 1 << iota
	hasObjects
	hasRefs
	isBare = hasHead | hasObjects | hasRefs
)

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
	was, deleted := map[string]int{}, map[string]bool{}
	is := map[string]int{}
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
			if c.Kind != Deleted && c.Refused == "" && is[dir] == isBare && was[dir] != isBare {
				changes[i].Refused = "is part of a repository inside the repository"
			}
		}
	}
}

// bareParts are the directories that a path makes more of a repository, and which
// part of it it is. File systems may ignore case.
func bareParts(path string) map[string]int {
	names := strings.Split(path, "/")
	var parts map[string]int
	put := func(dir string, part int) {
		if parts == nil {
			parts = map[string]int{}
		}
		parts[dir] |= part
	}
	for i, name := range names {
		dir, last := strings.Join(names[:i], "/"), i == len(names)-1
		switch {
		case last && strings.EqualFold(name, "HEAD"):
			put(dir, hasHead)
		case !last && strings.EqualFold(name, "objects"):
			put(dir, hasObjects)
		case !last && strings.EqualFold(name, "refs"):
			put(dir, hasRefs)
		}
	}
	return parts
}
