// Package suite has the formats of suites as values: the cases of a skill and the tasks of an
// agent's configuration, their checks, gradings, and what failures count. It reads JSON that people
// write as a tree that keeps the line of each value, and collects everything that is wrong with a
// file. It does no I/O.
package suite

import "github.com/org/autoloop/internal/agent/commandline"

// Format is one of the two kinds of suites.
type Format int

// The formats.
const (
	Evals Format = iota // a skill's eval suite
	Tasks               // a task suite
)

// Failure is what can go wrong while a suite runs.
type Failure string

// The failures, as the docs name them.
const (
	AgentCrashed    Failure = "the agent crashes, is denied a tool, or is at a bound of its own"
	AgentTimedOut   Failure = "the agent's time is up"
	AlwaysCrashed   Failure = "the agent crashes in every run of a side"
	AgentMissing    Failure = "the agent is not installed, or its command is not found"
	LoginRefused    Failure = "the agent is not logged in"
	ProviderLimit   Failure = "the agent is at a limit of its provider"
	AnswerUnusable  Failure = "a judge's answer cannot be used"
	NoAnswer        Failure = "the second answer cannot be used either, or none comes"
	NoAnswerThrice  Failure = "three in a row of one side get no answer"
	JudgeOneSided   Failure = "the judge answers about one side only"
	BudgetUsedUp    Failure = "the budget of tokens, dollars or time is used up"
	DiskFull        Failure = "the disk is full"
	CommandNotFound Failure = "a check's command is not found, or is killed"
	SuiteInvalid    Failure = "the suite cannot be used"
)

// Effect is what follows from a failure.
type Effect string

// The effects.
const (
	Zero      Effect = "0 for the case"
	NotPassed Effect = "the check has not passed"
	AskAgain  Effect = "asked once more"
	LeftOut   Effect = "no judge for the task, on both sides"
	Dropped   Effect = "dropped on both sides, at most neutral"
	NoResult  Effect = "no result"
)

// failures is the table: a row has the effects in an eval suite and in a task suite.
var failures = map[Failure][2]Effect{
	AgentCrashed:    {Zero, Zero},
	AgentTimedOut:   {Zero, Zero},
	AlwaysCrashed:   {Zero, NoResult},
	AgentMissing:    {NoResult, NoResult},
	LoginRefused:    {NoResult, NoResult},
	ProviderLimit:   {NoResult, NoResult},
	AnswerUnusable:  {AskAgain, AskAgain},
	NoAnswer:        {NoResult, LeftOut},
	NoAnswerThrice:  {NoResult, Dropped},
	JudgeOneSided:   {NoResult, Dropped},
	BudgetUsedUp:    {NoResult, NoResult},
	DiskFull:        {NoResult, NoResult},
	CommandNotFound: {NotPassed, NotPassed},
	SuiteInvalid:    {NoResult, NoResult},
}

// After is what follows from a failure in a suite of this format.
func (f Format) After(what Failure) Effect { return failures[what][f] }

// OfAgent is the row of an agent's failure. One that is at a limit of money or tokens has
// used up the budget where the run has one, and else reached a bound of its own.
func OfAgent(kind commandline.FailureKind, notStarted, limited bool) Failure {
	switch {
	case notStarted, kind == commandline.Unavailable:
		return AgentMissing
	case kind == commandline.Authentication:
		return LoginRefused
	case kind == commandline.RateLimit:
		return ProviderLimit
	case kind == commandline.Budget && limited:
		return BudgetUsedUp
	case kind == commandline.Timeout:
		return AgentTimedOut
	default:
		return AgentCrashed
	}
}
