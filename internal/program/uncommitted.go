package program

import (
	"slices"
	"strings"
)

// Misses returns those of the paths that an iteration of the program would look
// at: files that may change, and what the evaluation names, directories too.
// The program's own file is read as it stands, and is not among them.
func (p *Program) Misses(paths []string) []string {
	matcher := p.Matcher()
	named := p.ScriptFiles(func(name string) bool {
		return slices.ContainsFunc(paths, func(path string) bool { return path == name || strings.HasPrefix(path, name+"/") })
	})
	var found []string
	for _, path := range paths {
		read := slices.ContainsFunc(named, func(name string) bool { return path == name || strings.HasPrefix(path, name+"/") })
		if path != p.File && (read || matcher.Allows(path)) {
			found = append(found, path)
		}
	}
	return found
}
