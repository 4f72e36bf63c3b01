package actions

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
)

// annotation is a remark that GitHub Actions shows with a run and, when it has
// a file, at its line.
type annotation struct {
	level string // errorLevel or warningLevel
	// file is as the program has it, "" for none; line is 0 for the file as a whole.
	file    string
	line    int
	title   string
	message string
}

// The levels that GitHub has; a run shows ten of each of a step.
const (
	errorLevel     = "error"
	warningLevel   = "warning"
	maxAnnotations = 10
	maxAnnotation  = 1000
)

// annotate writes annotations, in Actions only: to the file that
// AUTOLOOP_ANNOTATIONS names, else to standard error. Of more than are shown,
// the last counts the rest.
func (s Step) annotate(root string, list ...annotation) error {
	if !s.Running() || len(list) == 0 {
		return nil
	}
	masker := process.NewMasker(s.Environ)
	counts, text := map[string]int{}, ""
	for _, a := range list {
		if counts[a.level]++; counts[a.level] < maxAnnotations {
			a = a.atItsPlace()
			a.message = masker.String(a.message)
			text += a.command(s, root)
		}
	}
	for _, level := range []string{errorLevel, warningLevel} {
		if more := counts[level] - maxAnnotations + 1; more > 0 {
			rest := annotation{
				level:   level,
				title:   "Autoloop",
				message: fmt.Sprintf("%d more are in the job's summary", more),
			}
			text += rest.command(s, root)
		}
	}
	if file := s.Getenv("AUTOLOOP_ANNOTATIONS"); file != "" {
		return appendTo(file, text)
	}
	_, err := io.WriteString(unescaped(s.Log), text)
	return err
}

// command is the annotation as a workflow command, on one line. A place that
// GitHub does not have is said in words.
func (a annotation) command(s Step, root string) string {
	place, message := "", a.message
	switch file := s.inWorkspace(root, a.file); {
	case file != "" && a.line > 0:
		place = fmt.Sprintf("file=%s,line=%d,", property(file), a.line)
	case file != "":
		place = "file=" + property(file) + ","
	case a.file != "":
		message = program.Problem{File: a.file, Line: a.line, Message: a.message}.String()
	}
	return fmt.Sprintf("::%s %stitle=%s::%s\n", a.level, place, property(plain.Short(a.title, 200)),
		data(plain.Short(message, maxAnnotation)))
}

// data escapes the message of a workflow command, property one of its values,
// as GitHub's runner reads them.
func data(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

func property(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(text))
}

// inWorkspace is the file as GitHub finds it, from the workspace; "" for what is
// no file there, such as an issue.
func (s Step) inWorkspace(root, file string) string {
	if file == "" {
		return ""
	}
	full := file
	if !filepath.IsAbs(full) {
		full = filepath.Join(root, file)
	}
	if info, err := os.Stat(full); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	if workspace := s.Getenv("GITHUB_WORKSPACE"); workspace != "" {
		if rel, err := filepath.Rel(workspace, full); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(file)
}

// placed matches a warning that begins with its place in a file.
var placed = lazyregexp.New(`^([^:]+\.md):(\d{1,9}): (.+)$`)

// warning is an annotation whose text may begin with its place.
func warning(title, text string) annotation {
	return annotation{level: warningLevel, title: title, message: text}
}

// atItsPlace is a warning at the place that its text begins with, if any: looked for
// in those few of thousands that are shown.
func (a annotation) atItsPlace() annotation {
	if a.level != warningLevel || a.file != "" {
		return a
	}
	if m := placed().FindStringSubmatch(a.message); m != nil {
		a.file, a.message = m[1], m[3]
		a.line, _ = strconv.Atoi(m[2])
	}
	return a
}

// Failed annotates why a command failed, at the place where that is known.
func (s Step) Failed(name string, err error) {
	located, is := errors.AsType[*program.NotRunnableError](err)
	if !is {
		_ = s.annotate(s.Dir, annotation{level: errorLevel, title: name, message: err.Error()})
		return
	}
	var list []annotation
	for _, p := range located.Problems {
		list = append(list, annotation{errorLevel, p.File, p.Line, name, p.Message})
	}
	_ = s.annotate(s.Dir, list...)
}
