package prompt

import (
	"encoding/json"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/plain"
)

// NotesFile is the file, in the agent's working directory, in which it may hand
// back what it learned. It is read and removed before the change is looked at.
const NotesFile = ".autoloop-notes.md"

// The bounds of what is handed back.
const (
	// MaxNotes is how many bytes of the file are read.
	MaxNotes = 16 << 10
	// maxNotes is how many notes of a kind count.
	maxNotes = 5
)

// Few returns notes within their bounds, at most five of each, one line each: those of ParseNotes
// are as they were.
func Few(n history.Notes) history.Notes {
	return history.Notes{Lessons: few(n.Lessons), Foreclosed: few(n.Foreclosed), Ideas: few(n.Ideas)}
}

// ParseNotes reads the file: lines that begin with `LESSON:`, `FORECLOSED:` or
// `IDEA:`, as list items or not, or one JSON object with lists of texts named
// lessons, foreclosed and ideas. What is neither is left out.
func ParseNotes(data []byte) history.Notes {
	text := strings.ToValidUTF8(string(data[:min(len(data), MaxNotes)]), "\uFFFD")
	var said history.Notes
	if strings.HasPrefix(strings.TrimSpace(text), "{") && json.Unmarshal([]byte(text), &said) == nil {
		return Few(said)
	}
	for line := range strings.Lines(text) {
		label, rest, found := strings.Cut(line, ":")
		if !found {
			continue
		}
		switch strings.ToLower(strings.Trim(label, " \t-*+#`0123456789.")) {
		case "lesson", "lessons":
			said.Lessons = append(said.Lessons, rest)
		case "foreclosed":
			said.Foreclosed = append(said.Foreclosed, rest)
		case "idea", "ideas":
			said.Ideas = append(said.Ideas, rest)
		}
	}
	return Few(said)
}

// few keeps the first different texts.
func few(texts []string) []string {
	var kept []string
	seen := map[string]bool{}
	for _, text := range texts {
		text = strings.Trim(plain.Short(text, maxLine), " *`")
		if text == "" || seen[text] {
			continue
		}
		seen[text] = true
		if kept = append(kept, text); len(kept) == maxNotes {
			break
		}
	}
	return kept
}
