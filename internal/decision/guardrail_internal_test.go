package decision

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/metric"
)

// TestEarlierVersionsOfGuardrails: one run of four that is as before leaves more to chance
// than versions before the fourth counted.
func TestEarlierVersionsOfGuardrails(t *testing.T) {
	t.Parallel()
	rail := Guardrail{Metric: "size", Direction: metric.Higher}
	one, none := metric.FromInt(1), metric.Value{}
	for number, version := range Known() {
		said := rail.worse(slices.Repeat([]metric.Value{one}, 8), []metric.Value{none, none, none, one}, true, 0.97, version)
		assert.Equal(t, number < 4, said != "", "version %d: %s", number, said)
	}
}
