package suite

import "github.com/org/autoloop/internal/metric"

// Side adds up one side over the tasks of the baseline. Values are sums over
// all runs; nil when one of them is unknown or not finite.
type Side struct {
	ConfigLabel string        `json:"configLabel"`
	Runs        int           `json:"runs"`
	Passed      *metric.Value `json:"passed"`
	Total       *metric.Value `json:"total"`
	// Composite is the sum of the tasks' composites, each the mean of its runs.
	Composite *metric.Value `json:"composite"`
	Cost      Cost          `json:"cost"`
}

func newSide(o Outcome) Side {
	none := func() *metric.Value { return &metric.Value{} }
	nothing := func() *Number { return &Number{} }
	return Side{
		ConfigLabel: o.ConfigLabel, Runs: o.Runs(), Passed: none(), Total: none(), Composite: none(),
		Cost: Cost{Tokens: nothing(), ToolCalls: nothing(), Steps: nothing(), WallClockMs: nothing(), USD: nothing()},
	}
}

// add counts one task in; without a run it adds nothing.
func (s *Side) add(runs []Run, composite *metric.Value) {
	if len(runs) == 0 {
		return
	}
	s.Composite = plus(s.Composite, composite)
	for _, run := range runs {
		s.Passed, s.Total = plus(s.Passed, finite(run.Objective.Passed)), plus(s.Total, finite(run.Objective.Total))
		s.Cost = s.Cost.plus(run.Cost)
	}
}

func plus(a, b *metric.Value) *metric.Value {
	if a == nil || b == nil {
		return nil
	}
	sum := a.Add(*b)
	return &sum
}

func finite(n Number) *metric.Value {
	if value, ok := n.Value(); ok {
		return &value
	}
	return nil
}

// plus adds two numbers; the sum with one that is not finite is not either.
func (n Number) plus(o Number) Number {
	if n.nonFinite || o.nonFinite {
		return NonFinite()
	}
	return Exactly(n.value.Add(o.value))
}

// plus adds two costs; what one of them does not know is unknown.
func (c Cost) plus(o Cost) Cost {
	add := func(a, b *Number) *Number {
		if a == nil || b == nil || !a.Finite() || !b.Finite() {
			return nil
		}
		sum := a.plus(*b)
		return &sum
	}
	return Cost{
		Tokens: add(c.Tokens, o.Tokens), ToolCalls: add(c.ToolCalls, o.ToolCalls), Steps: add(c.Steps, o.Steps),
		WallClockMs: add(c.WallClockMs, o.WallClockMs), USD: add(c.USD, o.USD),
	}
}
