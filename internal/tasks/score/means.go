package score

import (
	"math/big"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/tasks/format"
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
	sum := new(big.Rat)
	for _, v := range values {
		sum.Add(sum, v.Rat())
	}
	return new(rounded(sum.Quo(sum, big.NewRat(int64(len(values)), 1))))
}

func rateOf(o format.Objective, runs []format.Run) *metric.Value {
	rate, ok := o.Rate()
	if !ok || len(runs) == 0 {
		return nil
	}
	value := rounded(rate)
	return &value
}

func meanJudge(runs []format.Run) *metric.Value {
	var list []metric.Value
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

// meanOf returns the mean of one cost; nil when a run does not know it.
func meanOf(runs []format.Run, of func(format.Cost) *metric.Number) *metric.Value {
	var list []metric.Value
	for _, run := range runs {
		value, ok := metric.Known(of(run.Cost))
		if !ok {
			return nil
		}
		list = append(list, value)
	}
	return mean(list)
}

func tokensOf(c format.Cost) *metric.Number { return c.Tokens }

func usdOf(c format.Cost) *metric.Number { return c.USD }

// sumOf adds the checks of several runs up.
func sumOf(runs []format.Run) format.Objective {
	sum := format.Objective{Passed: metric.NumberFromInt(0), Total: metric.NumberFromInt(0)}
	for _, run := range runs {
		sum.Passed, sum.Total = sum.Passed.Plus(run.Objective.Passed), sum.Total.Plus(run.Objective.Total)
	}
	return sum
}
