package page

import "strings"

// maxDiffLines bounds the change that is shown of one iteration.
const maxDiffLines = 400

// DiffLine is one line of a change.
type DiffLine struct {
	// Class is add, del, hunk, file or same.
	Class string
	// Sign is the first character of an added, deleted or unchanged line.
	Sign, Text string
}

// parseDiff reads a change as git prints it.
func parseDiff(patch []byte) []DiffLine {
	var lines []DiffLine
	for text := range strings.SplitSeq(strings.TrimRight(string(patch), "\n"), "\n") {
		if len(lines) == maxDiffLines {
			return append(lines, DiffLine{Class: "hunk", Text: "… the commit has the rest"})
		}
		switch {
		case strings.HasPrefix(text, "diff --git "):
			lines = append(lines, DiffLine{Class: "file", Text: clip(fileOf(text), 200)})
		case strings.HasPrefix(text, "index "), strings.HasPrefix(text, "--- "), strings.HasPrefix(text, "+++ "):
		case strings.HasPrefix(text, "+"):
			lines = append(lines, DiffLine{"add", "+", clip(text[1:], 500)})
		case strings.HasPrefix(text, "-"):
			lines = append(lines, DiffLine{"del", "-", clip(text[1:], 500)})
		case strings.HasPrefix(text, " "):
			lines = append(lines, DiffLine{"same", " ", clip(text[1:], 500)})
		case text != "":
			lines = append(lines, DiffLine{Class: "hunk", Text: clip(text, 200)})
		}
	}
	return lines
}

// fileOf is the second path of a diff's first line.
func fileOf(header string) string {
	if _, file, found := strings.Cut(header, " b/"); found {
		return file
	}
	return strings.TrimPrefix(header, "diff --git ")
}
