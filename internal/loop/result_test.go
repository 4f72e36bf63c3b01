package loop

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// TestGuardrailsOfAResult: what they stood at, as far as it was measured.
func TestGuardrailsOfAResult(t *testing.T) {
	t.Parallel()
	first := &history.Measured{
		Role: history.Baseline, Metric: metricOf("1"),
		GuardrailSamples: map[string][]metric.Value{"g": numbers("1", "9", "2"), "h": numbers("4", "4", "4")},
	}
	candidate := &history.Measured{
		Head: history.Head{Iteration: 1}, Role: history.Candidate, Stage: decision.Once,
		GuardrailSamples: map[string][]metric.Value{"g": numbers("7", "5", "6")},
	}
	decided := &history.Decided{Head: history.Head{Iteration: 1}, Outcome: history.Rejected}
	r := newMemoryRun(t, "guardrails:\n  - {metric: g, direction: lower, max-regression: 5%}\n"+
		"  - {metric: h, direction: higher, max-regression: 2}", first, candidate, decided).run
	result := r.result(nil)
	require.Len(t, result.Guardrails, 2)
	assert.Equal(t, []string{"2", "6", "4"}, []string{
		result.Guardrails[0].Initial.String(), result.Guardrails[0].Candidate.String(),
		result.Guardrails[1].Initial.String(),
	})
	assert.Nil(t, result.Guardrails[1].Candidate, "it was not measured")
	assert.Empty(t, r.result(&endedError{outcome: history.Error}).Guardrails, "the decision is on another iteration")
	r.iteration = 1
	assert.Empty(t, r.result(&endedError{outcome: history.Idle}).Guardrails)
}
