// Package tasks has the outcome of a task suite for one configuration, and its arithmetic: the
// composite score of a task, and the comparison of a candidate's outcome with its baseline's. It
// does no I/O.
package tasks

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

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
	// Interleaved is false where the runs were not made in turns with those of the other side:
	// what those of a side share, such as a day or a judge's session, is no gain then.
	Interleaved *bool `json:"interleaved,omitempty"`
	// NonFiniteAt is the key of a number beside the known ones that is not
	// finite, "" for none. Nothing is computed with it, but whoever wrote it
	// could not compute either.
	NonFiniteAt string `json:"-"`
	// Made is how often the suite was run, where no task has so many runs; else 0.
	Made int `json:"-"`
	// Scores has one entry a task, in the order of the suite.
	Scores []Score `json:"-"`
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
	Objective Objective `json:"objective" need:"yes"`
	// Judge is nil when no judge answered.
	Judge *Judgement `json:"judge,omitempty"`
	Cost  Cost       `json:"cost"`
	// Composite is nil when it is to be computed, as it is for our own runs.
	Composite *metric.Value `json:"composite,omitempty" most:"1" must:"from 0 to 1"`
	// Checks tell the objective apart, in the order of the task's checks.
	Checks []CheckResult `json:"checks,omitempty" most:"200"`
	// Failure says in one line why the run as such failed (agent, timeout).
	Failure string `json:"failure,omitempty" most:"65536"`
	// Transcript and Diff are paths of files, relative to the report, or "".
	Transcript string `json:"transcript,omitempty" most:"300"`
	Diff       string `json:"diff,omitempty" most:"300"`
	// NonFinite is the first key of a number that is not finite, "" for none: nothing is
	// computed with the run then.
	NonFinite string `json:"-"`
}

// Failed says why a run failed, and which checks it did not pass, a line each.
func (r Run) Failed() (lines []string) {
	if r.Failure != "" {
		lines = append(lines, r.Failure)
	}
	for _, check := range r.Checks {
		if !check.Passed {
			lines = append(lines, strings.TrimSuffix(fmt.Sprintf("%s %s: %s", check.Kind, check.Name, check.Detail), ": "))
		}
	}
	return lines
}

// Objective counts the checks of a run: 0 ≤ Passed ≤ Total.
type Objective struct {
	Passed int `json:"passed" need:"yes" most:"9007199254740992" must:"a whole number, 0 or more"`
	Total  int `json:"total" need:"yes" most:"9007199254740992" must:"a whole number, 0 or more"`
}

// Counted counts a list of checks.
func Counted(checks []CheckResult) Objective {
	o := Objective{Total: len(checks)}
	for _, check := range checks {
		if check.Passed {
			o.Passed++
		}
	}
	return o
}

// String renders the count as 2/3.
func (o Objective) String() string { return fmt.Sprintf("%d/%d", o.Passed, o.Total) }

// Judgement is a judge's answer.
type Judgement struct {
	// Score is in [0, 1].
	Score     metric.Value `json:"score0to1" need:"yes" most:"1" must:"from 0 to 1"`
	Rationale string       `json:"rationale,omitempty" most:"65536"`
	// Model names who judged; "" is unknown.
	Model string `json:"model,omitempty" most:"200"`
}

// Cost is what a run used. Nil is unknown, never 0.
type Cost struct {
	Tokens      *metric.Value `json:"tokens"`
	ToolCalls   *metric.Value `json:"toolCalls"`
	Steps       *metric.Value `json:"steps"`
	WallClockMs *metric.Value `json:"wallClockMs"`
	USD         *metric.Value `json:"costUsd"`
}

// CheckResult says how one check ended.
type CheckResult struct {
	Kind suite.CheckKind `json:"kind" most:"200"`
	// Name shows what was checked, such as the command or the path.
	Name   string `json:"name" most:"65536"`
	Passed bool   `json:"passed" need:"yes"`
	// Detail says why it failed; bounded text, "" when it passed.
	Detail string `json:"detail,omitempty" most:"65536"`
}

// Rate returns passed/total, 1 without checks.
func (o Objective) Rate() *big.Rat {
	if o.Total == 0 {
		return big.NewRat(1, 1)
	}
	return big.NewRat(int64(o.Passed), int64(o.Total))
}

// Places are those of the costs, always in the same order.
func Places(c *Cost) [5]**metric.Value {
	return [5]**metric.Value{&c.USD, &c.Tokens, &c.ToolCalls, &c.Steps, &c.WallClockMs}
}

// Plus adds two costs; what one of them does not know is unknown.
func (c Cost) Plus(o Cost) (sum Cost) {
	mine, others := Places(&c), Places(&o)
	for i, place := range Places(&sum) {
		*place = plus(*mine[i], *others[i])
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
			cost := run.Cost
			if run.Judge != nil || cost.Tokens != nil && cost.Tokens.Sign() > 0 || cost.USD != nil && cost.USD.Sign() > 0 ||
				o.Stochastic == nil && cost.Tokens == nil {
				return true
			}
		}
	}
	return false
}

// MarshalJSON writes the form that ParseOutcome reads: `scores` for one run of
// the suite, `runs` for several. Composites that are to be computed are left
// out. Run k has the tasks that were run at least k times.
func (o SuiteOutcome) MarshalJSON() ([]byte, error) {
	written := writtenOutcome{rest: rest(o)}
	if o.Runs() <= 1 {
		written.Scores = o.nth(0)
		return json.Marshal(written)
	}
	for k := range o.Runs() {
		written.Runs = append(written.Runs, writtenRun{o.nth(k)})
	}
	return json.Marshal(written)
}

type writtenOutcome struct {
	rest
	Scores []writtenScore `json:"scores,omitzero"`
	Runs   []writtenRun   `json:"runs,omitempty"`
}

type rest SuiteOutcome

type writtenRun struct {
	Scores []writtenScore `json:"scores"`
}

type writtenScore struct {
	TaskID      string        `json:"taskId" need:"yes"`
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
