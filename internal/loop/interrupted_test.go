package loop

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/live"
)

// endedAt is a context that ends when a run comes to a step.
func endedAt(t *testing.T, s *Service, stage string) context.Context {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	t.Cleanup(end)
	s.Progress = func(status live.Status) {
		if status.Stage == stage {
			end()
		}
	}
	return ctx
}

// TestRunEndedBeforeLease has none to give back.
func TestRunEndedBeforeLease(t *testing.T) {
	t.Parallel()
	d := newMemoryRun(t, "", wasMeasured("1"), &history.Paused{Reason: decision.Say("a holiday")})
	_, err := d.through(endedAt(t, d.service, "hear"), d.iterate)
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, d.stored.messages)
}
