package actions

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
)

// annotation is a remark that GitHub Actions shows with a run and, when it has
// a file, at its line.
type annotation struct {
	title string
	program.Problem
}

// GitHub shows ten errors and ten warnings of a step with a run.
const (
	maxAnnotations = 10
	maxAnnotation  = 1000
)

// annotate writes annotations, in Actions only: to the file that
// AUTOLOOP_ANNOTATIONS names, else to standard error. Of more than are shown,
// the last counts the rest.
func (s Step) annotate(root string, list ...annotation) error {
	if !s.InActions() || len(list) == 0 {
		return nil
	}
	masker := process.NewMasker(s.Environ)
	counts, text := map[program.Severity]int{}, ""
	for _, a := range list {
		if counts[a.Severity]++; counts[a.Severity] < maxAnnotations {
			a = a.atItsPlace()
			a.Message = masker.String(a.Message)
			text += a.command(s, root)
		}
	}
	for _, level := range []program.Severity{program.Error, program.Warning} {
		if more := counts[level] - maxAnnotations + 1; more > 0 {
			rest := program.Problem{Severity: level, Message: fmt.Sprintf("%d more are in the job's summary", more)}
			text += annotation{"Autoloop", rest}.command(s, root)
		}
	}
	if file := s.Getenv("AUTOLOOP_ANNOTATIONS"); file != "" {
		return appendTo(file, text)
	}
	_, err := io.WriteString(unescaped(s.Stderr), text)
	return err
}

// command is the annotation as a workflow command, on one line. A place that
// GitHub does not have is said in words.
func (a annotation) command(s Step, root string) string {
	place, message := "", a.Message
	switch file := s.inWorkspace(root, a.File); {
	case file != "" && a.Line > 0:
		place = fmt.Sprintf("file=%s,line=%d,", property(file), a.Line)
	case file != "":
		place = "file=" + property(file) + ","
	case a.File != "":
		message = a.String()
	}
	return fmt.Sprintf("::%s %stitle=%s::%s\n", a.Severity, place, property(plain.Short(a.title, 200)),
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
		if below, is := files.Below(workspace, full); is {
			return below
		}
	}
	return filepath.ToSlash(file)
}

// placed matches a warning that begins with its place in a file.
var placed = lazyregexp.New(`^([^:]+\.md):(\d{1,9}): (.+)$`)

// failure is an annotation of an error in no file, warning one whose text may begin with its
// place.
func failure(title, text string) annotation {
	return annotation{title, program.Problem{Severity: program.Error, Message: text}}
}

func warning(title, text string) annotation {
	return annotation{title, program.Problem{Severity: program.Warning, Message: text}}
}

// atItsPlace is a warning at the place that its text begins with, if any: looked for
// in those few of thousands that are shown.
func (a annotation) atItsPlace() annotation {
	if m := placed().FindStringSubmatch(a.Message); m != nil && a.Severity == program.Warning && a.File == "" {
		a.File, a.Message = m[1], m[3]
		a.Line, _ = strconv.Atoi(m[2])
	}
	return a
}

// Failed annotates why a command failed, at the place where that is known.
func (s Step) Failed(name string, err error) {
	problems, placed := errors.AsType[program.Problems](err)
	if !placed {
		problems = program.Problems{{Message: err.Error()}}
	}
	var list []annotation
	for _, p := range problems {
		p.Severity = program.Error
		list = append(list, annotation{name, p})
	}
	_ = s.annotate(s.Dir, list...)
}

// escapedLog keeps what is printed from being a workflow command of GitHub
// Actions, whatever files, issues or agents put into it: no line begins with
// `::`, and `##[` is nowhere. An invisible character stands in between.
type escapedLog struct {
	out io.Writer
	// inside says that the line has more than white space already, hashes and
	// colon count those just before.
	inside        bool
	hashes, colon int
}

// apart is the invisible character: a space of no width.
const apart = "\u200b"

// Write writes all of p, with what escapes it. It counts the bytes of p.
func (l *escapedLog) Write(p []byte) (int, error) {
	safe := make([]byte, 0, len(p))
	for _, b := range p {
		if b == '[' && l.hashes >= 2 || b == ':' && l.colon == 1 {
			safe = append(safe, apart...)
		}
		safe = append(safe, b)
		l.pass(b)
	}
	if _, err := l.out.Write(safe); err != nil {
		return 0, err
	}
	return len(p), nil
}

// pass notes one byte.
func (l *escapedLog) pass(b byte) {
	if b == '#' {
		l.hashes++
	} else {
		l.hashes = 0
	}
	switch {
	case b == '\n' || b == '\r':
		l.inside, l.colon = false, 0
	case b == ':' && !l.inside && l.colon == 0:
		l.colon = 1
	case b == ' ' || b == '\t' || b == '\v' || b == '\f' || b >= utf8.RuneSelf: // the last may be white space
		l.colon = 0
	default:
		l.inside, l.colon = true, 0
	}
}

// unescaped is the stream itself, for workflow commands of our own.
func unescaped(w io.Writer) io.Writer {
	if l, ok := w.(*escapedLog); ok {
		return l.out
	}
	return w
}

// EscapeLog returns a stream for output that the runner may read as a job's log.
func EscapeLog(w io.Writer) io.Writer { return &escapedLog{out: w} }
