package program

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxBytes bounds a program file.
const MaxBytes = 1 << 20

// Parse reads a program file whole. The name comes from the path:
// …/NAME/program.md or …/NAME.md. The result is never nil.
func Parse(file string, data []byte) *Program {
	p := newProgram(file)
	p.Name = nameOf(file)
	if err := ValidName(p.Name); err != nil {
		p.fail(0, "%v", err)
	}
	p.parse(data, true)
	return p
}

// ParseHead reads as much as choosing among programs needs: the frontmatter,
// whether it is configured, and contradictions. Sections stay empty where
// nothing in the text asks for them.
func ParseHead(file string, data []byte) *Program {
	p := newProgram(file)
	p.Name = nameOf(file)
	if err := ValidName(p.Name); err != nil {
		p.fail(0, "%v", err)
	}
	p.parse(data, false)
	return p
}

// ParseIssue reads a program from the body of an issue.
func ParseIssue(number int, title string, body []byte) *Program {
	p := newProgram(fmt.Sprintf("issue #%d", number))
	p.Issue = number
	if p.Name = Slug(title); p.Name == "" {
		p.Name = fmt.Sprintf("issue-%d", number)
	}
	p.parse(body, true)
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
		File: file, Direction: "higher", Evaluation: Metric, Confidence: 0.95,
		Thresholds: Thresholds{MinCompositeGain: 0.01, RegressionCompositeDrop: 0.05, ObjectiveDropIsRegression: true},
		Judge:      "auto", Plateau: 5, Timeout: 45 * time.Minute, EvaluationTimeout: 10 * time.Minute, Jobs: 2,
		Network: true, Isolation: "auto", Candidates: 1, UnknownCost: "allow", CIGate: "auto",
		CIWait: 10 * time.Minute, CITimeout: time.Hour,
		TrustedAssociations: []string{"OWNER", "MEMBER", "COLLABORATOR"},
	}
}

func nameOf(file string) string {
	base := path.Base(file)
	if base == "program.md" {
		if dir := path.Base(path.Dir(file)); dir != ".autoloop" && dir != "." && dir != "/" {
			return dir
		}
		return "program"
	}
	return strings.TrimSuffix(base, ".md")
}

func (p *Program) parse(data []byte, whole bool) {
	defer func() {
		slices.SortStableFunc(p.Problems, func(a, b Problem) int { return a.Line - b.Line })
	}()
	if len(data) > MaxBytes {
		p.fail(0, "the file has %d bytes; a program file has at most %d", len(data), MaxBytes)
		return
	}
	if line := invalidLine(data); line > 0 {
		p.fail(line, "the line is not UTF-8; save the file as UTF-8")
		return
	}
	data = bytes.ReplaceAll(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	front, body, bodyLine := p.split(data)
	if front.text != nil {
		p.readFront(front)
	}
	p.Body = string(body)
	p.readBody(body, bodyLine, whole)
}

// invalidLine returns the first line with bytes that are not UTF-8, 0 when all are.
func invalidLine(data []byte) int {
	if utf8.Valid(data) {
		return 0
	}
	number := 0
	for line := range bytes.Lines(data) {
		if number++; !utf8.Valid(line) {
			return number
		}
	}
	return number
}
