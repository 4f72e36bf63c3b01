package tasks

import (
	"math/big"
	"slices"

	"github.com/org/autoloop/internal/lists"
	"github.com/org/autoloop/internal/metric"
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
func (c *comparer) composites(runs []Run, reference costs, weight *metric.Value, drop bool) []metric.Value {
	var list []metric.Value
	for _, run := range runs {
		if run.NonFinite != "" {
			return nil
		}
		if run.Composite != nil && !drop {
			list = append(list, rounded(run.Composite.Rat()))
			continue
		}
		if drop {
			run.Judge = nil
		}
		base := baseOf(run, weight)
		base.Add(base, c.adjustment(run, reference))
		list = append(list, rounded(clampTo(base, 0, 1)))
	}
	return list
}

func baseOf(run Run, weight *metric.Value) *big.Rat {
	base := run.Objective.Rate()
	if run.Judge == nil {
		return base
	}
	objectivePart, judgePart := big.NewRat(6, 10), big.NewRat(4, 10)
	if weight != nil {
		judgePart = weight.Rat()
	}
	sum := new(big.Rat).Add(objectivePart, judgePart)
	base.Mul(base, objectivePart)
	base.Add(base, judgePart.Mul(judgePart, run.Judge.Score.Rat()))
	return base.Quo(base, sum)
}

// adjustment returns 0.1 · clamp(1 − mean(actual/reference), −1, 1) over the
// costs that are known and finite on both sides, or 0. A ratio
// within 1 ± tolerance counts as 1; a reference ≤ 0 gives the ratio 1 when the
// actual cost is ≤ 0 too, else 2.
func (c *comparer) adjustment(run Run, reference costs) *big.Rat {
	var ratios []*big.Rat
	for i, usual := range reference {
		if spent := c.cost(i)(run); spent != nil && usual != nil {
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

// cost is one of the costs of a run, nil when it is not known.
func (c *comparer) cost(i int) func(Run) *big.Rat {
	return func(run Run) *big.Rat {
		if c.timeless {
			run.Cost.WallClockMs = nil
		}
		return ratOf(*Places(&run.Cost)[i])
	}
}

// ratOf is a value as an exact number; nil when it is.
func ratOf(v *metric.Value) *big.Rat {
	if v == nil {
		return nil
	}
	return v.Rat()
}

// meanBy is the mean of a number of each; nil of none, and when one is not known.
func meanBy[T any](list []T, number func(T) *big.Rat) *big.Rat {
	numbers := lists.Map(list, number)
	if len(numbers) == 0 || slices.Contains(numbers, nil) {
		return nil
	}
	return metric.MeanOf(numbers)
}

// difference returns after − before, which have six decimals; nil when one is.
func difference(before, after *metric.Value) *metric.Value {
	if before == nil || after == nil {
		return nil
	}
	return new(after.Sub(*before))
}

// mean is meanBy with six decimals.
func mean[T any](list []T, number func(T) *big.Rat) *metric.Value {
	value := meanBy(list, number)
	if value == nil {
		return nil
	}
	return new(rounded(value))
}

// sumOf adds the checks of several runs up; nil of no run, and when a number of one is not finite.
func sumOf(runs []Run) *Objective {
	var sum Objective
	for _, run := range runs {
		if run.NonFinite != "" {
			return nil
		}
		sum.Passed, sum.Total = sum.Passed+run.Objective.Passed, sum.Total+run.Objective.Total
	}
	if len(runs) == 0 {
		return nil
	}
	return &sum
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

// Metric is what the loop of a program with `evaluation: tasks` records: the mean base over all
// tasks, and over the runs of each; nil without a task, and when a number in it is not finite.
func Metric(o SuiteOutcome) *metric.Value {
	return mean(o.Scores, func(s Score) *big.Rat {
		return meanBy(s.Runs, func(run Run) *big.Rat {
			if run.NonFinite != "" {
				return nil
			}
			return baseOf(run, s.JudgeWeight)
		})
	})
}

// meanCosts returns the mean of each cost over the runs of the baseline, of those costs
// alone that all the runs of both sides know: what one run does not know tells nothing
// about the difference of two sides.
func (c *comparer) meanCosts(runs [2][]Run) (means costs) {
	for i := range means {
		if len(runs[1]) == 0 || meanBy(runs[1], c.cost(i)) != nil {
			means[i] = meanBy(runs[0], c.cost(i))
		}
	}
	return means
}
