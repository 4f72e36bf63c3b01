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
	assert.Equal(t, metric.Usage{InputTokens: new(int64(7)), OutputTokens: new(int64(2))}, both, "what is unknown in one is unknown in the sum")
}
