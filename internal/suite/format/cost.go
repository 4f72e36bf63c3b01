package format

import (
	"math/big"

	"github.com/org/autoloop/internal/metric"
)

// Rate returns passed/total, 1 without checks.
func (o Objective) Rate() (*big.Rat, bool) {
	passed, ok := o.Passed.Value()
	total, finite := o.Total.Value()
	if !ok || !finite {
		return nil, false
	}
	if total.Sign() <= 0 {
		return big.NewRat(1, 1), true
	}
	return new(big.Rat).Quo(passed.Rat(), total.Rat()), true
}

// Signals lists the costs, always in the same order.
func (c Cost) Signals() [5]*metric.Number {
	return [5]*metric.Number{c.USD, c.Tokens, c.ToolCalls, c.Steps, c.WallClockMs}
}

// Plus adds two costs; what one of them does not know is unknown.
func (c Cost) Plus(o Cost) Cost {
	add := func(a, b *metric.Number) *metric.Number {
		if a == nil || b == nil || !a.Finite() || !b.Finite() {
			return nil
		}
		return new(a.Plus(*b))
	}
	return Cost{
		Tokens: add(c.Tokens, o.Tokens), ToolCalls: add(c.ToolCalls, o.ToolCalls), Steps: add(c.Steps, o.Steps),
		WallClockMs: add(c.WallClockMs, o.WallClockMs), USD: add(c.USD, o.USD),
	}
}
