package score

import (
	"math/big"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/format"
)

// The weights of the composite score of one task.
func objectiveWeight() *big.Rat { return big.NewRat(6, 10) }
func judgeWeight() *big.Rat     { return big.NewRat(4, 10) }
func costWeight() *big.Rat      { return big.NewRat(1, 10) }

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
	objectivePart, judgePart := objectiveWeight(), judgeWeight()
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
	return saved.Mul(saved, costWeight())
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
