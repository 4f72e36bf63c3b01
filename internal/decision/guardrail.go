package decision

import (
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
)

// Guardrail is a second metric that must not get worse than at iteration 0 by
// more than MaxRegression.
type Guardrail struct {
	// Metric is the key of the number.
	Metric string `json:"metric"`
	// Direction says which number is better: `higher` or `lower`.
	Direction metric.Direction `json:"direction"`
	// MaxRegression is how much worse it may be than at the start.
	MaxRegression Allowance `json:"max_regression"`
}

// breach returns why the samples of the candidate break a guardrail, nil when they do not.
// Every guardrail needs a number from each measurement of the candidate. It compares with
// iteration 0: the median beyond the allowance and, when noisy, the samples different from
// iteration 0's shifted by the allowance. Where there are too few samples for the confidence
// the median alone decides.
func (s Standard) breach(measured []metric.Measurement) *Reason {
	for _, g := range s.Guardrails {
		var samples, bounds []metric.Value
		for _, m := range measured {
			if value, printed := m.Numbers[g.Metric]; printed {
				samples = append(samples, value)
			}
		}
		initial := s.Initial[g.Metric]
		switch {
		case len(samples) == 0, len(samples) < len(measured):
			return &Reason{Kind: GuardrailMissing, Path: g.Metric}
		case len(initial) == 0:
			return &Reason{Kind: GuardrailNew, Path: g.Metric}
		}
		before, now := statistics.Median(initial), statistics.Median(samples)
		allowance := g.MaxRegression.Of(before)
		for _, value := range initial {
			bounds = append(bounds, g.shifted(value, allowance))
		}
		limit := g.shifted(before, allowance)
		chance := s.Regime == Noisy && statistics.Reachable(len(initial), len(samples), s.Confidence) &&
			statistics.P(bounds, samples) >= 1-s.Confidence
		if g.Direction.Better(limit, now) && !chance {
			return &Reason{
				Kind: GuardrailBroken, Path: g.Metric, Term: g.Direction.String(), Value: &now, Beside: &before,
				High: &limit, Low: &allowance,
			}
		}
	}
	return nil
}

// shifted is a value made worse by the allowance.
func (g Guardrail) shifted(value, allowance metric.Value) metric.Value {
	if g.Direction.Better(value, value.Add(allowance)) {
		return value.Add(allowance)
	}
	return value.Sub(allowance)
}
