package history

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/metric"
)

// TestFewRunsForgetNoDisagreement: an early look that cannot tell is between two
// iterations that can, which are in a row all the same.
func TestFewRunsForgetNoDisagreement(t *testing.T) {
	t.Parallel()
	numbers := func(texts ...string) []metric.Value {
		var list []metric.Value
		for _, text := range texts {
			list = append(list, metric.MustValue(text))
		}
		return list
	}
	s := Summary{Samples: numbers("106.5", "106.1", "106.9", "106.6", "106.2"), Disagreements: 2}
	look := func(anew ...string) {
		values := numbers(anew...)
		s.measured(&Measured{Role: Incumbent, Stage: "pairs", Metric: &values[0], Samples: values})
		s.disagreed(&Decided{})
	}
	look("100.1", "100.7", "100.9")
	assert.Equal(t, 2, s.Disagreements, "it may be chance, and is no agreement")
	look("106.3", "106.2", "107")
	assert.Zero(t, s.Disagreements)
}
