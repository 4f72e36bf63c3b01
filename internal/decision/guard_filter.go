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
	old := filtered(before, top+"\n"+before)
	return slices.ContainsFunc(filtered(after, top+"\n"+before+"\n"+after),
		func(line string) bool { return !slices.Contains(old, line) })
}

// filtered are the lines of a text that choose a filter for some files, by an attribute or by
// a macro of the texts around.
func filtered(text, around string) (lines []string) {
	chosen := map[string]bool{"filter": true}
	chooses := func(attribute string) bool {
		name, _, _ := strings.Cut(attribute, "=")
		return chosen[name]
	}
	for known := 0; known < len(chosen); {
		known = len(chosen)
		for line := range strings.Lines(around) {
			name, macro := strings.CutPrefix(strings.TrimSpace(line), "[attr]")
			if fields := strings.Fields(name); macro && len(fields) > 0 && slices.ContainsFunc(fields[1:], chooses) {
				chosen[fields[0]] = true
			}
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		fields := strings.Fields(line)
		if len(fields) > 0 && fields[0][0] != '#' && !strings.HasPrefix(line, "[attr]") &&
			slices.ContainsFunc(fields[1:], chooses) {
			lines = append(lines, line)
		}
	}
	return lines
}
