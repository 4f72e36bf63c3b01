package format

import (
	"github.com/org/autoloop/internal/metric"
)

// Runs returns how often the suite was run, also where a run has none of the
// tasks.
func (o SuiteOutcome) Runs() int {
	most := o.Made
	for _, s := range o.Scores {
		most = max(most, len(s.Runs))
	}
	return most
}

// MayVary reports whether another run of the same configuration could have
// come out otherwise: a judge answered, tokens or money were spent, it is said
// to be stochastic, or nothing says that no model ran.
func (o SuiteOutcome) MayVary() bool {
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
func spent(n *metric.Number) bool {
	if n == nil {
		return false
	}
	value, finite := n.Value()
	return !finite || value.Sign() > 0
}

// Finite reports whether every number of a run is.
func (r Run) Finite() bool { return r.NonFinite() == "" }

// NonFinite names the first number of a run that is not finite.
func (r Run) NonFinite() string {
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
	for i, signal := range r.Cost.Signals() {
		if signal != nil && !signal.Finite() {
			return "cost." + names[i]
		}
	}
	return ""
}
