package loop

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// TestGuardrailsOfAResult: what they stood at, as far as it was measured.
func TestGuardrailsOfAResult(t *testing.T) {
	t.Parallel()
	p := programWith("guardrails:\n  - {metric: g, direction: lower, max-regression: 5%}\n"+
		"  - {metric: h, direction: higher, max-regression: 2}", "")
	first := &history.Measured{
		Role: history.Baseline, Metric: metricOf("1"), Samples: numbers("1", "1", "1"),
		GuardrailSamples: map[string][]metric.Value{"g": numbers("1", "9", "2"), "h": numbers("4", "4", "4")},
	}
	candidate := &history.Measured{
		Head: history.Head{Iteration: 1}, Role: history.Candidate, Metric: metricOf("3"),
		GuardrailSamples: map[string][]metric.Value{"g": numbers("7", "5", "6")},
	}
	decided := &history.Decided{Head: history.Head{Iteration: 1}, Outcome: history.Rejected}
	decided.Agent, decided.Changed, decided.Usage = "a", []string{"f"}, &metric.Usage{}
	r, _ := inMemory(t, p, first, candidate, decided)
	result := Result{Iteration: 1, Outcome: history.Rejected}
	r.detail(&result)
	require.Len(t, result.Guardrails, 2)
	assert.Equal(t, "2", result.Guardrails[0].Initial.String())
	assert.Equal(t, "6", result.Guardrails[0].Candidate.String())
	assert.Equal(t, metric.Lower, result.Guardrails[0].Direction)
	assert.True(t, result.Guardrails[0].Allowed.Percent)
	assert.Equal(t, "4", result.Guardrails[1].Initial.String())
	assert.Nil(t, result.Guardrails[1].Candidate, "it was not measured")
	assert.Equal(t, "a", result.Agent)
	assert.Equal(t, []string{"f"}, result.Changed)
	for _, other := range []Result{{Iteration: 2, Outcome: history.Rejected}, {Iteration: 1, Outcome: history.Idle}} {
		r.detail(&other)
		assert.Empty(t, other.Guardrails, "the decision is on another iteration")
		assert.Empty(t, other.Agent)
	}
	none, _ := inMemory(t, p)
	none.records = nil
	none.detail(&result)
	assert.Equal(t, "a", result.Agent, "without records nothing is known, and nothing is changed")
}
