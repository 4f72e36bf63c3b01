package program

import (
	"errors"
	"fmt"
	"slices"
)

// Severity says whether a problem stops the program.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Problem is one thing that is wrong with a program file.
type Problem struct {
	File     string
	Line     int // 1-based; 0 for the file as a whole
	Severity Severity
	// Message is one line that says what is wrong and what is accepted.
	Message string
	// Contradiction marks an error that is only a warning for a program that
	// has state already.
	Contradiction bool
}

// String renders the problem as "file:line: message", on one line.
func (p Problem) String() string {
	file := visible(p.File)
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", file, p.Message)
	}
	return fmt.Sprintf("%s:%d: %s", file, p.Line, p.Message)
}

// Err returns all errors of the program joined, nil when it may run.
func (p *Program) Err() error {
	var all []error
	for _, problem := range p.Problems {
		if problem.Severity == Error {
			all = append(all, errors.New(problem.String()))
		}
	}
	return errors.Join(all...)
}

// Errors and Warnings split the problems by severity.
func (p *Program) Errors() []Problem { return p.only(Error) }

// Warnings returns the problems that do not stop the program.
func (p *Program) Warnings() []Problem { return p.only(Warning) }

func (p *Program) only(severity Severity) []Problem {
	var found []Problem
	for _, problem := range p.Problems {
		if problem.Severity == severity {
			found = append(found, problem)
		}
	}
	return found
}

// Excuse turns contradictions into warnings, for a program that already runs
// by its state.
func (p *Program) Excuse() {
	for i := range p.Problems {
		if p.Problems[i].Contradiction {
			p.Problems[i].Severity = Warning
		}
	}
}

func (p *Program) fail(line int, format string, args ...any) {
	p.Problems = append(p.Problems, Problem{File: p.File, Line: line, Severity: Error, Message: fmt.Sprintf(format, args...)})
}

func (p *Program) warn(line int, format string, args ...any) {
	p.Problems = append(p.Problems, Problem{File: p.File, Line: line, Severity: Warning, Message: fmt.Sprintf(format, args...)})
}

// Missing returns what the program lacks to be run, beyond what choosing among
// programs needs: a target, and for the metric kind an evaluation script. It is
// of use after Parse only. Words that may be files count as targets until
// Resolve has looked.
func (p *Program) Missing() []Problem {
	var found []Problem
	missing := func(message string) {
		found = append(found, Problem{File: p.File, Severity: Error, Message: message})
	}
	if len(p.Targets) == 0 {
		missing("no target: name the files that may change in backticks in a section `## Target` (before its first \"Do NOT modify\" line), or with `target: [src/*.go]`")
	}
	if p.Evaluation == Metric && p.Script == "" {
		missing("no evaluation: add a section `## Evaluation` with a bash fence whose commands print JSON with the metric")
	}
	return found
}

// sortProblems orders problems by line, those of the whole file first.
func (p *Program) sortProblems() {
	if len(p.Problems) > 1 {
		slices.SortStableFunc(p.Problems, func(a, b Problem) int { return a.Line - b.Line })
	}
}
