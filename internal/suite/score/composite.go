package score

import (
	"math/big"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/format"
)

// composites are those of a side's runs, nil when one cannot be computed:
// clamp(base + adjustment, 0, 1) with six decimals, where
//
//	base       = (0.6·objective + 0.4·judge) / (0.6 + 0.4)
//	objective  = passed/total, 1 when there are no checks
//	adjustment = see adjustment
//
// Without a judge its term leaves numerator and denominator; weight replaces
// the judge's 0.4 unless it is nil. One that a run has of its own holds, unless the judge
// is dropped.
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
		base, _ := baseOf(run, weight)
		base.Add(base, c.adjustment(run, reference))
		list = append(list, rounded(clampTo(base, 0, 1)))
	}
	return list
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
func (c *comparer) adjustment(run format.Run, reference costs) *big.Rat {
	var ratios []*big.Rat
	for i, usual := range reference {
		if spent, ok := c.cost(i)(run); ok && usual != nil {
			ratios = append(ratios, ratio(spent, usual, c.Thresholds.CostTolerance.Rat()))
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

// cost is one of the signals of a run.
func (c *comparer) cost(i int) func(format.Run) (*big.Rat, bool) {
	return func(run format.Run) (*big.Rat, bool) {
		if c.timeless {
			run.Cost.WallClockMs = nil
		}
		value, ok := metric.Known(run.Cost.Signals()[i])
		return value.Rat(), ok
	}
}

// meanBy is the mean of a number of each; ok is false of none, and when one is not known.
func meanBy[T any](list []T, number func(T) (*big.Rat, bool)) (mean *big.Rat, ok bool) {
	var numbers []*big.Rat
	for _, one := range list {
		value, known := number(one)
		if !known {
			return nil, false
		}
		numbers = append(numbers, value)
	}
	if len(numbers) == 0 {
		return nil, false
	}
	return metric.MeanOf(numbers), true
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
	value, ok := meanBy(values, func(v metric.Value) (*big.Rat, bool) { return v.Rat(), true })
	if !ok {
		return nil
	}
	return new(rounded(value))
}

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

// Metric is what the loop of a program with `evaluation: tasks` records: the
// mean base over all tasks, and over the runs of each. ok is false without a
// task, and when a number in it is not finite.
func Metric(o format.SuiteOutcome) (key metric.Value, ok bool) {
	value, ok := meanBy(o.Scores, func(s format.Score) (*big.Rat, bool) {
		return meanBy(s.Runs, func(run format.Run) (*big.Rat, bool) { return baseOf(run, s.JudgeWeight) })
	})
	if ok {
		key = rounded(value)
	}
	return key, ok
}

// meanCosts returns the mean of each cost over the runs of the baseline, of those costs
// alone that all the runs of both sides know: what one run does not know tells nothing
// about the difference of two sides.
func (c *comparer) meanCosts(runs [2][]format.Run) (means costs) {
	for i := range means {
		if _, known := meanBy(runs[1], c.cost(i)); known || len(runs[1]) == 0 {
			means[i], _ = meanBy(runs[0], c.cost(i))
		}
	}
	return means
}
