package models_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/models"
)

func TestErrorSaysKindAndStatus(t *testing.T) {
	t.Parallel()
	require.EqualError(t, &models.Error{Kind: models.RateLimit, Status: 429, Message: "slow down"},
		"rate-limit (HTTP 429): slow down")
	require.EqualError(t, &models.Error{Kind: models.Timeout, Message: "no answer in 5s"}, "timeout: no answer in 5s")
}
