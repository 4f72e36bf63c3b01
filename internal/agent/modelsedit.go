package agent

import (
	"slices"
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
func readAnswer(text string) answer {
	var a answer
	path := ""
	lines := slices.Collect(strings.Lines(text))
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		switch {
		case strings.HasPrefix(line, planMark) && a.plan == "":
			a.plan = strings.TrimSpace(strings.TrimPrefix(line, planMark))
		case strings.HasPrefix(line, fileMark):
			path = strings.Trim(strings.TrimSpace(strings.TrimPrefix(line, fileMark)), "`\"*")
		case line == searchMark || line == wholeMark:
			var e edit
			var problem string
			e, i, problem = readEdit(lines, i)
			e.path = path
			if path == "" && problem == "" {
				problem = "an edit has no line `" + fileMark + " path` before it"
			}
			if problem != "" {
				a.problems = append(a.problems, problem)
				continue
			}
			a.edits = append(a.edits, e)
		}
	}
	return a
}

// readEdit reads the edit whose first mark is lines[at]; next is its last line.
func readEdit(lines []string, at int) (e edit, next int, problem string) {
	e.whole = strings.TrimSpace(lines[at]) == wholeMark
	search, end := !e.whole, wholeEnd
	if search {
		end = replaceMark
	}
	for next = at + 1; next < len(lines); next++ {
		switch line := strings.TrimRight(lines[next], " \r\n"); {
		case line == end && search:
			return e, next, "an edit has no line `" + betweenMark + "` between what to find and what to put there"
		case line == end:
			return e, next, ""
		case search && line == betweenMark:
			search = false
		case search:
			e.search += lines[next]
		default:
			e.replace += lines[next]
		}
	}
	return e, next, "an edit has no end: the line `" + end + "` is missing"
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
