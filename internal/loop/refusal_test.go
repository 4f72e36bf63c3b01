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

// TestRefusalIsError of the program, in one job and in two: it counts as a run, and the
// third in a row pauses.
func TestRefusalIsError(t *testing.T) {
	t.Parallel()
	const reason = "codex is not installed"
	for _, jobs := range []int{1, 2} {
		b := newFixture(t, "evaluation-runs: 1\nagent: codex", "1", "3")
		b.agent = func(agent.Request) agent.Reply { panic("nobody works") }
		b.evaluating = func(string) { panic("and nothing is measured") }
		b.git("update-ref", "refs/heads/autoloop/p", "main")
		if jobs == 1 { // which does not mind that a person works on the branch
			b.git("worktree", "add", "--quiet", t.TempDir()+"/w", "autoloop/p")
		}
		for i := range 3 {
			var got Result
			var err error
			if jobs == 1 {
				got, err = runRefusing(t, b, reason)
			} else {
				made, _, proposed := b.service.Refusing(reason).Propose(t.Context())
				require.NoError(t, proposed)
				made.ID = made.Run
				got, err = b.service.Publish(t.Context(), *made)
			}
			require.NoError(t, err)
			assert.Equal(t, []any{history.Error, i + 1, "codex"}, []any{got.Outcome, got.Iteration, got.Agent})
			assert.Equal(t, reason, strings.TrimPrefix(got.Reasons[0].String(), "the proposing job says: "))
			assert.Equal(t, i == 2, strings.HasPrefix(got.Stopped, "paused: 3 errors in a row, the last: "),
				got.Stopped)
			b.clock = b.clock.Add(time.Hour)
		}
		records := b.records()
		assert.Equal(t, history.Error, records.standing().Decision.Outcome)
		assert.Nil(t, records.sum.Open, "nobody holds the program")
		result, err := runRefusing(t, b, reason)
		require.NoError(t, err)
		assert.Equal(t, history.Idle, result.Outcome, "what rests is left alone")
		assert.Equal(t, 3, b.records().sum.Iteration)
	}
}

// TestRefusalWaits for who works on the program, and for CI.
func TestRefusalWaits(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1\nci-wait: 0m", "1", "3")
	onGitHub(t, b).ci = []ci.Result{waiting()}
	b.start()
	b.service.Alive = func(history.Lease) bool { return true }
	before := b.refs()
	result, err := runRefusing(t, b, "no agent")
	require.NoError(t, err)
	assert.Equal(t, history.Busy, result.Outcome)
	made, result, err := b.service.Refusing("no agent").Propose(t.Context())
	require.NoError(t, err)
	assert.Nil(t, made)
	assert.Equal(t, history.Busy, result.Outcome)
	assert.Equal(t, before, b.refs())

	b.service.Alive = func(history.Lease) bool { return false }
	require.Equal(t, history.PendingCI, b.one().Outcome)
	result, err = runRefusing(t, b, "no agent")
	require.NoError(t, err)
	assert.Equal(t, history.PendingCI, result.Outcome)
	records := b.records()
	assert.NotNil(t, records.standing().Waiting(), "it is no error of what waits")
	assert.Nil(t, records.sum.Open, "the lease is given back")
	made, result, err = b.service.Refusing("no agent").Propose(t.Context())
	require.NoError(t, err)
	assert.Nil(t, made)
	assert.Contains(t, result.Reasons[0].String(), "iteration 1 waits for CI, whose answer")
}

// runRefusing is the result of a run that cannot begin an iteration.
func runRefusing(t *testing.T, b *fixture, reason string) (Result, error) {
	t.Helper()
	results, err := b.service.Refusing(reason).Run(t.Context(), 1)
	if err != nil {
		return Result{}, err
	}
	return results[0], nil
}
