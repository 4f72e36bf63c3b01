// Package evals has the formats of a skill's eval suite as values: cases,
// deterministic checks, trigger queries, questions with exact answers, gradings,
// and the pass rate. It does no I/O.
package evals

import (
	"fmt"
	"regexp"
	"time"
)

// The files of a skill's suites, from the skill's own directory.
const (
	Dir         = "evals"
	File        = "evals/evals.json"
	TriggerFile = "evals/trigger-eval.json"
	AnswerFile  = "evals/evaluation.xml"
)

// EvalSuite is what a skill is graded by, as its evals.json says it. ParseEvals
// returns only suites that are valid: every case has something to check.
type EvalSuite struct {
	// SkillName is as the file says it, "" when it does not.
	SkillName string
	// Cases are in the order of the file.
	Cases []Case
}

// Case is one prompt with all that its result is graded by.
type Case struct {
	// ID is unique in the suite and can name a directory.
	ID string
	// Prompt is all that the executor is told.
	Prompt string
	// ExpectedOutput describes a good result to the grader; it may be "".
	ExpectedOutput string
	// Files are staged into the sandbox.
	Files []StagedFile
	// Expectations are for the grader, in words; no two are the same.
	Expectations []string
	// Checks need no model.
	Checks []Check
	// Trigger, of a trigger query alone, says whether the skill is to be taken up.
	Trigger *bool
}

// StagedFile is an input of a case.
type StagedFile struct {
	// From is the clean path from the skill's directory, To the one in the
	// sandbox: the same without `evals/` in front.
	From, To string
}

// Total is how much there is to pass: expectations and checks.
func (c Case) Total() int { return len(c.Expectations) + len(c.Checks) }

// CheckKind says what a deterministic check looks at.
type CheckKind string

// The kinds of deterministic checks. All but ShellCommand look at one file
// below `outputs/`.
const (
	JSONValid         CheckKind = "json_valid"
	JSONFieldEquals   CheckKind = "json_field_equals"
	JSONFieldExists   CheckKind = "json_field_exists"
	JSONFieldAbsent   CheckKind = "json_field_absent"
	JSONFieldMatches  CheckKind = "json_field_matches"
	JSONFieldCount    CheckKind = "json_field_count"
	JSONArrayContains CheckKind = "json_array_contains"
	OutputExists      CheckKind = "file_exists"
	OutputNotExists   CheckKind = "file_not_exists"
	OutputContains    CheckKind = "file_contains"
	OutputNotContains CheckKind = "file_not_contains"
	OutputMatches     CheckKind = "regex_match"
	ShellCommand      CheckKind = "shell_command"
	// exactAnswer is of questions alone: the file is the text, whatever the case and
	// the blanks around it.
	exactAnswer CheckKind = "answer"
)

// DefaultCheckTimeout bounds a shell_command that does not say `timeout`.
const DefaultCheckTimeout = 30 * time.Second

// Check is one deterministic check; only the fields of its kind are set.
type Check struct {
	Kind CheckKind
	// Description is the suite's own name for the check, "" for none.
	Description string
	// File is a clean path with slashes from `outputs/`.
	File string
	// Path leads to a value in a JSON file; PathText is how the suite writes it.
	Path     JSONPath
	PathText string
	// Value is what JSONFieldEquals and JSONArrayContains look for: what
	// encoding/json makes of a JSON value, with numbers as json.Number.
	Value any
	// Partial says that JSONArrayContains takes an entry that has all that Value
	// says, and more.
	Partial bool
	// Operator and Count are of JSONFieldCount: eq, ne, gt, gte, lt or lte.
	Operator string
	Count    int
	// Text is looked for byte for byte, and is never empty.
	Text string
	// Pattern is compiled, in Go's (RE2) syntax.
	Pattern *regexp.Regexp
	// Command runs in `outputs/` and passes on exit code 0, within Timeout.
	Command string
	Timeout time.Duration
}

// Label names the check in gradings: its description, else what it looks at.
func (c Check) Label() string {
	if c.Description != "" {
		return c.Description
	}
	label := string(c.Kind)
	if c.File != "" {
		label += " " + c.File
	}
	if len(c.Path) > 0 || c.reads() {
		label += " " + c.Path.String()
	}
	switch c.Kind {
	case JSONArrayContains:
		if c.Partial {
			label += " match"
		}
		label += " " + jsonText(c.Value)
	case JSONFieldEquals:
		label += " " + jsonText(c.Value)
	case JSONFieldCount:
		label += fmt.Sprintf(" %s %d", c.Operator, c.Count)
	case OutputContains, OutputNotContains:
		label += fmt.Sprintf(" %q", c.Text)
	case JSONFieldMatches, OutputMatches:
		label += fmt.Sprintf(" %q", c.Pattern)
	case ShellCommand:
		label += fmt.Sprintf(" %q", c.Command)
	case exactAnswer, JSONValid, JSONFieldExists, JSONFieldAbsent, OutputExists, OutputNotExists:
	}
	return label
}

// reads reports whether the check follows a path into a JSON file.
func (c Check) reads() bool {
	switch c.Kind {
	case JSONFieldEquals, JSONFieldExists, JSONFieldAbsent, JSONFieldMatches, JSONFieldCount, JSONArrayContains:
		return true
	default:
		return false
	}
}

// Trigger is one query that should, or should not, make an agent use the skill.
type Trigger struct {
	Query         string
	ShouldTrigger bool
}

// Answer is one question with the exact answer.
type Answer struct{ Question, Answer string }
