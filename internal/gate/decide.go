// Package gate decides: whether the changed paths are allowed, what a measurement
// means, and whether the result may be promoted. Every verdict carries its reasons.
package gate

import (
	"fmt"

	"github.com/org/autoloop/internal/score"
)

// Verdict says what a measurement means beside the incumbent's.
type Verdict string

// The verdicts. Only Improved keeps a candidate.
const (
	Improved  Verdict = "improved"
	Neutral   Verdict = "neutral"
	Regressed Verdict = "regressed"
)

// Allowance is an amount, absolute or as a percentage of a reference.
type Allowance struct {
	Value   score.Value
	Percent bool
}

// Of returns the allowance in the unit of the reference: its Value, or that
// many percent of the reference's magnitude.
func (a Allowance) Of(reference score.Value) score.Value {
	if !a.Percent {
		return a.Value
	}
	return reference.Abs().Mul(a.Value).Mul(score.MustValue("0.01"))
}

// Standard is what a candidate is held against.
type Standard struct {
	Direction score.Direction
	// Best is the incumbent's metric; nil when nothing was ever measured.
	Best *score.Value
	// Target is the metric at which the program is done; nil when open-ended.
	Target *score.Value
	// Low and High bound what is plausible; nil when unbounded.
	Low, High *score.Value
	// MinImprovement is the smallest gain worth keeping.
	MinImprovement Allowance
}

// Decision is a verdict with everything that led to it.
type Decision struct {
	Verdict Verdict
	// Reasons are one line each, the deciding one first.
	Reasons []string
	// Best is the metric after the decision; nil when there is none.
	Best *score.Value
	// Delta is the signed decimal difference to the previous best, "" without one.
	Delta string
	// TargetMet says that Best has reached the target.
	TargetMet bool
}

// Decide compares one plain measurement with the incumbent. A gain must be
// strict and at least MinImprovement; what is outside the plausible range, or
// could not be scored, is never kept.
func Decide(standard Standard, m score.Measurement) Decision {
	decision := Decision{Verdict: Neutral, Best: standard.Best}
	if m.Metric != nil {
		decision.Delta = score.Delta(*m.Metric, standard.Best)
	}
	verdict, reason := standard.judge(m)
	decision.Verdict = verdict
	decision.Reasons = []string{reason}
	if verdict == Improved {
		decision.Best = m.Metric
	}
	decision.TargetMet = decision.Best != nil && standard.Direction.TargetMet(*decision.Best, standard.Target)
	return decision
}

func (s Standard) judge(m score.Measurement) (Verdict, string) {
	if m.Metric == nil {
		if m.RejectedReason != "" {
			return Regressed, "not scored: " + m.RejectedReason
		}
		return Regressed, "not scored: the evaluation printed null"
	}
	value := *m.Metric
	if reason := s.Implausible(value); reason != "" {
		return Regressed, reason
	}
	if s.Best == nil {
		return Improved, "first measurement"
	}
	best := *s.Best
	if value.Cmp(best) == 0 {
		return Neutral, fmt.Sprintf("%s equals the best so far; only a strict gain is kept", value)
	}
	if !s.Direction.Better(value, best) {
		return Regressed, fmt.Sprintf("%s is worse than the best %s (%s is better)", value, best, s.Direction)
	}
	if least := s.MinImprovement.Of(best); value.Sub(best).Abs().Cmp(least) < 0 {
		return Neutral, fmt.Sprintf("a gain of %s is below min-improvement %s", value.Sub(best).Abs(), least)
	}
	return Improved, fmt.Sprintf("%s is better than %s (%s is better)", value, best, s.Direction)
}

// Implausible returns why value lies outside the program's metric-range, or ""
// when it is plausible.
func (s Standard) Implausible(value score.Value) string {
	if s.Low != nil && value.Cmp(*s.Low) < 0 || s.High != nil && value.Cmp(*s.High) > 0 {
		return fmt.Sprintf("%s is implausible: outside metric-range [%s, %s]", value, bound(s.Low), bound(s.High))
	}
	return ""
}

func bound(v *score.Value) string {
	if v == nil {
		return "…"
	}
	return v.String()
}
