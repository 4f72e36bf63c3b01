package metric_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/metric"
)

func TestUsageAdds(t *testing.T) {
	t.Parallel()
	one := metric.Usage{InputTokens: new(int64(3)), OutputTokens: new(int64(2)), CachedTokens: new(int64(1))}
	both := one.Add(metric.Usage{InputTokens: new(int64(4)), OutputTokens: new(int64(0))})
	assert.Equal(t, metric.Usage{InputTokens: new(int64(7)), OutputTokens: new(int64(2))}, both,
		"what is unknown in one is unknown in the sum")
}

func TestPossible(t *testing.T) {
	t.Parallel()
	tokens, few, zero, most := int64(-1), int64(3), int64(0), int64(metric.MaxCount)
	more := most + 1
	cost, debt := metric.MustValue("0.25"), metric.MustValue("-0.01")
	fortune, limit := metric.MustValue("1000000000.01"), metric.FromInt(metric.MaxCount)
	known := metric.Usage{
		InputTokens: &zero, OutputTokens: &most, CachedTokens: &zero, CostUSD: &cost, Turns: &few,
		ToolCalls: &few,
	}
	assert.Equal(t, known, known.Possible())
	assert.Equal(t, metric.Usage{}, metric.Usage{}.Possible())
	assert.Equal(t, metric.Usage{CostUSD: &limit}, metric.Usage{CostUSD: &limit}.Possible())
	assert.Equal(t, metric.Usage{},
		metric.Usage{
			InputTokens: &tokens, OutputTokens: &more, CachedTokens: &tokens, CostUSD: &debt, Turns: &tokens,
			ToolCalls: &tokens,
		}.Possible())
	assert.Equal(t, metric.Usage{InputTokens: &zero},
		metric.Usage{InputTokens: &zero, CachedTokens: &more, CostUSD: &fortune}.Possible(), "each for itself")
}
