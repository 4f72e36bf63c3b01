// Package score is the arithmetic of task suites: the composite score of a task,
// and the comparison of a candidate's outcome with its baseline's. It does no
// I/O.
package score

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/suite/format"
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
func Compare(baseline, candidate format.SuiteOutcome, thresholds Thresholds) Comparison {
	c := newComparer(baseline, candidate, thresholds)
	for _, s := range baseline.Scores {
		c.task(s)
	}
	c.extras()
	c.chances = exchange(c.samples, thresholds.Shared, c.mostArrangements())
	c.checks()
	c.drops()
	c.net()
	c.decide()
	return c.Comparison
}

// comparer builds a Comparison.
type comparer struct {
	Comparison
	baseline, candidate format.SuiteOutcome

	byID     map[string]format.Score
	repeated bool
	// samples of composites and objectives are those of the tasks that have runs on
	// both sides; places tells which delta each is of.
	samples, objectives []sample
	places              []int
	chances             *chances
	sum                 *big.Rat // of the deltas; nil when one could not be computed
	held                string   // what keeps the verdict at most neutral, "" for nothing
	varies              bool
}

func newComparer(baseline, candidate format.SuiteOutcome, t Thresholds) *comparer {
	c := &comparer{baseline: baseline, candidate: candidate, byID: map[string]format.Score{}, sum: new(big.Rat)}
	c.Thresholds, c.Verdict = t, decision.Neutral
	c.Deltas, c.Regressions, c.Improvements, c.Notes = []Delta{}, []Reason{}, []Reason{}, []Reason{}
	c.repeated = max(baseline.Runs(), candidate.Runs()) > 1
	c.varies = baseline.MayVary() || candidate.MayVary()
	c.Totals = Totals{
		CandidateOnly: []string{},
		Baseline:      newSide(baseline), Candidate: newSide(candidate),
	}
	for side, o := range []format.SuiteOutcome{baseline, candidate} {
		if o.NonFiniteAt != "" {
			c.regress(Reason{
				Kind: NonFiniteKind,
				Text: fmt.Sprintf("the %s has a number that is not finite (%s)", sides[side],
					plain.Short(o.NonFiniteAt, document.MaxShown)),
			})
		}
	}
	for _, s := range candidate.Scores {
		if _, twice := c.byID[s.TaskID]; twice {
			c.regress(reasonOf(TaskTwice, s.TaskID, "is there twice in the candidate"))
		}
		c.byID[s.TaskID] = s
	}
	return c
}

// sides are what the two outcomes are called, in their order.
var sides = [...]string{"baseline", "candidate"}

func (c *comparer) regress(r Reason) { c.Regressions = append(c.Regressions, r) }

// hold keeps the verdict at most neutral; the first reason is said.
func (c *comparer) hold(why string) { c.held = cmp.Or(c.held, why) }

func (c *comparer) note(r Reason) { c.Notes = append(c.Notes, r) }

// task compares one task of the baseline.
func (c *comparer) task(before format.Score) {
	after := c.byID[before.TaskID]
	d := Delta{
		TaskID: before.TaskID, Verdict: decision.Neutral, BaselineRuns: len(before.Runs),
		CandidateRuns: len(after.Runs),
	}
	c.Totals.Tasks++
	p := c.pair(before, after)
	p.fill(&d)
	c.lost(p, d)
	c.notFinite(p)
	if !c.repeated && c.Thresholds.ObjectiveDropIsRegression && d.Objective != nil && d.CandidateRuns > 0 &&
		worse(before.Runs, after.Runs) {
		c.regress(c.objectiveReason(ObjectiveDrop, d, ""))
	}
	c.doubt(p)
	c.add(d.Composite)
	c.Totals.Baseline.add(before.Runs, d.BaselineComposite)
	c.Totals.Candidate.add(after.Runs, d.CandidateComposite)
	c.Deltas = append(c.Deltas, d)
	if d.Composite != nil && len(before.Runs) > 0 && len(after.Runs) > 0 {
		if c.repeated {
			c.samples = append(c.samples, newSample(millionths(p.before), millionths(p.after)))
			c.objectives = append(c.objectives, newSample(rates(before.Runs), rates(after.Runs)))
			c.places = append(c.places, len(c.Deltas)-1)
		}
		if d.Composite.Sign() > 0 {
			c.Improvements = append(c.Improvements, c.compositeReason(CompositeGain, d, ""))
		}
	}
}

// mostArrangements bounds the work on very large suites.
func (c *comparer) mostArrangements() int {
	const work = 5_000_000
	return max(1000, min(maxArrangements, work/max(1, len(c.byID))))
}

func (c *comparer) add(delta *metric.Value) {
	if delta == nil || c.sum == nil {
		c.sum = nil
		return
	}
	c.sum.Add(c.sum, delta.Rat())
}

