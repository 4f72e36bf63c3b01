package page

import "strings"

// maxDiffLines bounds the change that is shown of one iteration.
const maxDiffLines = 400

// DiffLine is one line of a change; its class is add, del, hunk, file or same.
type DiffLine struct{ Class, Text string }

// parseDiff reads a change as git prints it.
func parseDiff(patch []byte) []DiffLine {
	var lines []DiffLine
	for text := range strings.SplitSeq(strings.TrimRight(string(patch), "\n"), "\n") {
		class := "hunk"
		switch {
		case len(lines) == maxDiffLines:
			return append(lines, DiffLine{class, "… the commit has the rest"})
		case strings.HasPrefix(text, "diff --git "):
			class = "file"
		case text == "",
			strings.HasPrefix(text, "index "),
			strings.HasPrefix(text, "--- "),
			strings.HasPrefix(text, "+++ "):
			continue
		case text[0] == '+':
			class = "add"
		case text[0] == '-':
			class = "del"
		case text[0] == ' ':
			class = "same"
		}
		lines = append(lines, DiffLine{class, clip(text, 500)})
	}
	return lines
}
