package score

import (
	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/tasks/format"
)

// pair is one task on both sides.
type pair struct {
	id, name            string
	baseline, candidate format.Score
	// before and after are the composites of the runs; nil when one of them
	// could not be computed, or there is no run.
	before, after                   []metric.Value
	beforeObjective, afterObjective format.Objective
}

// pair brings the two sides of a task to where they can be compared: a judge
// that answered on one side only is dropped on both.
func (c *comparer) pair(before, after format.Score) pair {
	p := pair{id: before.TaskID, name: plain.Short(before.TaskID, document.MaxShown), baseline: before, candidate: after}
	p.beforeObjective, p.afterObjective = sumOf(before.Runs), sumOf(after.Runs)
	drop := c.judge(before, after)
	weight := before.JudgeWeight
	if len(before.Runs) == 0 {
		weight = after.JudgeWeight
	}
	reference := meanCosts(before.Runs, after.Runs)
	p.before = c.composites(before.Runs, reference, weight, drop)
	p.after = c.composites(after.Runs, reference, weight, drop)
	return p
}

func (c *comparer) composites(runs []format.Run, reference costs, weight *metric.Value, drop bool) []metric.Value {
	var list []metric.Value
	for _, run := range runs {
		if !run.Finite() {
			return nil
		}
		if run.Composite != nil && !drop {
			given, _ := run.Composite.Value()
			list = append(list, rounded(given.Rat()))
			continue
		}
		if drop {
			run.Judge = nil
		}
		value, ok := compositeOf(run, reference, weight, c.Thresholds.CostTolerance)
		if !ok {
			return nil
		}
		list = append(list, value)
	}
	return list
}

// fill writes what the sides came to into a delta.
func (p pair) fill(d *Delta) {
	d.BaselineComposite, d.CandidateComposite = mean(p.before), mean(p.after)
	if len(p.baseline.Runs) > 0 {
		d.BaselineObjective = &p.beforeObjective
	}
	if len(p.candidate.Runs) > 0 {
		d.CandidateObjective = &p.afterObjective
	}
	switch {
	case d.BaselineComposite == nil:
	case len(p.candidate.Runs) == 0:
		d.Composite = difference(d.BaselineComposite, &metric.Value{})
	default:
		d.Composite = difference(d.BaselineComposite, d.CandidateComposite)
	}
	d.Objective = difference(rateOf(p.beforeObjective, p.baseline.Runs), rateOf(p.afterObjective, p.candidate.Runs))
	d.Judge = difference(meanJudge(p.baseline.Runs), meanJudge(p.candidate.Runs))
	d.Tokens = difference(meanOf(p.baseline.Runs, tokensOf), meanOf(p.candidate.Runs, tokensOf))
	d.USD = difference(meanOf(p.baseline.Runs, usdOf), meanOf(p.candidate.Runs, usdOf))
}