// lost finds a task that the candidate does not have, or not in all its runs.
func (c *comparer) lost(p pair, d Delta) {
	for _, side := range []struct {
		name      string
		runs, all int
	}{{"candidate", d.CandidateRuns, c.candidate.Runs()}, {"baseline", d.BaselineRuns, c.baseline.Runs()}} {
		switch {
		case side.runs == 0:
			c.regress(reasonOf(TaskMissing, d.TaskID, "is missing from the %s", side.name).
				values(p.beforeObjective.String(), ""))
			return
		case side.runs < side.all:
			c.regress(reasonOf(TaskMissing, d.TaskID, "is missing from %d of %d runs of the %s", side.all-side.runs,
				side.all, side.name))
			return
		}
	}
}

func (c *comparer) notFinite(p pair) {
	for side, runs := range [][]format.Run{p.baseline.Runs, p.candidate.Runs} {
		if i := slices.IndexFunc(runs, func(run format.Run) bool { return !run.Finite() }); i >= 0 {
			c.regress(reasonOf(NonFiniteKind, p.id, "the %s has a number that is not finite (%s)", sides[side],
				runs[i].NonFinite()))
		}
	}
}

func (c *comparer) objectiveReason(kind ReasonKind, d Delta, more string) Reason {
	before, after := d.BaselineObjective.String(), d.CandidateObjective.String()
	return reasonOf(kind, d.TaskID, "objective %s → %s checks passed%s", before, after, more).values(before, after)
}

// checks finds tasks of which every repeated run passes fewer checks. Few runs
// come to that by chance, and the more tasks there are, the more often one does.
func (c *comparer) checks() {
	if !c.Thresholds.ObjectiveDropIsRegression || len(c.objectives) == 0 {
		return
	}
	chance := exchange(c.objectives, c.Thresholds.Shared, c.mostArrangements())
	for i, place := range c.places {
		d := c.Deltas[place]
		if d.Objective == nil || !worse(c.baseline.Scores[place].Runs, c.byID[d.TaskID].Runs) {
			continue
		}
		if p := chance.drop(i); p <= significance {
			c.regress(c.objectiveReason(ObjectiveDrop, d,
				fmt.Sprintf(", and no run of the candidate is as good as the baseline's worst (%s)", chanceText(p))))
		} else {
			c.hold("a task that may have lost checks")
			c.note(c.objectiveReason(NotSignificant, d,
				fmt.Sprintf(", which may be chance (%s); nothing is promoted", chanceText(p))))
		}
	}
}

func (c *comparer) compositeReason(kind ReasonKind, d Delta, more string) Reason {
	before, after := d.BaselineComposite.String(), d.CandidateComposite.String()
	return reasonOf(kind, d.TaskID, "composite %s → %s (%s)%s", before, after, d.Composite.Signed(), more).
		values(before, after)
}

// extras lists the tasks that the candidate alone has.
func (c *comparer) extras() {
	baseline := map[string]bool{}
	for _, d := range c.Deltas {
		if baseline[d.TaskID] {
			c.regress(reasonOf(TaskTwice, d.TaskID, "is there twice in the baseline"))
		}
		baseline[d.TaskID] = true
	}
	for _, s := range c.candidate.Scores {
		if baseline[s.TaskID] {
			continue
		}
		p := c.pair(format.Score{TaskID: s.TaskID}, s)
		d := Delta{TaskID: s.TaskID, Verdict: decision.Neutral, CandidateRuns: len(s.Runs)}
		p.fill(&d)
		c.notFinite(p)
		c.Deltas = append(c.Deltas, d)
		c.Totals.CandidateOnly = append(c.Totals.CandidateOnly, s.TaskID)
		c.note(reasonOf(CandidateOnly, s.TaskID, "is in the candidate alone, and counts for nothing"))
	}
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

// ReasonKind says which rule a reason is from.
type ReasonKind string

// The kinds of reasons. The first group is of hard regressions.
const (
	TaskMissing   ReasonKind = "task-missing"
	TaskTwice     ReasonKind = "task-twice"
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

// reasonOf is a reason of a task.
func reasonOf(kind ReasonKind, task, format string, args ...any) Reason {
	return Reason{
		Kind: kind,
		Task: task,
		Text: plain.Short(task, document.MaxShown) + ": " + fmt.Sprintf(format, args...),
	}
}

// values says what both sides of a reason are.
func (r Reason) values(before, after string) Reason {
	r.Before, r.After = before, after
	return r
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
	BaselineObjective  *format.Objective `json:"baselineObjective"`
	CandidateObjective *format.Objective `json:"candidateObjective"`
	Objective          *metric.Value     `json:"objectiveDelta"`
	Judge              *metric.Value     `json:"judgeDelta"`
	Tokens             *metric.Value     `json:"tokensDelta"`
	USD                *metric.Value     `json:"costUsdDelta"`
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
	// Shared says that the runs of a side share something that those of the other
	// do not, because the sides were not measured in turns: such runs are exchanged
	// whole, since a good hour lifts all tasks of a run.
	Shared bool
}
