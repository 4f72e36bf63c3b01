package format

import (
	"github.com/org/autoloop/internal/metric"
)

// SuiteOutcome is what one configuration came to on a suite.
type SuiteOutcome struct {
	// ConfigLabel names the configuration in reports.
	ConfigLabel string `json:"configLabel"`
	// Stochastic says whether anything could have come out otherwise in
	// another run (a model ran). Nil is unknown, and is then told from the
	// costs and judges; it never outweighs a judge or tokens that are there.
	Stochastic *bool `json:"stochastic,omitempty"`
	// NonFiniteAt is the key of a number beside the known ones that is not
	// finite, "" for none. Nothing is computed with it, but whoever wrote it
	// could not compute either.
	NonFiniteAt string `json:"-"`
	// Made is how often the suite was run, where no task has so many runs; else 0.
	Made int `json:"-"`
	// Scores has one entry a task, in the order of the suite.
	Scores []Score `json:"scores"`
}

// Score is what one task came to, in one run or in several.
type Score struct {
	TaskID string
	// JudgeWeight is the task's judgeRubric.weight; nil for the usual 0.4.
	JudgeWeight *metric.Value
	// Runs has at least one run.
	Runs []Run
}

// Run is one run of a task.
type Run struct {
	Objective Objective `json:"objective"`
	// Judge is nil when no judge answered.
	Judge *Judgement `json:"judge,omitempty"`
	Cost  Cost       `json:"cost"`
	// Composite is nil when it is to be computed, as it is for our own runs.
	Composite *metric.Number `json:"composite,omitempty"`
	// Checks tell the objective apart, in the order of the task's checks.
	Checks []CheckResult `json:"checks,omitempty"`
	// Failure says in one line why the run as such failed (agent, timeout).
	Failure string `json:"failure,omitempty"`
	// Transcript and Diff are paths of files, relative to the report, or "".
	Transcript string `json:"transcript,omitempty"`
	Diff       string `json:"diff,omitempty"`
}

// Objective counts the checks of a run: whole numbers, 0 ≤ Passed ≤ Total when
// they are finite.
type Objective struct {
	Passed metric.Number `json:"passed"`
	Total  metric.Number `json:"total"`
}

// Passed returns the Objective with that many checks passed out of total.
func Passed(passed, total int) Objective {
	return Objective{Passed: metric.NumberFromInt(int64(passed)), Total: metric.NumberFromInt(int64(total))}
}

// String renders the count as 2/3.
func (o Objective) String() string { return o.Passed.String() + "/" + o.Total.String() }

// Judgement is a judge's answer.
type Judgement struct {
	// Score is in [0, 1] when it is finite.
	Score     metric.Number `json:"score0to1"`
	Rationale string        `json:"rationale,omitempty"`
	// Model names who judged; "" is unknown.
	Model string `json:"model,omitempty"`
}

// Cost is what a run used. Nil is unknown, never 0.
type Cost struct {
	Tokens      *metric.Number `json:"tokens"`
	ToolCalls   *metric.Number `json:"toolCalls"`
	Steps       *metric.Number `json:"steps"`
	WallClockMs *metric.Number `json:"wallClockMs"`
	USD         *metric.Number `json:"costUsd"`
}

// CheckResult says how one check ended.
type CheckResult struct {
	Kind CheckKind `json:"kind"`
	// Name shows what was checked, such as the command or the path.
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	// Detail says why it failed; bounded text, "" when it passed.
	Detail string `json:"detail,omitempty"`
}
