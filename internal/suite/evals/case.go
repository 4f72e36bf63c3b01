// Package evals has the formats of a skill's eval suite as values: cases,
// deterministic checks, trigger queries, questions with exact answers, gradings,
// and the pass rate. It does no I/O.
package evals

import "github.com/org/autoloop/internal/suite"

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
	Checks []suite.Check
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

// Trigger is one query that should, or should not, make an agent use the skill.
type Trigger struct {
	Query         string
	ShouldTrigger bool
}

// Answer is one question with the exact answer.
type Answer struct{ Question, Answer string }
