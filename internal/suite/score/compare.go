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
