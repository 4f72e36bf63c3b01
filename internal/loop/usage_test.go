package loop

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// TestUsageThatCannotBe is unknown, in one job and in two: it frees no budget, and no
// bundle is refused for it.
func TestUsageThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, jobs := range []int{1, 2} {
		b := newBed(t, "evaluation-runs: 1", "1")
		debt, fortune, seven, cost := int64(-1_000_000), int64(1)<<60, int64(7), metric.MustValue("-5")
		b.agent = func(request agent.Request) agent.Reply {
			b.write(request.Dir, map[string]string{"value.txt": "3\n"})
			return agent.Reply{Usage: metric.Usage{
				InputTokens: &debt, OutputTokens: &fortune, CachedTokens: &seven,
				CostUSD: &cost,
			}}
		}
		var result Result
		if jobs == 1 {
			result = b.one()
		} else {
			_, result = b.twoJobs()
		}
		assert.Equal(t, history.Accepted, result.Outcome)
		require.NotNil(t, result.Usage)
		assert.Equal(t, metric.Usage{CachedTokens: &seven}, *result.Usage)
		assert.Equal(t, metric.Usage{CachedTokens: &seven}, *b.records().decided(1).Usage)
	}
}
