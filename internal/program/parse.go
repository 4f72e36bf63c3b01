package program

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/suite/tasks"
)

// MaxBytes bounds a program file.
const MaxBytes = 1 << 20

// Parse reads a program file. The name comes from the path: …/NAME/program.md or
// …/NAME.md. The result is never nil.
func Parse(file string, data []byte) *Program {
	p := newProgram(file)
	p.Name = nameOf(file)
	if err := ValidName(p.Name); err != nil {
		p.fail(0, "%v", err)
	}
	p.parse(data)
	return p
}

// Settings reads what a suite of a kind is run with: the keys of a program, none of
// which must be there.
func Settings(file string, data []byte, kind EvaluationKind) *Program {
	p := newProgram(file)
	p.Evaluation, p.settings = kind, true
	p.parse(data)
	if p.Evaluation != kind {
		p.fail(0, "its evaluation is `%s`, and this suite is one of `%s`", p.Evaluation, kind)
	}
	return p
}

// ParseIssue reads a program from the title and the body of an issue. An empty
// slug of the title gives the name issue-<number>.
func ParseIssue(number int, title string, body []byte) *Program {
	p := newProgram(fmt.Sprintf("issue #%d", number))
	p.Issue, p.Source = number, string(body)
	if p.Name = Slug(title); p.Name == "" {
		p.Name = fmt.Sprintf("issue-%d", number)
	}
	p.parse(body)
	return p
}

// Bad returns a program that cannot be read at all, for the list of errors.
func Bad(file, name, message string) *Program {
	p := newProgram(file)
	p.Name = name
	p.fail(0, "%s", message)
	return p
}

func newProgram(file string) *Program {
	return &Program{
		File: file, Direction: metric.Higher, Evaluation: Metric, Confidence: 0.95,
		Thresholds: tasks.DefaultThresholds(),
		Judge:      "auto", Plateau: defaultPlateau, Timeout: 45 * time.Minute,
		EvaluationTimeout: 10 * time.Minute, Jobs: 2,
		Network: true, Isolation: "auto", Candidates: 1, UnknownCost: "allow", CIGate: "auto",
		CIWait: 10 * time.Minute, CITimeout: time.Hour,
		TrustedAssociations: DefaultTrusted(), Comments: "accepted",
		PullRequest: PullRequest{Type: "perf", WhenReady: "stop"},
	}
}

// DefaultTrusted are the associations of people who may write issue programs;
// who may steer a program is its own to say.
func DefaultTrusted() []string { return []string{"OWNER", "MEMBER", "COLLABORATOR"} }

// parse reads frontmatter and body.
func (p *Program) parse(data []byte) {
	defer func() { // those of the whole file first
		slices.SortStableFunc(p.Problems, func(a, b Problem) int { return a.Line - b.Line })
	}()
	if len(data) > MaxBytes {
		p.fail(0, "the file has %d bytes; a program file has at most %d", len(data), MaxBytes)
		return
	}
	data = []byte(newlines.Replace(string(data)))
	line := 0
	for text := range bytes.Lines(data) {
		line++
		if !utf8.Valid(text) {
			p.fail(line, "the line is not UTF-8; save the file as UTF-8")
			return
		}
		if bytes.IndexByte(text, 0) >= 0 {
			p.fail(line, "the line has a NUL byte; a program file is text")
			return
		}
	}
	fields, at := p.header(data)
	if found := sentinelForm().FindIndex(data); found != nil {
		p.placeholder(lineAt(data, found[0]))
	}
	p.readFields(fields)
	if at >= 0 {
		(&body{Program: p, text: data[at:], line: lineAt(data, at)}).read()
	}
}

// newlines makes every line end with LF alone.
var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func lineAt(data []byte, at int) int { return 1 + bytes.Count(data[:at], []byte("\n")) }

// clip bounds a text from the file for a message of one line.
func clip(text string) string { return plain.Short(text, 60) }

func clipLine(text string) string { return plain.Short(text, 160) }
