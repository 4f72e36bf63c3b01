package agent

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/autoloop/internal/agent/models"
	"github.com/org/autoloop/internal/files"
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

const (
	// maxShown bounds the files in one request, in bytes, when the endpoint's
	// own bound is not known.
	maxShown = 400_000
	// bytesPerToken is a low estimate for program text, so that a request fits.
	bytesPerToken = 3
	// maxListed bounds the files that are named and not shown.
	maxListed = 50
	// maxEdited bounds a file that a model may edit, in bytes.
	maxEdited = 1 << 20
)

// show renders the target files that have room, the shortest first, and names
// those that have none; size is how many bytes of files are in it.
func (t *talk) show(room int) (text string, size int) {
	bodies := map[string]string{}
	var files, left []string
	for _, name := range t.request.Targets {
		body, err := t.read(name)
		if err != nil || bytes.IndexByte(body, 0) >= 0 || !utf8.Valid(body) {
			left = append(left, name)
			continue
		}
		bodies[name] = string(body)
		files = append(files, name)
	}
	slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(len(bodies[a]), len(bodies[b])) })
	for i, name := range files {
		if size+len(bodies[name]) > room {
			left, files = append(left, files[i:]...), files[:i]
			break
		}
		size += len(bodies[name])
	}
	slices.Sort(files)
	var b strings.Builder
	b.WriteString("# The files as they are now\n\n")
	for _, name := range files {
		marks, end := plain.Fence(bodies[name]), "\n"
		if strings.HasSuffix(bodies[name], end) {
			end = ""
		}
		fmt.Fprintf(&b, "%s %s\n%s\n%s%s%[3]s\n", fileMark, name, marks, bodies[name], end)
	}
	if len(left) > 0 {
		fmt.Fprintf(&b, "Not shown, because they are too large or no text: %s\n", plain.List(left, maxListed))
	}
	return b.String(), size
}

// read returns a regular file of the tree. No link is followed.
func (t *talk) read(name string) ([]byte, error) {
	body, err := files.ReadRegular(t.root, name, maxEdited+1)
	if len(body) > maxEdited {
		return nil, errors.New("it is larger than 1 MB")
	}
	return body, err
}

// check makes the edits in memory. It returns the files as they would be, or
// what does not fit.
func (t *talk) check(a answer, stop models.Stop) (map[string][]byte, []string) {
	problems := slices.Clone(a.problems)
	files := map[string][]byte{}
	for _, e := range a.edits {
		if problem := t.edit(files, e); problem != "" {
			problems = append(problems, e.path+": "+problem)
		}
	}
	switch {
	case stop == models.Length:
		problems = slices.Insert(problems, 0, "the answer was cut off because it is too long; make a smaller change")
	case stop == models.Refused:
		problems = slices.Insert(problems, 0, "the answer is a refusal")
	case len(a.edits) == 0 && len(problems) == 0:
		problems = append(problems, "the answer has no edit; if nothing should change, say so again")
	}
	return files, problems
}

// edit makes one edit to the files so far.
func (t *talk) edit(files map[string][]byte, e edit) (problem string) {
	if e.path != path.Clean(e.path) || !filepath.IsLocal(e.path) ||
		(!t.request.IsTarget(e.path) && e.path != t.request.Notes) {
		return "this file may not be changed"
	}
	body, made := files[e.path]
	if !made {
		var err error
		if body, err = t.read(e.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "it cannot be edited"
		}
	}
	changed, problem := e.apply(body)
	if problem == "" && len(changed) > maxEdited {
		problem = "it would be larger than 1 MB"
	}
	if problem == "" {
		files[e.path] = changed
	}
	return problem
}

// write puts the changed files into the tree. Files keep their modes.
func (t *talk) write(changed map[string][]byte) error {
	for name, body := range changed {
		err := t.root.MkdirAll(path.Dir(name), 0o777)
		if err == nil {
			err = t.root.WriteFile(name, body, 0o666)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}
