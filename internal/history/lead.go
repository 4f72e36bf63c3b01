package history

import "github.com/org/autoloop/internal/metric"

// Lead is how the program branch stands against the default branch, by what one
// evaluator measured of both. The zero Lead is a branch with nothing of its own.
type Lead struct {
	sign int // 1 when the branch is strictly better, -1 when it is worse
	// margin is by how much, above 0 when it is better. It adds up differences of
	// numbers that were measured side by side, so that noise between the times of
	// two measurements does not count.
	margin metric.Value
}

// Better reports whether the branch is strictly better than the default branch.
func (l Lead) Better() bool { return l.sign > 0 }

// LeadOf is the lead of a branch that was measured beside the default branch.
func LeadOf(branch, base metric.Value, d metric.Direction) Lead {
	margin := improvement(branch, base, d)
	return Lead{margin.Sign(), margin}
}

// After is the lead once a change is kept that a decision found better.
func (l Lead) After(decided *Decided, d metric.Direction) Lead {
	if decided.Best != nil && decided.PreviousBest != nil {
		l.margin = l.margin.Add(improvement(*decided.Best, *decided.PreviousBest, d))
	}
	if l.sign >= 0 || l.margin.Sign() > 0 {
		l.sign = 1 // better than what was not worse
	}
	return l
}

// improvement is by how much a is better than b, below 0 when it is worse.
func improvement(a, b metric.Value, d metric.Direction) metric.Value {
	if d == metric.Lower {
		return b.Sub(a)
	}
	return a.Sub(b)
}
