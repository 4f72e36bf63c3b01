package decision

import (
	"iter"
	"path"
	"strings"
)

// bare are the paths by which git takes a directory without a .git for a repository, in small
// letters, since file systems may ignore case.
type bare map[string]bool

// add notes what a path is of the directories that it lies in. Objects and refs may be
// directories, links or executable files; the other parts are never directories.
func (b bare) add(name string) {
	parts := strings.Split(strings.ToLower(name), "/")
	for i, part := range parts {
		switch last := i == len(parts)-1; {
		case part == "objects", part == "refs", last && part == "head", last && part == "commondir":
			b[strings.Join(parts[:i+1], "/")] = true
		}
	}
}

// repository reports whether git takes a directory for a repository: a HEAD, and either
// objects and refs or a file that says in which directory they are.
func (b bare) repository(dir string) bool {
	has := func(part string) bool { return b[path.Join(dir, part)] }
	return has("head") && (has("objects") && has("refs") || has("commondir"))
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
	for name := range before {
		if was.add(name); !deleted[name] {
			is.add(name)
		}
	}
	for i, c := range changes {
		own := bare{}
		own.add(c.Path)
		for part := range own {
			dir := path.Dir(part)
			if !deleted[c.Path] && c.Refused == "" && is.repository(dir) && !was.repository(dir) {
				changes[i].Refused = "is part of a repository inside the repository"
			}
		}
	}
}
