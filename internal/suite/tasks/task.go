package tasks

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/suite"
)

// task is one task, of the baseline and of the candidate.
type task struct {
	Delta
	runs [2][]Run
	// composites are those of the runs; nil when one could not be computed, or there is
	// no run.
	composites  [2][]metric.Value
	regressions []Reason
}

// both reports whether the task was run on both sides.
func (t *task) both() bool { return len(t.runs[0]) > 0 && len(t.runs[1]) > 0 }

// reason is one of the task, with what both sides are, "" for nothing.
func (t *task) reason(kind ReasonKind, before, after, format string, args ...any) Reason {
	return Reason{
		Kind: kind, Task: t.TaskID, Before: before, After: after,
		Text: plain.Short(t.TaskID, suite.MaxShown) + ": " + fmt.Sprintf(format, args...),
	}
}

func (t *task) regress(r Reason) { t.regressions = append(t.regressions, r) }

// task compares one task of the baseline.
func (c *comparer) task(before, after Score) {
	t := c.add(before, after)
	for _, side := range []int{1, 0} {
		made, all := len(t.runs[side]), c.outcomes[side].Runs()
		if made == 0 {
			t.regress(t.reason(TaskMissing, counts(t.BaselineObjective), "", "is missing from the %s", Sides[side]))
			break
		}
		if made < all {
			t.regress(t.reason(TaskMissing, "", "", "is missing from %d of %d runs of the %s", all-made, all, Sides[side]))
			break
		}
	}
	t.notFinite()
	if !c.repeated && c.Thresholds.ObjectiveDropIsRegression && t.Objective != nil && t.both() && t.worse() {
		t.regress(t.objectiveReason(ObjectiveDrop, ""))
	}
	if t.both() && t.BaselineObjective != nil && t.CandidateObjective != nil {
		c.doubt(t)
	}
	c.Totals.Baseline.add(t.runs[0], t.BaselineComposite)
	c.Totals.Candidate.add(t.runs[1], t.CandidateComposite)
	if t.Composite != nil && t.Composite.Sign() > 0 && t.both() {
		c.Improvements = append(c.Improvements, t.compositeReason(CompositeGain, ""))
	}
}

// add brings the two sides of a task to where they can be compared, and notes what they
// came to. A judge that answered on one side only is dropped on both.
func (c *comparer) add(before, after Score) *task {
	t := &task{runs: [2][]Run{before.Runs, after.Runs}, Delta: Delta{
		TaskID: before.TaskID, Verdict: decision.Neutral,
		BaselineRuns: len(before.Runs), CandidateRuns: len(after.Runs),
	}}
	c.tasks = append(c.tasks, t)
	weight := before.JudgeWeight
	if len(before.Runs) == 0 {
		weight = after.JudgeWeight
	}
	drop, reference := c.dropsJudge(t), c.meanCosts(t.runs)
	for side := range t.runs {
		t.composites[side] = c.composites(t.runs[side], reference, weight, drop)
	}
	t.BaselineComposite, t.CandidateComposite = mean(t.composites[0], metric.Value.Rat),
		mean(t.composites[1], metric.Value.Rat)
	t.Composite = difference(t.BaselineComposite, t.CandidateComposite)
	if len(after.Runs) == 0 { // a task that is lost counts 0
		t.Composite = difference(t.BaselineComposite, &metric.Value{})
	}
	t.BaselineObjective, t.CandidateObjective = sumOf(t.runs[0]), sumOf(t.runs[1])
	if was, is := t.BaselineObjective, t.CandidateObjective; was != nil && is != nil {
		t.Objective = difference(new(rounded(was.Rate())), new(rounded(is.Rate())))
	}
	t.Judge = t.change(func(run Run) *metric.Value {
		if run.Judge == nil || run.NonFinite != "" {
			return nil
		}
		return &run.Judge.Score
	})
	t.Tokens = t.change(func(run Run) *metric.Value { return run.Cost.Tokens })
	t.USD = t.change(func(run Run) *metric.Value { return run.Cost.USD })
	return t
}

