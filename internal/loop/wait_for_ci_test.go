package loop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/history"
)

// TestPausedProgramAsksNoAgent: what CI says late is taken, and nobody is asked to fix it and
// nothing is proposed, in one job and in two, unless it is forced.
func TestPausedProgramAsksNoAgent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		late     ci.Result
		jobs     int
		forced   bool
		outcome  history.Outcome
		asked    bool
		proposes bool
	}{
		"red, two jobs": {late: red("build", "error: x"), jobs: 2, outcome: history.PendingCI},
		"red, forced": {
			late: red("build", "error: x"), jobs: 1, forced: true, asked: true, proposes: true,
			outcome: history.CIFixExhausted,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, "evaluation-runs: 1\nci-wait: 0m", "1")
			calls := 0
			b.proposeInTurn(&calls, "3", "4")
			f := onGitHub(t, b)
			f.ci = []ci.Result{waiting()}
			require.Equal(t, history.PendingCI, b.one().Outcome)
			worker, err := b.service.Pause(t.Context(), "a holiday")
			require.NoError(t, err)
			assert.Empty(t, worker)
			b.clock = b.clock.Add(time.Hour)

			calls, f.promoted = 0, 0
			f.ci, b.service.Force = []ci.Result{c.late}, c.forced
			var result Result
			if c.jobs == 1 {
				result = b.one()
			} else {
				_, result = b.twoJobs()
			}
			assert.Equal(t, c.outcome, result.Outcome, "%v", result.Reasons)
			assert.Equal(t, c.asked, calls > 0)
			assert.Equal(t, c.proposes, f.promoted > 0)
			assert.True(t, b.records().machine.Paused)
			if c.forced {
				return
			}
			_, err = b.service.ApplyCommands(t.Context())
			require.NoError(t, err)
			assert.Zero(t, f.promoted, "applying commands proposes nothing either")
		})
	}
}

// TestStaleFix: a bundle with a fix is refused when CI has changed its mind.
func TestStaleFix(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1\nci-wait: 0m", "1")
	calls := 0
	b.proposeInTurn(&calls, "3", "4")
	f := onGitHub(t, b)
	f.ci = []ci.Result{red("build", "error: x")}
	b.twoJobs()
	made, _, err := b.service.Propose(t.Context())
	require.NoError(t, err)
	require.NotNil(t, made)
	f.ci = []ci.Result{green()}
	before := b.refs()
	_, err = b.service.Publish(t.Context(), *made)
	require.ErrorContains(t, err, "it is stale")
	assert.Equal(t, before, b.refs())

	assert.Equal(t, history.Accepted, b.one().Outcome, "the next run takes what CI says")
}
