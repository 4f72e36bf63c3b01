package score

import (
	"math/big"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/tasks/format"
)

// Metric is what the loop of a program with `evaluation: tasks` records: the
// mean base over all tasks, and over the runs of each. ok is false without a
// task, and when a number in it is not finite.
func Metric(o format.SuiteOutcome) (key metric.Value, ok bool) {
	if len(o.Scores) == 0 {
		return metric.Value{}, false
	}
	sum := new(big.Rat)
	for _, s := range o.Scores {
		if len(s.Runs) == 0 {
			return metric.Value{}, false
		}
		task := new(big.Rat)
		for _, run := range s.Runs {
			base, finite := baseOf(run, s.JudgeWeight)
			if !finite {
				return metric.Value{}, false
			}
			task.Add(task, base)
		}
		sum.Add(sum, task.Quo(task, big.NewRat(int64(len(s.Runs)), 1)))
	}
	return rounded(sum.Quo(sum, big.NewRat(int64(len(o.Scores)), 1))), true
}

// meanCosts returns the mean of each cost over the runs, of those costs alone
// that all the runs know, and all the others too: what one run does not know
// tells nothing about the difference of two sides.
func meanCosts(runs, others []format.Run) costs {
	var means costs
	if len(runs) == 0 {
		return means
	}
	for i := range means {
		means[i] = new(big.Rat)
	}
	for _, run := range runs {
		for i, value := range costsOf(run.Cost) {
			if value == nil {
				means[i] = nil
			} else if means[i] != nil {
				means[i].Add(means[i], value)
			}
		}
	}
	for _, run := range others {
		for i, value := range costsOf(run.Cost) {
			if value == nil {
				means[i] = nil
			}
		}
	}
	for _, sum := range means {
		if sum != nil {
			sum.Quo(sum, big.NewRat(int64(len(runs)), 1))
		}
	}
	return means
}
