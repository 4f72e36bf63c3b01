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
// Every guardrail needs a number from each measurement of the candidate.
func (s Standard) breach(measured []metric.Measurement) *Reason {
	for _, rail := range s.Guardrails {
		samples, ok := rail.samples(measured)
		if !ok {
			return &Reason{Kind: GuardrailMissing, Path: rail.Metric}
		}
		if reason := rail.worse(s.Initial[rail.Metric], samples, s.Regime == Noisy, s.Confidence); reason != nil {
			return reason
		}
	}
	return nil
}

func (g Guardrail) samples(measured []metric.Measurement) ([]metric.Value, bool) {
	values := make([]metric.Value, 0, len(measured))
	for _, m := range measured {
		value, printed := m.Numbers[g.Metric]
		if !printed {
			return nil, false
		}
		values = append(values, value)
	}
	return values, len(values) > 0
}

// worse compares with iteration 0: the median beyond the allowance and, when
// noisy, the samples different from iteration 0's shifted by the allowance.
// Where there are too few samples for the confidence the median alone decides.
func (g Guardrail) worse(initial, samples []metric.Value, noisy bool, confidence float64) *Reason {
	if len(initial) == 0 {
		return &Reason{Kind: GuardrailNew, Path: g.Metric}
	}
	before, now := statistics.Median(initial), statistics.Median(samples)
	allowance := g.MaxRegression.Of(before)
	limit := g.shifted(before, allowance)
	if !g.Direction.Better(limit, now) {
		return nil
	}
	if noisy && statistics.Reachable(len(initial), len(samples), confidence) {
		bounds := make([]metric.Value, len(initial))
		for i, value := range initial {
			bounds[i] = g.shifted(value, allowance)
		}
		if statistics.P(bounds, samples) >= 1-confidence {
			return nil
		}
	}
	return &Reason{
		Kind: GuardrailBroken, Path: g.Metric, Term: g.Direction.String(), Value: &now, Beside: &before,
		High: &limit, Low: &allowance,
	}
}

// shifted is a value made worse by the allowance.
func (g Guardrail) shifted(value, allowance metric.Value) metric.Value {
	if g.Direction.Better(value, value.Add(allowance)) {
		return value.Add(allowance)
	}
	return value.Sub(allowance)
}
