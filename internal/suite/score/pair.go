package score

import (
	"slices"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/format"
)

// pair is one task on both sides.
type pair struct {
	id                  string
	baseline, candidate format.Score
	// before and after are the composites of the runs; nil when one of them
	// could not be computed, or there is no run.
	before, after                   []metric.Value
	beforeObjective, afterObjective format.Objective
}

// pair brings the two sides of a task to where they can be compared: a judge
// that answered on one side only is dropped on both.
func (c *comparer) pair(before, after format.Score) pair {
	p := pair{id: before.TaskID, baseline: before, candidate: after}
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
	d.Judge = difference(meanOf(p.baseline.Runs, judgeScore), meanOf(p.candidate.Runs, judgeScore))
	d.Tokens = difference(meanOf(p.baseline.Runs, tokensOf), meanOf(p.candidate.Runs, tokensOf))
	d.USD = difference(meanOf(p.baseline.Runs, usdOf), meanOf(p.candidate.Runs, usdOf))
}

// Side adds up one side over the tasks of the baseline. Values are sums over
// all runs; nil when one of them is unknown or not finite.
type Side struct {
	ConfigLabel string        `json:"configLabel"`
	Runs        int           `json:"runs"`
	Passed      *metric.Value `json:"passed"`
	Total       *metric.Value `json:"total"`
	// Composite is the sum of the tasks' composites, each the mean of its runs.
	Composite *metric.Value `json:"composite"`
	Cost      format.Cost   `json:"cost"`
}

func newSide(o format.SuiteOutcome) Side {
	return Side{
		ConfigLabel: o.ConfigLabel, Runs: o.Runs(),
		Passed: new(metric.Value), Total: new(metric.Value), Composite: new(metric.Value),
		Cost: format.Cost{
			Tokens: new(metric.Number), ToolCalls: new(metric.Number), Steps: new(metric.Number),
			WallClockMs: new(metric.Number), USD: new(metric.Number),
		},
	}
}

// add counts one task in; without a run it adds nothing.
func (s *Side) add(runs []format.Run, composite *metric.Value) {
	if len(runs) == 0 {
		return
	}
	s.Composite = plus(s.Composite, composite)
	for _, run := range runs {
		s.Passed, s.Total = plus(s.Passed, finite(run.Objective.Passed)), plus(s.Total, finite(run.Objective.Total))
		s.Cost = s.Cost.Plus(run.Cost)
	}
}

func plus(a, b *metric.Value) *metric.Value {
	if a == nil || b == nil {
		return nil
	}
	return new(a.Add(*b))
}

func finite(n metric.Number) *metric.Value {
	if value, ok := n.Value(); ok {
		return &value
	}
	return nil
}

// worse reports whether no candidate run passes as many checks, or as large a part of
// them, as the worst baseline run. The numbers of all of them are finite.
func worse(before, after []format.Run) bool {
	below := func(of func(format.Run) metric.Value) bool {
		return !slices.ContainsFunc(after, func(a format.Run) bool {
			return slices.ContainsFunc(before, func(b format.Run) bool { return of(a).Cmp(of(b)) >= 0 })
		})
	}
	return below(passRate) || below(func(run format.Run) metric.Value {
		passed, _ := run.Objective.Passed.Value()
		return passed
	})
}

func passRate(run format.Run) metric.Value {
	rate, _ := run.Objective.Rate()
	return rounded(rate)
}

// rates are the objectives of runs in whole millionths.
func rates(runs []format.Run) []int64 {
	list := make([]metric.Value, len(runs))
	for i, run := range runs {
		list[i] = passRate(run)
	}
	return millionths(list)
}