// counts is an objective as text, "" for none.
func counts(o *Objective) string {
	if o == nil {
		return ""
	}
	return o.String()
}

func (t *task) objectiveReason(kind ReasonKind, more string) Reason {
	before, after := t.BaselineObjective.String(), t.CandidateObjective.String()
	return t.reason(kind, before, after, "objective %s → %s checks passed%s", before, after, more)
}

func (t *task) compositeReason(kind ReasonKind, more string) Reason {
	before, after := t.BaselineComposite.String(), t.CandidateComposite.String()
	return t.reason(kind, before, after, "composite %s → %s (%s)%s", before, after, t.Composite.Signed(), more)
}

// change is by how much the mean of one number of the runs differs; nil when a run does
// not know it.
func (t *task) change(of func(Run) *metric.Value) *metric.Value {
	number := func(run Run) *big.Rat { return ratOf(of(run)) }
	return difference(mean(t.runs[0], number), mean(t.runs[1], number))
}

func (t *task) notFinite() {
	for side, runs := range t.runs {
		if i := slices.IndexFunc(runs, func(run Run) bool { return run.NonFinite != "" }); i >= 0 {
			t.regress(t.reason(NonFiniteKind, "", "", "the %s has a number that is not finite (%s)", Sides[side],
				runs[i].NonFinite))
		}
	}
}

// worse reports whether no candidate run passes as many checks, or as large a part of
// them, as the worst baseline run. The numbers of all of them are finite.
func (t *task) worse() bool {
	below := func(of func(Run) metric.Value) bool {
		return !slices.ContainsFunc(t.runs[1], func(a Run) bool {
			return slices.ContainsFunc(t.runs[0], func(b Run) bool { return of(a).Cmp(of(b)) >= 0 })
		})
	}
	return below(passRate) || below(func(run Run) metric.Value {
		return metric.FromInt(int64(run.Objective.Passed))
	})
}

func passRate(run Run) metric.Value { return rounded(run.Objective.Rate()) }

// doubt holds back a verdict that rests on checks which cannot be compared: a
// passed check means something only beside the same check of the other side, in a
// run that came to its end.
func (c *comparer) doubt(t *task) {
	c.sameChecks(t)
	for side, runs := range t.runs {
		doubt := func(kind ReasonKind, why, text string, in func(Run) bool) {
			if i := slices.IndexFunc(runs, in); i >= 0 {
				c.holdBack(kind, why, t, fmt.Sprintf(text, i+1, Sides[side], runs[i].Objective))
			}
		}
		doubt(ChecksMiscounted, "miscounted checks", "run %d of the %s lists other checks than its %s passed",
			miscounted)
		// A run that failed as such and passes none of its checks is a result like any other.
		doubt(FailedRun, "a run that failed", "run %d of the %s failed, and has %s checks passed all the same",
			func(run Run) bool {
				return run.Failure != "" && (run.Objective.Passed != 0 || run.Objective.Total == 0)
			})
	}
}

// miscounted reports whether the list of a run's checks, where there is one, contradicts
// the count.
func miscounted(run Run) bool {
	return run.Checks != nil && Counted(run.Checks) != run.Objective
}

// sameChecks wants every run of both sides to have the same checks: as many, and
// by the same names where they are listed.
func (c *comparer) sameChecks(t *task) {
	all := slices.Concat(t.runs[0], t.runs[1])
	checked := func(side int) bool {
		return slices.ContainsFunc(t.runs[side], func(run Run) bool { return run.Objective.Total != 0 })
	}
	listed := slices.DeleteFunc(slices.Clone(all), func(run Run) bool { return run.Checks == nil })
	switch {
	case checked(0) != checked(1):
		c.holdBack(ChecksOneSided, "checks on one side only", t, "has checks on one side only")
	case slices.ContainsFunc(all, func(run Run) bool { return run.Objective.Total != all[0].Objective.Total }):
		c.holdBack(ChecksDiffer, "other checks", t, "has not the same number of checks in every run of both sides")
	case slices.ContainsFunc(listed,
		func(run Run) bool { return !slices.Equal(checkNames(run), checkNames(listed[0])) }):
		c.holdBack(ChecksDiffer, "other checks", t, "has not the same checks in every run of both sides")
	}
}

