package score

import (
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/tasks/format"
)

// Side adds up one side over the tasks of the baseline. Values are sums over
// all runs; nil when one of them is unknown or not finite.
type Side struct {
	ConfigLabel string        `json:"configLabel"`
	Runs        int           `json:"runs"`
	Passed      *metric.Value `json:"passed"`
	Total       *metric.Value `json:"total"`
	// Composite is the sum of the tasks' composites, each the mean of its runs.
	Composite *metric.Value `json:"composite"`
	Cost      format.Cost   `json:"cost"`
}

func newSide(o format.SuiteOutcome) Side {
	none := func() *metric.Value { return &metric.Value{} }
	nothing := func() *metric.Number { return &metric.Number{} }
	return Side{
		ConfigLabel: o.ConfigLabel, Runs: o.Runs(), Passed: none(), Total: none(), Composite: none(),
		Cost: format.Cost{Tokens: nothing(), ToolCalls: nothing(), Steps: nothing(), WallClockMs: nothing(), USD: nothing()},
	}
}

// add counts one task in; without a run it adds nothing.
func (s *Side) add(runs []format.Run, composite *metric.Value) {
	if len(runs) == 0 {
		return
	}
	s.Composite = plus(s.Composite, composite)
	for _, run := range runs {
		s.Passed, s.Total = plus(s.Passed, finite(run.Objective.Passed)), plus(s.Total, finite(run.Objective.Total))
		s.Cost = s.Cost.Plus(run.Cost)
	}
}

func plus(a, b *metric.Value) *metric.Value {
	if a == nil || b == nil {
		return nil
	}
	return new(a.Add(*b))
}

func finite(n metric.Number) *metric.Value {
	if value, ok := n.Value(); ok {
		return &value
	}
	return nil
}
