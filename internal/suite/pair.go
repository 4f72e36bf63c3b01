package suite

import (
	"fmt"
	"math/big"

	"github.com/org/autoloop/internal/score"
)

// pair is one task on both sides.
type pair struct {
	id, name            string
	baseline, candidate Score
	// before and after are the composites of the runs; nil when one of them
	// could not be computed, or there is no run.
	before, after                   []score.Value
	beforeObjective, afterObjective Objective
}

// pair brings the two sides of a task to where they can be compared: a judge
// that answered on one side only is dropped on both.
func (c *comparer) pair(before, after Score) pair {
	p := pair{id: before.TaskID, name: visible(before.TaskID, maxShown), baseline: before, candidate: after}
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

func (c *comparer) composites(runs []Run, reference costs, weight *score.Value, drop bool) []score.Value {
	var list []score.Value
	for _, run := range runs {
		if !run.finite() {
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

// judge decides whether the judge of a task counts. It must have answered in
// every run of both sides, as the same model; when it answered in most runs of
// one side only, or as another model, the verdict is at most neutral too.
func (c *comparer) judge(before, after Score) (drop bool) {
	if len(before.Runs) == 0 || len(after.Runs) == 0 {
		return false
	}
	answeredBefore, answeredAfter := judged(before.Runs), judged(after.Runs)
	name := visible(before.TaskID, maxShown)
	switch {
	case answeredBefore == 0 && answeredAfter == 0:
		return false
	case 2*answeredBefore >= len(before.Runs) != (2*answeredAfter >= len(after.Runs)):
		c.held = true
		c.note(Reason{
			Kind: JudgeOneSided, Task: before.TaskID,
			Before: fmt.Sprintf("%d/%d", answeredBefore, len(before.Runs)), After: fmt.Sprintf("%d/%d", answeredAfter, len(after.Runs)),
			Text: fmt.Sprintf("%s: the judge answered in %d of %d baseline runs and in %d of %d candidate runs; it is left out on both sides, and nothing is promoted", name, answeredBefore, len(before.Runs), answeredAfter, len(after.Runs)),
		})
		return true
	case judgeOf(before.Runs) != "" && judgeOf(after.Runs) != "" && judgeOf(before.Runs) != judgeOf(after.Runs):
		c.held = true
		c.note(Reason{
			Kind: JudgeDiffers, Task: before.TaskID, Before: judgeOf(before.Runs), After: judgeOf(after.Runs),
			Text: fmt.Sprintf("%s: two judges, %s and %s; they are left out, and nothing is promoted", name, visible(judgeOf(before.Runs), maxShown), visible(judgeOf(after.Runs), maxShown)),
		})
		return true
	case answeredBefore < len(before.Runs) || answeredAfter < len(after.Runs):
		c.note(Reason{
			Kind: JudgeIncomplete, Task: before.TaskID,
			Before: fmt.Sprintf("%d/%d", answeredBefore, len(before.Runs)), After: fmt.Sprintf("%d/%d", answeredAfter, len(after.Runs)),
			Text: name + ": the judge did not answer in every run; it is left out on both sides",
		})
		return true
	}
	return false
}

func judged(runs []Run) int {
	count := 0
	for _, run := range runs {
		if run.Judge != nil {
			count++
		}
	}
	return count
}

// judgeOf names the models that judged, "" when one is not known.
func judgeOf(runs []Run) string {
	name := ""
	for _, run := range runs {
		switch {
		case run.Judge == nil || run.Judge.Model == name:
		case run.Judge.Model == "":
			return ""
		case name == "":
			name = run.Judge.Model
		default:
			return "several models"
		}
	}
	return name
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
		d.Composite = difference(d.BaselineComposite, &score.Value{})
	default:
		d.Composite = difference(d.BaselineComposite, d.CandidateComposite)
	}
	d.Objective = difference(rateOf(p.beforeObjective, p.baseline.Runs), rateOf(p.afterObjective, p.candidate.Runs))
	d.Judge = difference(meanJudge(p.baseline.Runs), meanJudge(p.candidate.Runs))
	d.USD = difference(meanUSD(p.baseline.Runs), meanUSD(p.candidate.Runs))
}

// difference returns after − before; nil when one is.
func difference(before, after *score.Value) *score.Value {
	if before == nil || after == nil {
		return nil
	}
	delta := rounded(minus(after.Rat(), before.Rat()))
	return &delta
}

// mean returns the mean with six decimals; nil of nothing.
func mean(values []score.Value) *score.Value {
	if len(values) == 0 {
		return nil
	}
	sum := new(big.Rat)
	for _, v := range values {
		sum.Add(sum, v.Rat())
	}
	m := rounded(sum.Quo(sum, big.NewRat(int64(len(values)), 1)))
	return &m
}

func rateOf(o Objective, runs []Run) *score.Value {
	rate, ok := o.rate()
	if !ok || len(runs) == 0 {
		return nil
	}
	value := rounded(rate)
	return &value
}

func meanJudge(runs []Run) *score.Value {
	var list []score.Value
	for _, run := range runs {
		if run.Judge == nil {
			return nil
		}
		value, ok := run.Judge.Score.Value()
		if !ok {
			return nil
		}
		list = append(list, value)
	}
	return mean(list)
}

func meanUSD(runs []Run) *score.Value {
	var list []score.Value
	for _, run := range runs {
		value, ok := known(run.Cost.USD)
		if !ok {
			return nil
		}
		list = append(list, value)
	}
	return mean(list)
}

// sumOf adds the checks of several runs up.
func sumOf(runs []Run) Objective {
	sum := Objective{Passed: Int(0), Total: Int(0)}
	for _, run := range runs {
		sum.Passed, sum.Total = sum.Passed.plus(run.Objective.Passed), sum.Total.plus(run.Objective.Total)
	}
	return sum
}

// standing is how well a run did on its checks.
type standing struct {
	passed score.Value
	rate   *big.Rat
}

// extremes returns the fewest and the most checks passed, and the lowest and
// the highest rate, of runs whose numbers are finite.
func extremes(runs []Run) [2]standing {
	var worst, best standing
	for i, run := range runs {
		passed, _ := run.Objective.Passed.Value()
		rate, _ := run.Objective.rate()
		rate = rounded(rate).Rat()
		if i == 0 {
			worst, best = standing{passed, rate}, standing{passed, rate}
			continue
		}
		worst = standing{lesser(worst.passed, passed, -1), lesserRat(worst.rate, rate, -1)}
		best = standing{lesser(best.passed, passed, 1), lesserRat(best.rate, rate, 1)}
	}
	return [2]standing{worst, best}
}

func lesser(a, b score.Value, sign int) score.Value {
	if b.Cmp(a) == sign {
		return b
	}
	return a
}

func lesserRat(a, b *big.Rat, sign int) *big.Rat {
	if b.Cmp(a) == sign {
		return b
	}
	return a
}

// millionths returns composites as whole millionths.
func millionths(values []score.Value) []int64 {
	list := make([]int64, len(values))
	for i, v := range values {
		list[i] = new(big.Rat).Mul(v.Rat(), big.NewRat(1_000_000, 1)).Num().Int64()
	}
	return list
}
