package score

import (
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
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

// doubt holds back a verdict that rests on checks which cannot be compared: a
// passed check means something only beside the same check of the other side, in a
// run that came to its end.
func (c *comparer) doubt(p pair) {
	if len(p.baseline.Runs) == 0 || len(p.candidate.Runs) == 0 {
		return
	}
	c.sameChecks(p)
	for side, runs := range [2][]format.Run{p.baseline.Runs, p.candidate.Runs} {
		name := sides[side]
		if i := slices.IndexFunc(
			runs,
			func(run format.Run) bool { // the list, where there is one, contradicts the count
				passed := len(
					slices.DeleteFunc(slices.Clone(run.Checks), func(c format.CheckResult) bool { return !c.Passed }),
				)
				return run.Checks != nil && format.Passed(passed, len(run.Checks)).String() != run.Objective.String()
			},
		); i >= 0 {
			c.holdBack(ChecksMiscounted, "miscounted checks", p,
				fmt.Sprintf("run %d of the %s lists other checks than its %s passed", i+1, name, runs[i].Objective))
		}
		// A run that failed as such and passes none of its checks is a result like any other.
		if i := slices.IndexFunc(runs, func(run format.Run) bool {
			return run.Failure != "" && (run.Objective.Passed.String() != "0" || total(run) == "0")
		}); i >= 0 {
			c.holdBack(FailedRun, "a run that failed", p,
				fmt.Sprintf("run %d of the %s failed, and has %s checks passed all the same", i+1, name,
					runs[i].Objective))
		}
	}
}

// sameChecks wants every run of both sides to have the same checks: as many, and
// by the same names where they are listed.
func (c *comparer) sameChecks(p pair) {
	all := slices.Concat(p.baseline.Runs, p.candidate.Runs)
	first := all[0]
	listed := slices.DeleteFunc(slices.Clone(all), func(run format.Run) bool { return run.Checks == nil })
	switch {
	case slices.ContainsFunc(all, func(run format.Run) bool { return !run.Objective.Total.Finite() }):
		// a regression already
	case checked(p.baseline.Runs) != checked(p.candidate.Runs):
		c.holdBack(ChecksOneSided, "checks on one side only", p, "has checks on one side only")
	case slices.ContainsFunc(all, func(run format.Run) bool { return total(run) != total(first) }):
		c.holdBack(ChecksDiffer, "other checks", p, "has not the same number of checks in every run of both sides")
	case slices.ContainsFunc(listed,
		func(run format.Run) bool { return !slices.Equal(checkNames(run), checkNames(listed[0])) }):
		c.holdBack(ChecksDiffer, "other checks", p, "has not the same checks in every run of both sides")
	}
}

// checked reports whether any run has checks.
func checked(runs []format.Run) bool {
	return slices.ContainsFunc(runs, func(run format.Run) bool { return total(run) != "0" })
}

// holdBack keeps the verdict at most neutral because of a task.
func (c *comparer) holdBack(kind ReasonKind, why string, p pair, text string) {
	c.hold(why)
	c.note(reasonOf(kind, p.id, "%s; nothing is promoted", text).
		values(p.beforeObjective.String(), p.afterObjective.String()))
}

func total(run format.Run) string { return run.Objective.Total.String() }

// checkNames are the checks of a run in a fixed order.
func checkNames(run format.Run) []string {
	names := make([]string, len(run.Checks))
	for i, check := range run.Checks {
		names[i] = string(check.Kind) + " " + check.Name
	}
	slices.Sort(names)
	return names
}

// judge decides whether the judge of a task counts. It must have answered in
// every run of both sides, as the same model; when it answered in most runs of
// one side only, or as another model, the verdict is at most neutral too.
func (c *comparer) judge(before, after format.Score) (drop bool) {
	if len(before.Runs) == 0 || len(after.Runs) == 0 {
		return false
	}
	answered, made := [2]int{judged(before.Runs), judged(after.Runs)}, [2]int{len(before.Runs), len(after.Runs)}
	ofRuns := func(side int) string { return fmt.Sprintf("%d/%d", answered[side], made[side]) }
	mostly := func(side int) bool { return 2*answered[side] >= made[side] }
	was, is := judgeOf(before.Runs), judgeOf(after.Runs)
	switch {
	case answered == [2]int{}:
		return false
	case answered[0] == 0 || answered[1] == 0, mostly(0) != mostly(1):
		c.hold("a judge on one side only")
		c.note(reasonOf(JudgeOneSided, before.TaskID, "the judge answered in %d of %d baseline runs and in %d of %d "+
			"candidate runs; it is left out on both sides, and nothing is promoted", answered[0], made[0], answered[1],
			made[1]).values(ofRuns(0), ofRuns(1)))
	case was != "" && is != "" && was != is:
		c.hold("two judges")
		c.note(
			reasonOf(JudgeDiffers, before.TaskID, "two judges, %s and %s; they are left out, and nothing is promoted",
				plain.Short(was, document.MaxShown), plain.Short(is, document.MaxShown)).values(was, is),
		)
	case answered != made:
		c.note(reasonOf(JudgeIncomplete, before.TaskID,
			"the judge did not answer in every run; it is left out on both sides").values(ofRuns(0), ofRuns(1)))
	default:
		return false
	}
	return true
}

func judged(runs []format.Run) int {
	count := 0
	for _, run := range runs {
		if run.Judge != nil {
			count++
		}
	}
	return count
}

// judgeOf names the models that judged, "" when one is not known.
func judgeOf(runs []format.Run) string {
	name, several := "", false
	for _, run := range runs {
		switch {
		case run.Judge == nil:
		case run.Judge.Model == "":
			return ""
		case name == "":
			name = run.Judge.Model
		case name != run.Judge.Model:
			several = true
		}
	}
	if several {
		return "several models"
	}
	return name
}
