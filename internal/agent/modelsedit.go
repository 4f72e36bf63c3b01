package agent

import (
	"strings"

	"github.com/org/autoloop/internal/plain"
)

// The marks of an edit, each alone on its line. What is between them is taken
// as it is.
const (
	fileMark    = "FILE:"
	planMark    = "PLAN:"
	searchMark  = "<<<<<<< SEARCH"
	wholeMark   = "<<<<<<< WHOLE"
	betweenMark = "======="
	replaceMark = ">>>>>>> REPLACE"
	wholeEnd    = ">>>>>>> WHOLE"
)

// edit is one change that a model asks for.
type edit struct {
	path  string
	whole bool
	// search and replace are whole lines with their newlines; a whole file is
	// in replace.
	search, replace string
}

// answer is what a model's words come to.
type answer struct {
	plan     string // "" when it gave none
	edits    []edit
	problems []string // what cannot be understood, one line each
}

// readAnswer reads a model's words. Lines outside of edits are talk.
func readAnswer(text string) (a answer) {
	var e edit
	path, end, searching := "", "", false // end is the line that ends the edit e, "" outside of one
	for raw := range strings.Lines(text) {
		line := strings.TrimSpace(raw)
		switch bare := strings.TrimRight(raw, " \r\n"); {
		case end == "" && strings.HasPrefix(line, planMark) && a.plan == "":
			a.plan = strings.TrimSpace(strings.TrimPrefix(line, planMark))
		case end == "" && strings.HasPrefix(line, fileMark):
			path = strings.Trim(strings.TrimSpace(strings.TrimPrefix(line, fileMark)), "`\"*")
		case end == "" && line == searchMark:
			e, end, searching = edit{path: path}, replaceMark, true
		case end == "" && line == wholeMark:
			e, end = edit{path: path, whole: true}, wholeEnd
		case end == "":
		case bare == end:
			switch {
			case searching:
				a.problems = append(a.problems,
					"an edit has no line `"+betweenMark+"` between what to find and what to put there")
			case path == "":
				a.problems = append(a.problems, "an edit has no line `"+fileMark+" path` before it")
			default:
				a.edits = append(a.edits, e)
			}
			end, searching = "", false
		case searching && bare == betweenMark:
			searching = false
		case searching:
			e.search += raw
		default:
			e.replace += raw
		}
	}
	if end != "" {
		a.problems = append(a.problems, "an edit has no end: the line `"+end+"` is missing")
	}
	return a
}

// apply returns the file with the edit made, or what is wrong with the edit.
// What is to be found are whole lines, and they must be there exactly once. A
// nil file does not exist.
func (e edit) apply(file []byte) (changed []byte, problem string) {
	switch {
	case e.whole:
		return []byte(e.replace), ""
	case file == nil:
		return nil, "there is no such file; give a new file as a whole"
	case strings.TrimSpace(e.search) == "":
		return nil, "what to find is empty; quote the lines to be replaced, or give the file as a whole"
	}
	text, search, replace := string(file), e.search, e.replace
	if strings.Contains(text, "\r\n") && !strings.Contains(search, "\r\n") {
		lines := strings.NewReplacer("\n", "\r\n")
		search, replace = lines.Replace(search), lines.Replace(replace)
	}
	open := text != "" && !strings.HasSuffix(text, "\n") // the last line has no newline
	if open {
		text += "\n"
	}
	// Whole lines are found by the line break before them too.
	at := strings.Index("\n"+text, "\n"+search)
	switch {
	case at < 0:
		return nil, "the lines to find are not in the file exactly as given: " + quoted(e.search)
	case at != strings.LastIndex("\n"+text, "\n"+search):
		return nil, "the lines to find are in the file more than once; quote more lines around them: " +
			quoted(e.search)
	}
	text = text[:at] + replace + text[at+len(search):]
	if open {
		text = strings.TrimSuffix(text, "\n")
	}
	return []byte(text), ""
}

// quoted is the first line of a text, for a message.
func quoted(text string) string {
	first, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	if more {
		first += " …"
	}
	return "`" + plain.Clip(first, 80) + "`"
}
