package score

import (
	"math/big"
	"slices"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/format"
)

// compositeOf returns clamp(base + adjustment, 0, 1) with six decimals, where
//
//	base       = (0.6·objective + 0.4·judge) / (0.6 + 0.4)
//	objective  = passed/total, 1 when there are no checks
//	adjustment = see adjustment
//
// Without a judge its term leaves numerator and denominator; weight replaces
// the judge's 0.4 unless it is nil. It is not ok when a number that it needs is not
// finite.
func compositeOf(run format.Run, reference costs, weight *metric.Value, tolerance metric.Value) (metric.Value, bool) {
	base, ok := baseOf(run, weight)
	if !ok {
		return metric.Value{}, false
	}
	base.Add(base, adjustment(costsOf(run.Cost), reference, tolerance))
	return rounded(clampTo(base, 0, 1)), true
}

// Base returns the composite of a run without its cost, with six decimals.
func Base(run format.Run, weight *metric.Value) (base metric.Value, ok bool) {
	r, ok := baseOf(run, weight)
	if !ok {
		return metric.Value{}, false
	}
	return rounded(r), true
}

func baseOf(run format.Run, weight *metric.Value) (*big.Rat, bool) {
	base, ok := run.Objective.Rate()
	if !ok || run.Judge == nil {
		return base, ok
	}
	judge, ok := run.Judge.Score.Value()
	if !ok {
		return nil, false
	}
	objectivePart, judgePart := big.NewRat(6, 10), big.NewRat(4, 10)
	if weight != nil {
		judgePart = weight.Rat()
	}
	sum := new(big.Rat).Add(objectivePart, judgePart)
	base.Mul(base, objectivePart)
	base.Add(base, judgePart.Mul(judgePart, judge.Rat()))
	return base.Quo(base, sum), true
}

// adjustment returns 0.1 · clamp(1 − mean(actual/reference), −1, 1) over the
// costs that are known and finite on both sides, or 0. A ratio
// within 1 ± tolerance counts as 1; a reference ≤ 0 gives the ratio 1 when the
// actual cost is ≤ 0 too, else 2.
func adjustment(actual, reference costs, tolerance metric.Value) *big.Rat {
	var ratios []*big.Rat
	for i, spent := range actual {
		if spent != nil && reference[i] != nil {
			ratios = append(ratios, ratio(spent, reference[i], tolerance.Rat()))
		}
	}
	if ratios == nil {
		return new(big.Rat)
	}
	saved := clampTo(minus(big.NewRat(1, 1), metric.MeanOf(ratios)), -1, 1)
	return saved.Mul(saved, big.NewRat(1, 10))
}

func ratio(actual, reference, tolerance *big.Rat) *big.Rat {
	one := big.NewRat(1, 1)
	if reference.Sign() <= 0 {
		if actual.Sign() <= 0 {
			return one
		}
		return big.NewRat(2, 1)
	}
	r := new(big.Rat).Quo(actual, reference)
	if off := minus(r, one); off.Abs(off).Cmp(tolerance) <= 0 {
		return one
	}
	return r
}

// costs are the signals as exact numbers; nil is what is not known.
type costs [5]*big.Rat

func costsOf(c format.Cost) costs {
	var list costs
	for i, signal := range c.Signals() {
		if value, ok := metric.Known(signal); ok {
			list[i] = value.Rat()
		}
	}
	return list
}

// difference returns after − before; nil when one is.
func difference(before, after *metric.Value) *metric.Value {
	if before == nil || after == nil {
		return nil
	}
	return new(rounded(minus(after.Rat(), before.Rat())))
}

// mean returns the mean with six decimals; nil of nothing.
func mean(values []metric.Value) *metric.Value {
	if len(values) == 0 {
		return nil
	}
	list := make([]*big.Rat, len(values))
	for i, v := range values {
		list[i] = v.Rat()
	}
	return new(rounded(metric.MeanOf(list)))
}

func rateOf(o format.Objective, runs []format.Run) *metric.Value {
	rate, ok := o.Rate()
	if !ok || len(runs) == 0 {
		return nil
	}
	value := rounded(rate)
	return &value
}

// meanOf returns the mean of one number of each run; nil when a run does not know it.
func meanOf(runs []format.Run, of func(format.Run) *metric.Number) *metric.Value {
	var list []metric.Value
	for _, run := range runs {
		value, ok := metric.Known(of(run))
		if !ok {
			return nil
		}
		list = append(list, value)
	}
	return mean(list)
}

func judgeScore(run format.Run) *metric.Number {
	if run.Judge == nil {
		return nil
	}
	return &run.Judge.Score
}

func tokensOf(run format.Run) *metric.Number { return run.Cost.Tokens }

func usdOf(run format.Run) *metric.Number { return run.Cost.USD }

// sumOf adds the checks of several runs up.
func sumOf(runs []format.Run) format.Objective {
	sum := format.Objective{Passed: metric.NumberFromInt(0), Total: metric.NumberFromInt(0)}
	for _, run := range runs {
		sum.Passed, sum.Total = sum.Passed.Plus(run.Objective.Passed), sum.Total.Plus(run.Objective.Total)
	}
	return sum
}

// decimals is how far composites, rates, deltas and sums are told apart.
const decimals = 6

// rounded returns r with six decimals, halves away from zero.
func rounded(r *big.Rat) metric.Value {
	return metric.MustValue(r.FloatString(decimals))
}

func minus(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }

// clampTo returns r, but not below low and not above high.
func clampTo(r *big.Rat, low, high int64) *big.Rat {
	if floor := big.NewRat(low, 1); r.Cmp(floor) < 0 {
		return floor
	}
	if ceiling := big.NewRat(high, 1); r.Cmp(ceiling) > 0 {
		return ceiling
	}
	return r
}

// millionths returns composites as whole millionths.
func millionths(values []metric.Value) []int64 {
	list := make([]int64, len(values))
	for i, v := range values {
		list[i] = new(big.Rat).Mul(v.Rat(), big.NewRat(1_000_000, 1)).Num().Int64()
	}
	return list
}

// Metric is what the loop of a program with `evaluation: tasks` records: the
// mean base over all tasks, and over the runs of each. ok is false without a
// task, and when a number in it is not finite.
func Metric(o format.SuiteOutcome) (key metric.Value, ok bool) {
	if len(o.Scores) == 0 {
		return metric.Value{}, false
	}
	var tasks []*big.Rat
	for _, s := range o.Scores {
		var runs []*big.Rat
		for _, run := range s.Runs {
			base, finite := baseOf(run, s.JudgeWeight)
			if !finite {
				return metric.Value{}, false
			}
			runs = append(runs, base)
		}
		if len(runs) == 0 {
			return metric.Value{}, false
		}
		tasks = append(tasks, metric.MeanOf(runs))
	}
	return rounded(metric.MeanOf(tasks)), true
}

// meanCosts returns the mean of each cost over the runs, of those costs alone
// that all the runs know, and all the others too: what one run does not know
// tells nothing about the difference of two sides.
func meanCosts(runs, others []format.Run) costs {
	var known [len(costs{})][]*big.Rat
	all := slices.Concat(runs, others)
	for k, run := range all {
		for i, value := range costsOf(run.Cost) {
			if value != nil && len(known[i]) == k {
				known[i] = append(known[i], value)
			}
		}
	}
	var means costs
	for i, values := range known {
		if len(runs) > 0 && len(values) == len(all) {
			means[i] = metric.MeanOf(values[:len(runs)])
		}
	}
	return means
}
