package score

import (
	"math/big"
	"slices"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/format"
)

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
