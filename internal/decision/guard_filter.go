package decision

import (
	"slices"
	"strings"
)

// NewFilter is why a .gitattributes file is refused that SetsFilter.
const NewFilter = "chooses a filter, under which no file could be changed afterwards"

// SetsFilter reports whether the new text of a .gitattributes file chooses a filter
// that the old one does not, also by a macro. Macros are those of the two texts, and
// of the file at the top of the tree, whose text is top. Files under a filter cannot be
// changed, so that such a change would be the last one.
func SetsFilter(before, after, top string) bool {
	old := filterLines(before, macros(top+"\n"+before))
	now := filterLines(after, macros(top+"\n"+before+"\n"+after))
	return slices.ContainsFunc(now, func(line string) bool { return !slices.Contains(old, line) })
}

// macros are the attributes that stand for others, a filter among them.
func macros(text string) map[string]bool {
	known := map[string]bool{}
	for again := true; again; {
		again = false
		for line := range strings.Lines(text) {
			name, macro := strings.CutPrefix(strings.TrimSpace(line), "[attr]")
			fields := strings.Fields(name)
			if macro && len(fields) > 0 && !known[fields[0]] && choosesFilter(fields[1:], known) {
				known[fields[0]], again = true, true
			}
		}
	}
	return known
}

// filterLines are the lines that choose a filter for some files.
func filterLines(text string, macros map[string]bool) []string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		fields := strings.Fields(line)
		if len(fields) > 1 && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "[attr]") &&
			choosesFilter(fields[1:], macros) {
			lines = append(lines, line)
		}
	}
	return lines
}

func choosesFilter(attributes []string, macros map[string]bool) bool {
	return slices.ContainsFunc(attributes, func(a string) bool {
		name, _, _ := strings.Cut(a, "=")
		return name == "filter" || macros[name]
	})
}
