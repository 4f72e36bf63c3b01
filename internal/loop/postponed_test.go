package loop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
)

// TestAPostponedIteration is put off by the service of an agent, as far as such a service
// asks for, and by nobody else.
func TestAPostponedIteration(t *testing.T) {
	t.Parallel()
	b := newBed(t, "evaluation-runs: 1", "1")
	until := b.clock.Add(time.Hour).Truncate(time.Second)
	b.agent = func(agent.Request) agent.Reply {
		return agent.Reply{Failure: &agent.Failure{Kind: agent.RateLimit, Message: "lat\x1b[31mer\n", RetryAt: &until}}
	}
	dry, err := b.service.DryRun(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "paused: the agent's service has a rate limit (later); it resumes at "+
		until.UTC().Format(time.RFC3339), dry.Stopped)
	made := b.made()
	at := until.UTC().Format(time.RFC3339)
	for name, c := range map[string]struct {
		fields map[string]any
		says   string
	}{
		"for too long": {
			map[string]any{"not_before": b.clock.Add(400 * 24 * time.Hour).Format(time.RFC3339)},
			"longer than any service asks for",
		},
		"by nobody": {map[string]any{"agent": ""}, "it is put off, and not by the service of an agent"},
		"for another reason": {
			map[string]any{"reason": decision.Say("paused: CI is red")},
			"it is put off, and not by the service of an agent",
		},
		"for no reason": {map[string]any{"reason": nil}, "it is put off, and not by the service of an agent"},
		"for a made-up reason": {
			map[string]any{"reason": decision.Reason{Kind: "x"}},
			"has a reason \"x\", which does not exist",
		},
		"without an iteration": {map[string]any{"iteration": 2}, "it has an event of iteration 2"},
	} {
		_ = b.refuses(edited(t, made, "finished", c.fields), c.says, name)
	}
	hostile := decision.Reason{
		Kind:  decision.RateLimit,
		Words: "x\n::error::\x1b[2Jred\r\nx",
	} // until when is in the event
	result, err := b.service.Publish(t.Context(), edited(t, made, "finished", map[string]any{"reason": hostile}))
	require.NoError(t, err)
	assert.Equal(t, history.Idle, result.Outcome)
	assert.Equal(t, "paused: the agent's service has a rate limit (x ::error::red x); it resumes at "+at,
		result.Stopped,
		"in one line")
	records := b.records()
	assert.Equal(t, until.UTC(), records.sum.NotBefore.UTC())
	assert.Zero(t, records.sum.Iteration, "it is no iteration")
	assert.Nil(t, records.sum.Open)
	assert.Equal(t, history.Idle, b.one().Outcome, "and it waits")
}
