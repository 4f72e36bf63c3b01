package loop

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
)

// TestPostponedIteration is put off by the service of an agent, as far as such a service
// asks for, and by nobody else.
func TestPostponedIteration(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1", "1")
	until := b.clock.Add(time.Hour).Truncate(time.Second)
	b.agent = func(agent.Request) agent.Reply {
		return agent.Reply{Failure: &agent.Failure{Kind: agent.RateLimit, Message: "lat\x1b[31mer\n", RetryAt: &until}}
	}
	const nobody = "it is put off, and not by the service of an agent"
	made := b.made()
	for says, fields := range map[string]map[string]any{
		"longer than any service asks for": {"not_before": b.clock.Add(400 * 24 * time.Hour).Format(time.RFC3339)},
		nobody:                             {"agent": ""},
		nobody + " ":                       {"reason": decision.Say("paused: CI is red")},
		nobody + "  ":                      {"reason": nil},
	} {
		_ = b.refuses(edited(t, made, "finished", fields), strings.TrimSpace(says), says)
	}
	hostile := decision.Reason{
		Kind:  decision.RateLimit,
		Words: "x\n::error::\x1b[2Jred\r\nx",
	} // until when is in the event
	result, err := b.service.Publish(t.Context(), edited(t, made, "finished", map[string]any{"reason": hostile}))
	require.NoError(t, err)
	assert.Equal(t, []any{
		history.Idle,
		"paused: the agent's service has a rate limit (x ::error::red x); it resumes at " +
			until.UTC().Format(time.RFC3339),
	}, []any{result.Outcome, result.Stopped}, "in one line")
	records := b.records()
	assert.Equal(t, until.UTC(), records.sum.NotBefore.UTC())
	assert.Zero(t, records.sum.Iteration, "it is no iteration")
	assert.Equal(t, history.Idle, b.one().Outcome, "and it waits")
}
