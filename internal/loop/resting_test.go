package loop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/history"
)

// start takes the lease of an iteration, and leaves it as a run does that is
// killed.
func (b *fixture) start() *run {
	b.t.Helper()
	run := b.service.begin()
	require.NoError(b.t, run.lease.acquireLease(b.t.Context()))
	return run
}

// TestRestingProgram: what is paused or completed does nothing, by name and
// between the iterations of a run, in one job and in two, unless it is forced.
func TestRestingProgram(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		front string
		says  string
	}{
		"paused":    {"evaluation-runs: 1\nplateau: 1", "paused: plateau: 1 rejections in a row"},
		"completed": {"evaluation-runs: 1\ntarget-metric: 5", "completed: target reached: 5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, c.front, "4", map[string]string{"paused": "3", "completed": "5"}[name], "6")
			require.Len(t, b.iterate(3), 1, "the others do not begin")
			before := b.refs()
			for range 2 {
				result := b.one()
				assert.Equal(t, history.Idle, result.Outcome)
				assert.Contains(t, result.Stopped, c.says)
				assert.Contains(t, result.Stopped, "or give --force")
			}
			made, result, err := b.service.Propose(t.Context())
			require.NoError(t, err)
			assert.Nil(t, made)
			assert.Contains(t, result.Stopped, c.says)
			assert.Equal(t, before, b.refs(), "nothing is written")
			b.service.GitHub, b.service.Force = nil, true
			assert.Equal(t, history.Accepted, b.one().Outcome)
			assert.Contains(t, b.records().sum.Forced, c.says)
		})
	}
}

// TestForceGoesOnPastAPlateau: also when it is reached on the way. Only a person's pause
// while it works ends it.
func TestForceGoesOnPastAPlateau(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1\nplateau: 2", "4", "3", "2", "1", "0", "3")
	b.service.Force = true
	require.Len(t, b.iterate(4), 4)
	assert.False(t, b.records().machine.Paused)

	propose := b.agent
	b.agent = func(request agent.Request) agent.Reply {
		b.clock = b.clock.Add(time.Minute)
		_, err := b.service.Pause(t.Context(), "a holiday")
		require.NoError(t, err)
		return propose(request)
	}
	results := b.iterate(4)
	require.Len(t, results, 2)
	assert.Equal(t, history.Rejected, results[0].Outcome, "it ends as it would")
	assert.Equal(t, history.Idle, results[1].Outcome)
	assert.Contains(t, results[1].Stopped, "a holiday")
}

// TestConflictingDefaultBranch pauses, and is left to the publishing job by
// the proposing one.
func TestConflictingDefaultBranch(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1", "1", "3", "4")
	b.one()
	b.commit(map[string]string{"value.txt": "2\n"})
	proposed, published := b.twoJobs()
	assert.Equal(t, history.Idle, proposed.Outcome)
	assert.Contains(t, proposed.Reasons[0].String(), "`iterate job publish` does that")
	assert.Equal(t, history.Error, published.Outcome)
	assert.Contains(t, published.Stopped, "paused: main does not merge")
}
