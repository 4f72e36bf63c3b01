package tasks

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/suite"
)

// Compare holds a candidate against its baseline, task by task and then in sum.
//
// Hard regressions are a task that the candidate lost, a number that is not
// finite, fewer checks passed or a lower pass rate, and a composite drop
// strictly beyond the threshold. Any of them is Regressed; else a net gain
// strictly beyond the band is Improved; everything else is Neutral.
//
// With several runs on a side, chance has its say: a gain must be significant
// over all tasks; a task loses checks only when its best candidate run passes
// fewer than the worst baseline run, and that is significant among all tasks; so
// must a composite drop be.
func Compare(baseline, candidate SuiteOutcome, thresholds Thresholds) Comparison {
	return compare([2]SuiteOutcome{baseline, candidate}, thresholds, false)
}

// compare is Compare, in which wall-clock times are unknown where it is timeless.
func compare(outcomes [2]SuiteOutcome, thresholds Thresholds, timeless bool) Comparison {
	baseline, candidate := outcomes[0], outcomes[1]
	c := &comparer{outcomes: outcomes, timeless: timeless}
	c.Comparison = Comparison{
		Verdict: decision.Neutral, Thresholds: thresholds,
		Deltas: []Delta{}, Regressions: []Reason{}, Improvements: []Reason{}, Notes: []Reason{},
		Totals: Totals{
			Tasks: len(baseline.Scores), CandidateOnly: []string{},
			Baseline: newSide(baseline), Candidate: newSide(candidate),
		},
	}
	c.repeated = max(baseline.Runs(), candidate.Runs()) > 1
	c.varies = baseline.MayVary() || candidate.MayVary()
	for _, o := range outcomes {
		c.shared = c.shared || o.Interleaved != nil && !*o.Interleaved
	}
	var byID [2]map[string]Score
	for side, o := range c.outcomes {
		if o.NonFiniteAt != "" {
			c.regress(Reason{Kind: NonFiniteKind, Text: fmt.Sprintf("the %s has a number that is not finite (%s)",
				Sides[side], plain.Short(o.NonFiniteAt, suite.MaxShown))})
		}
		byID[side] = map[string]Score{}
		for _, s := range o.Scores {
			byID[side][s.TaskID] = s
		}
	}
	for _, s := range baseline.Scores {
		c.task(s, byID[1][s.TaskID])
	}
	for _, s := range candidate.Scores {
		if _, there := byID[0][s.TaskID]; !there {
			t := c.add(Score{TaskID: s.TaskID}, s)
			t.notFinite()
			c.Totals.CandidateOnly = append(c.Totals.CandidateOnly, s.TaskID)
			c.note(t.reason(CandidateOnly, "", "", "is in the candidate alone, and counts for nothing"))
		}
	}
	c.chance()
	c.net()
	c.decide()
	return c.Comparison
}

// Sides are what the two outcomes are called, in their order.
var Sides = [2]string{"baseline", "candidate"}

// comparer builds a Comparison.
type comparer struct {
	Comparison
	outcomes                   [2]SuiteOutcome
	tasks                      []*task // of the baseline, and then those of the candidate alone
	repeated, varies, timeless bool
	// shared says that the sides were not measured in turns: runs are exchanged whole, since a
	// good hour lifts all tasks of a run.
	shared  bool
	chances *chances // of the composites
	held    string   // what keeps the verdict at most neutral, "" for nothing
}

// regress notes a hard regression of the suite as a whole.
func (c *comparer) regress(r Reason) { c.Regressions = append(c.Regressions, r) }

func (c *comparer) note(r Reason) { c.Notes = append(c.Notes, r) }

// hold keeps the verdict at most neutral; the first one to do so is said.
func (c *comparer) hold(why string, r Reason) {
	c.held = cmp.Or(c.held, why)
	c.note(r)
}

// Comparison is a candidate held against its baseline. Null in its JSON stands
// for what could not be computed or is not known.
type Comparison struct {
	Verdict decision.Verdict `json:"verdict"`
	// Promotable is true for Improved without a hard regression, when the runs
	// allow to believe it.
	Promotable bool `json:"promotable"`
	// Deltas has the baseline's tasks in its order, then those that only the
	// candidate has.
	Deltas []Delta `json:"perTaskDeltas"`
	// Regressions are the hard ones; any of them makes the verdict Regressed.
	Regressions []Reason `json:"regressions"`
	// Improvements are the tasks whose composite rose.
	Improvements []Reason `json:"improvements"`
	// Notes say what else led to the verdict, or keeps it from being promoted.
	Notes []Reason `json:"notes"`
	// NetGain is the sum of the deltas; nil when one could not be computed.
	NetGain *metric.Value `json:"netCompositeGain"`
	// PValue is the one-sided p of a net gain over all tasks; nil without
	// repeats.
	PValue *float64 `json:"pValue"`
	// Summary is one line.
	Summary    string     `json:"summary"`
	Thresholds Thresholds `json:"-"`
	Totals     Totals     `json:"totals"`
}

