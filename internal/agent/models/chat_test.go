package models_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/models"
)

func count(n int64) *int64 { return &n }

func TestUsageAdds(t *testing.T) {
	t.Parallel()
	one := models.Tokens{InputTokens: count(3), OutputTokens: count(2), CachedTokens: count(1)}
	both := one.Add(models.Tokens{InputTokens: count(4), OutputTokens: count(0)})
	assert.Equal(t, models.Tokens{InputTokens: count(7), OutputTokens: count(2)}, both, "what is unknown in one is unknown in the sum")
}

func TestErrorSaysKindAndStatus(t *testing.T) {
	t.Parallel()
	require.EqualError(t, &models.Error{Kind: models.RateLimit, Status: 429, Message: "slow down"}, "rate-limit (HTTP 429): slow down")
	require.EqualError(t, &models.Error{Kind: models.Timeout, Message: "no answer in 5s"}, "timeout: no answer in 5s")
}
