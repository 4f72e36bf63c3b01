package loop

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/history"
)

// TestARefusalIsAnError of the program, in one job and in two: it counts as a run, and the
// third in a row pauses.
func TestARefusalIsAnError(t *testing.T) {
	t.Parallel()
	const reason = "codex is not installed"
	for name, refuse := range map[string]func(b *bed) Result{
		"one job": func(b *bed) Result {
			result, err := b.service.RecordRefusal(t.Context(), reason)
			require.NoError(t, err)
			return result
		},
		"two jobs": func(b *bed) Result {
			made, proposed, err := b.service.ProposeRefusal(t.Context(), reason)
			require.NoError(t, err)
			require.NotNil(t, made, "%v", proposed.Reasons)
			assert.Equal(t, history.Error, proposed.Outcome)
			made.ID = made.Run
			published, err := b.service.Publish(t.Context(), *made)
			require.NoError(t, err)
			return published
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, "evaluation-runs: 1\nagent: codex", "1", "3")
			b.agent = func(agent.Request) agent.Reply { panic("nobody works") }
			b.evaluating = func(string) { panic("and nothing is measured") }
			b.git("update-ref", "refs/heads/autoloop/p", "main")
			if name == "one job" { // which does not mind that a person works on the branch
				b.git("worktree", "add", "--quiet", t.TempDir()+"/w", "autoloop/p")
			}
			for i := range 3 {
				result := refuse(b)
				assert.Equal(t, history.Error, result.Outcome)
				assert.Equal(t, i+1, result.Iteration)
				assert.Equal(t, reason, strings.TrimPrefix(result.Reasons[0].String(), "the proposing job says: "))
				assert.Equal(t, "codex", result.Agent)
				assert.Nil(t, result.Metric)
				b.clock = b.clock.Add(time.Hour)
				if i < 2 {
					assert.Empty(t, result.Stopped)
				} else {
					assert.Contains(t, result.Stopped, "paused: 3 errors in a row, the last: ")
					assert.Contains(t, result.Stopped, reason)
				}
			}
			records := b.records()
			assert.Equal(t, history.PhaseFailed, records.standing().Phase)
			assert.Nil(t, records.sum.Open, "nobody holds the program")
			assert.Equal(t, 3, records.sum.ConsecutiveErrors())
			assert.Equal(t, b.git("rev-parse", "main"), b.git("rev-parse", "autoloop/p"))

			result, err := b.service.RecordRefusal(t.Context(), reason)
			require.NoError(t, err)
			assert.Equal(t, history.Idle, result.Outcome, "what rests is left alone")
			assert.Equal(t, 3, b.records().sum.Iteration)
		})
	}
}

// TestARefusalWaits for who works on the program, and for CI.
func TestARefusalWaits(t *testing.T) {
	t.Parallel()
	b := newBed(t, "evaluation-runs: 1\nci-wait: 0m", "1", "3")
	onGitHub(t, b).ci = []ci.Result{waiting()}
	b.start()
	b.service.Alive = func(history.Lease) bool { return true }
	before := b.refs()
	result, err := b.service.RecordRefusal(t.Context(), "no agent")
	require.NoError(t, err)
	assert.Equal(t, history.Busy, result.Outcome)
	made, result, err := b.service.ProposeRefusal(t.Context(), "no agent")
	require.NoError(t, err)
	assert.Nil(t, made)
	assert.Equal(t, history.Busy, result.Outcome)
	assert.Equal(t, before, b.refs())

	b.service.Alive = func(history.Lease) bool { return false }
	require.Equal(t, history.PendingCI, b.one().Outcome)
	for range 3 {
		result, err = b.service.RecordRefusal(t.Context(), "no agent")
		require.NoError(t, err)
		assert.Equal(t, history.Idle, result.Outcome)
		assert.Equal(t, "no agent", result.Stopped)
		records := b.records()
		assert.Equal(t, history.PhaseWaitingForCI, records.standing().Phase, "it is no error of what waits")
		assert.Nil(t, records.sum.Open, "the lease is given back")
		assert.Zero(t, records.sum.Interrupted)
		assert.False(t, records.machine.Paused)
	}

	made, result, err = b.service.ProposeRefusal(t.Context(), "no agent")
	require.NoError(t, err)
	require.NotNil(t, made)
	assert.Equal(t, history.Idle, result.Outcome)
	assert.Contains(t, result.Reasons[0].String(),
		"iteration 1 waits for CI, whose answer is to be taken; `iterate job publish` does that")
	assert.Empty(t, made.Events)
}

// TestNobodyIsAsked where an agent cannot be used, or made its proposal elsewhere.
func TestNobodyIsAsked(t *testing.T) {
	t.Parallel()
	for want, who := range map[string]agent.Agent{
		"an agent that does not work here was asked; name another with --agent": absent("x"),
	} {
		assert.Equal(t, "x", who.Name())
		_, err := who.Propose(t.Context(), agent.Request{})
		require.EqualError(t, err, want)
	}
}