// Report is what a task suite came to for two configurations of an agent, the baseline and the
// candidate, with the outcomes that it is of: they tell which checks failed and why, what the judge
// said, and where transcripts and changes are.
//
// A run is one task, once, with one configuration, in a sandbox of its own. It becomes a record,
// which is kept on disk under the digest of all that went into it as soon as it is finished: an
// interrupted comparison goes on where it was, and the baseline's runs serve the next candidate too.
type Report struct {
	Schema int `json:"schemaVersion"`
	Comparison

	Suite string `json:"suite"`
	// Agent is the run's, "" when every task names its own; Model is "" for its
	// default. Judge is who judged, "" for nobody.
	Agent string `json:"agent"`
	Model string `json:"model"`
	Judge string `json:"judge"`
	// Repeats is how often each task was run on each side, Reused how many runs
	// are from an earlier comparison.
	Repeats int `json:"repeats"`
	Reused  int `json:"reusedRuns"`
	// Warnings are for people.
	Warnings  []string     `json:"warnings"`
	Baseline  SuiteOutcome `json:"baseline"`
	Candidate SuiteOutcome `json:"candidate"`
	// Expense is what this session used; what was kept from an earlier one costs
	// nothing.
	Expense history.Expense `json:"-"`
}

// Lines are a comparison in lines, the deciding ones first.
func (found Comparison) Lines() []string {
	lines := []string{found.Summary}
	for _, reason := range slices.Concat(found.Regressions, found.Notes, found.Improvements) {
		lines = append(lines, reason.Text)
	}
	const most = 12
	return lines[:min(len(lines), most)]
}

// ReasonKind says which rule a reason is from.
type ReasonKind string

// The kinds of reasons. The first group is of hard regressions.
const (
	TaskMissing   ReasonKind = "task-missing"
	NonFiniteKind ReasonKind = "non-finite"
	ObjectiveDrop ReasonKind = "objective-drop"
	CompositeDrop ReasonKind = "composite-drop"
	NetLoss       ReasonKind = "net-loss"

	CompositeGain ReasonKind = "composite-gain"

	ChecksOneSided   ReasonKind = "checks-one-sided"
	ChecksDiffer     ReasonKind = "checks-differ"
	ChecksMiscounted ReasonKind = "checks-miscounted"
	FailedRun        ReasonKind = "failed-run"
	JudgeOneSided    ReasonKind = "judge-one-sided"
	JudgeDiffers     ReasonKind = "judge-differs"
	JudgeIncomplete  ReasonKind = "judge-incomplete"
	NotSignificant   ReasonKind = "not-significant"
	Unrepeated       ReasonKind = "unrepeated"
	CandidateOnly    ReasonKind = "candidate-only"
	NothingToCompare ReasonKind = "nothing-to-compare"
)

// Reason is one thing that a verdict rests on.
type Reason struct {
	Kind ReasonKind `json:"kind"`
	// Task is the task's id; "" for the suite as a whole.
	Task string `json:"task"`
	// Before and After are the baseline's and the candidate's value as text,
	// such as 0.8 or 2/3, or "".
	Before string `json:"before"`
	After  string `json:"after"`
	// Text is one line for people, with the task's id.
	Text string `json:"text"`
}

// Delta is one task on both sides. With repeats, composites, judge scores and
// costs are means over the runs, and the objectives add the runs up.
type Delta struct {
	TaskID             string           `json:"taskId"`
	Verdict            decision.Verdict `json:"verdict"`
	BaselineComposite  *metric.Value    `json:"baselineComposite"`
	CandidateComposite *metric.Value    `json:"candidateComposite"`
	// Composite is candidate − baseline; a missing candidate counts as 0.
	Composite *metric.Value `json:"compositeDelta"`
	// BaselineObjective and CandidateObjective are nil on a side without the task.
	BaselineObjective  *Objective    `json:"baselineObjective"`
	CandidateObjective *Objective    `json:"candidateObjective"`
	Objective          *metric.Value `json:"objectiveDelta"`
	Judge              *metric.Value `json:"judgeDelta"`
	Tokens             *metric.Value `json:"tokensDelta"`
	USD                *metric.Value `json:"costUsdDelta"`
	// Regressed says that a hard regression names this task.
	Regressed bool `json:"isRegression"`
	// PValue is the one-sided p of a drop, adjusted for the number of tasks;
	// nil without repeats, and for a task that did not drop.
	PValue *float64 `json:"pValue"`
	// BaselineRuns and CandidateRuns count the runs.
	BaselineRuns  int `json:"baselineRuns"`
	CandidateRuns int `json:"candidateRuns"`
}

// Totals adds the tasks up.
type Totals struct {
	Tasks         int      `json:"tasks"`
	Improved      int      `json:"improved"`
	Neutral       int      `json:"neutral"`
	Regressed     int      `json:"regressed"`
	CandidateOnly []string `json:"candidateOnly"`
	Baseline      Side     `json:"baseline"`
	Candidate     Side     `json:"candidate"`
}

// DefaultThresholds are those of a program that says none.
func DefaultThresholds() Thresholds {
	return Thresholds{
		MinCompositeGain: metric.MustValue("0.01"), RegressionCompositeDrop: metric.MustValue("0.05"),
		CostTolerance: metric.FromInt(0), ObjectiveDropIsRegression: true,
	}
}

// Thresholds tune the comparison. The zero value is stricter than any that
// makes sense.
type Thresholds struct {
	// MinCompositeGain is the band that the net gain must exceed.
	MinCompositeGain metric.Value
	// RegressionCompositeDrop is what the composite of one task may lose.
	RegressionCompositeDrop metric.Value
	// CostTolerance is the band around 1 within which a ratio of costs is 1.
	CostTolerance metric.Value
	// ObjectiveDropIsRegression makes fewer checks passed a hard regression.
	ObjectiveDropIsRegression bool
	// NetLossIsRegression makes a net loss beyond MinCompositeGain one too.
	NetLossIsRegression bool
}
