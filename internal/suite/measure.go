package suite

import (
	"math/big"

	"github.com/org/autoloop/internal/metric"
)

// Metric is what the loop of a program with `evaluation: tasks` records: the
// mean base over all tasks, and over the runs of each. ok is false without a
// task, and when a number in it is not finite.
func (o Outcome) Metric() (key metric.Value, ok bool) {
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

// Runs returns how often the suite was run: the most runs of any task.
func (o Outcome) Runs() int {
	most := 0
	for _, s := range o.Scores {
		most = max(most, len(s.Runs))
	}
	return most
}

// MayVary reports whether another run of the same configuration could have
// come out otherwise: a judge answered, tokens or money were spent, it is said
// to be stochastic, or nothing says that no model ran.
func (o Outcome) MayVary() bool {
	if o.Stochastic != nil && *o.Stochastic {
		return true
	}
	for _, s := range o.Scores {
		for _, run := range s.Runs {
			if run.Judge != nil || spent(run.Cost.Tokens) || spent(run.Cost.USD) {
				return true
			}
			if o.Stochastic == nil && run.Cost.Tokens == nil {
				return true
			}
		}
	}
	return false
}

// spent reports whether a cost is known to be more than nothing.
func spent(n *Number) bool {
	if n == nil {
		return false
	}
	value, finite := n.Value()
	return !finite || value.Sign() > 0
}

// finite reports whether every number of a run is.
func (r Run) finite() bool { return r.nonFinite() == "" }

// nonFinite names the first number of a run that is not finite.
func (r Run) nonFinite() string {
	switch {
	case !r.Objective.Passed.Finite():
		return "objective.passed"
	case !r.Objective.Total.Finite():
		return "objective.total"
	case r.Judge != nil && !r.Judge.Score.Finite():
		return "judge.score0to1"
	case r.Composite != nil && !r.Composite.Finite():
		return "composite"
	}
	names := [5]string{"costUsd", "tokens", "toolCalls", "steps", "wallClockMs"}
	for i, signal := range r.Cost.signals() {
		if signal != nil && !signal.Finite() {
			return "cost." + names[i]
		}
	}
	return ""
}

// meanCosts returns the mean of each cost over the runs, of those costs alone
// that all the runs know, and all the others too: what one run does not know
// tells nothing about the difference of two sides.
func meanCosts(runs, others []Run) costs {
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
