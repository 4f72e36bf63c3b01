// Package format has the two files of a task suite as values: task.json, and the
// outcome of one configuration. It does no I/O.
package format

import (
	"encoding/json"
	"math/big"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite"
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

// Counted counts a list of checks.
func Counted(checks []CheckResult) Objective {
	passed := 0
	for _, check := range checks {
		if check.Passed {
			passed++
		}
	}
	return Passed(passed, len(checks))
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
	Kind suite.CheckKind `json:"kind"`
	// Name shows what was checked, such as the command or the path.
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	// Detail says why it failed; bounded text, "" when it passed.
	Detail string `json:"detail,omitempty"`
}

// Rate returns passed/total, 1 without checks.
func (o Objective) Rate() (*big.Rat, bool) {
	passed, ok := o.Passed.Value()
	total, finite := o.Total.Value()
	if !ok || !finite {
		return nil, false
	}
	if total.Sign() <= 0 {
		return big.NewRat(1, 1), true
	}
	return new(big.Rat).Quo(passed.Rat(), total.Rat()), true
}

// costKeys are the keys of the costs, in the order of Places.
var costKeys = [5]string{"costUsd", "tokens", "toolCalls", "steps", "wallClockMs"}

// Places are those of the costs, always in the same order, and Signals what is there.
func Places(c *Cost) [5]**metric.Number {
	return [5]**metric.Number{&c.USD, &c.Tokens, &c.ToolCalls, &c.Steps, &c.WallClockMs}
}

// Signals lists the costs in the order of Places.
func (c Cost) Signals() (list [5]*metric.Number) {
	for i, place := range Places(&c) {
		list[i] = *place
	}
	return list
}

// Plus adds two costs; what one of them does not know is unknown.
func (c Cost) Plus(o Cost) (sum Cost) {
	mine, others := c.Signals(), o.Signals()
	for i, place := range Places(&sum) {
		a, known := metric.Known(mine[i])
		b, too := metric.Known(others[i])
		if known && too {
			*place = new(metric.NumberOf(a.Add(b)))
		}
	}
	return sum
}

// Runs returns how often the suite was run, also where a run has none of the
// tasks.
func (o SuiteOutcome) Runs() int {
	most := o.Made
	for _, s := range o.Scores {
		most = max(most, len(s.Runs))
	}
	return most
}

// MayVary reports whether another run of the same configuration could have
// come out otherwise: a judge answered, tokens or money were spent, it is said
// to be stochastic, or nothing says that no model ran.
func (o SuiteOutcome) MayVary() bool {
	if o.Stochastic != nil && *o.Stochastic {
		return true
	}
	for _, s := range o.Scores {
		for _, run := range s.Runs {
			if run.Judge != nil || spent(run.Cost.Tokens) || spent(run.Cost.USD) {
				return true
			}
			if o.Stochastic == nil && run.Cost.Tokens == nil {
				return true
			}
		}
	}
	return false
}

// spent reports whether a cost is known to be more than nothing.
func spent(n *metric.Number) bool {
	if n == nil {
		return false
	}
	value, finite := n.Value()
	return !finite || value.Sign() > 0
}

// Finite reports whether every number of a run is.
func (r Run) Finite() bool { return r.NonFinite() == "" }

// NonFinite names the first number of a run that is not finite.
func (r Run) NonFinite() string {
	var judged *metric.Number
	if r.Judge != nil {
		judged = &r.Judge.Score
	}
	names := []string{"objective.passed", "objective.total", "judge.score0to1", "composite"}
	for _, name := range costKeys {
		names = append(names, "cost."+name)
	}
	costs := r.Cost.Signals()
	for i, number := range append([]*metric.Number{
		&r.Objective.Passed, &r.Objective.Total, judged, r.Composite,
	}, costs[:]...) {
		if number != nil && !number.Finite() {
			return names[i]
		}
	}
	return ""
}

// MarshalJSON writes the form that ParseOutcome reads: `scores` for one run of
// the suite, `runs` for several. Composites that are to be computed are left
// out. Run k has the tasks that were run at least k times.
func (o SuiteOutcome) MarshalJSON() ([]byte, error) {
	written := writtenOutcome{ConfigLabel: o.ConfigLabel, Stochastic: o.Stochastic}
	if o.Runs() <= 1 {
		written.Scores = new(o.nth(0))
		return json.Marshal(written)
	}
	for k := range o.Runs() {
		written.Runs = append(written.Runs, writtenRun{o.nth(k)})
	}
	return json.Marshal(written)
}

type writtenOutcome struct {
	ConfigLabel string          `json:"configLabel"`
	Stochastic  *bool           `json:"stochastic,omitempty"`
	Scores      *[]writtenScore `json:"scores,omitempty"`
	Runs        []writtenRun    `json:"runs,omitempty"`
}

type writtenRun struct {
	Scores []writtenScore `json:"scores"`
}

type writtenScore struct {
	TaskID      string        `json:"taskId"`
	JudgeWeight *metric.Value `json:"judgeWeight,omitempty"`
	Run
}

func (o SuiteOutcome) nth(k int) []writtenScore {
	list := []writtenScore{}
	for _, s := range o.Scores {
		if k < len(s.Runs) {
			list = append(list, writtenScore{s.TaskID, s.JudgeWeight, s.Runs[k]})
		}
	}
	return list
}