// holdBack keeps the verdict at most neutral because of a task.
func (c *comparer) holdBack(kind ReasonKind, why string, t *task, text string) {
	c.hold(why, t.reason(kind, counts(t.BaselineObjective), counts(t.CandidateObjective), "%s; nothing is promoted",
		text))
}

// checkNames are the checks of a run in a fixed order.
func checkNames(run Run) []string {
	names := make([]string, len(run.Checks))
	for i, check := range run.Checks {
		names[i] = string(check.Kind) + " " + check.Name
	}
	slices.Sort(names)
	return names
}

// dropsJudge decides whether the judge of a task is left out. It must have answered in
// every run of both sides, as the same model; when it answered in most runs of
// one side only, or as another model, the verdict is at most neutral too.
func (c *comparer) dropsJudge(t *task) bool {
	if !t.both() {
		return false
	}
	var answered, made [2]int
	var mostly [2]bool
	var names, counts [2]string
	for side, runs := range t.runs {
		made[side] = len(runs)
		answered[side], names[side] = judgeOf(runs)
		mostly[side] = 2*answered[side] >= made[side]
		counts[side] = fmt.Sprintf("%d/%d", answered[side], made[side])
	}
	switch {
	case answered == [2]int{}:
		return false
	case answered[0] == 0 || answered[1] == 0, mostly[0] != mostly[1]:
		c.hold("a judge on one side only", t.reason(JudgeOneSided, counts[0], counts[1], "the judge answered in %d of %d "+
			"baseline runs and in %d of %d candidate runs; it is left out on both sides, and nothing is promoted",
			answered[0], made[0], answered[1], made[1]))
	case names[0] != "" && names[1] != "" && names[0] != names[1]:
		c.hold("two judges", t.reason(JudgeDiffers, names[0], names[1], "two judges, %s and %s; they are left out, and "+
			"nothing is promoted", plain.Short(names[0], suite.MaxShown), plain.Short(names[1], suite.MaxShown)))
	case answered != made:
		c.note(t.reason(JudgeIncomplete, counts[0], counts[1],
			"the judge did not answer in every run; it is left out on both sides"))
	default:
		return false
	}
	return true
}

// judgeOf counts the runs that were judged, and names the models that did, "" when one is
// not known.
func judgeOf(runs []Run) (count int, name string) {
	var models []string
	for _, run := range runs {
		if run.Judge != nil {
			count, models = count+1, append(models, run.Judge.Model)
		}
	}
	slices.Sort(models)
	switch models = slices.Compact(models); {
	case len(models) == 0 || models[0] == "":
		return count, ""
	case len(models) > 1:
		return count, "several models"
	}
	return count, models[0]
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
	Cost      Cost          `json:"cost"`
}

func newSide(o SuiteOutcome) Side {
	s := Side{
		ConfigLabel: o.ConfigLabel, Runs: o.Runs(),
		Passed: new(metric.Value), Total: new(metric.Value), Composite: new(metric.Value),
	}
	for _, place := range Places(&s.Cost) {
		*place = new(metric.Value)
	}
	return s
}

// add counts one task in; without a run it adds nothing.
func (s *Side) add(runs []Run, composite *metric.Value) {
	if len(runs) == 0 {
		return
	}
	s.Composite = plus(s.Composite, composite)
	for _, run := range runs {
		s.Cost = s.Cost.Plus(run.Cost)
	}
	sum := sumOf(runs)
	if sum == nil {
		s.Passed, s.Total = nil, nil
		return
	}
	s.Passed = plus(s.Passed, new(metric.FromInt(int64(sum.Passed))))
	s.Total = plus(s.Total, new(metric.FromInt(int64(sum.Total))))
}

func plus(a, b *metric.Value) *metric.Value {
	if a == nil || b == nil {
		return nil
	}
	return new(a.Add(*b))
}
