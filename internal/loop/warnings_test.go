package loop

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/history"
)

// TestAWarningOfTheRunSurvivesItsStart: what was found out before the start is recorded is
// shown in the end, once, however often the start is recorded.
func TestAWarningOfTheRunSurvivesItsStart(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "", wasMeasured("1"))
	d.edit("| Best Metric | 1 |", "| Best Metric | 9 |")
	d.warn("%s was not read", "GitHub")
	d.shelf.rival = func() {}
	require.NoError(t, d.lease.acquireLease(t.Context()))
	require.NoError(t, d.lease.acquireLease(t.Context()))
	d.warn("GitHub was not read")
	assert.Equal(t, []string{"GitHub was not read", "Best Metric was 9 in the state and is 1 in the ledger; put right from the ledger"}, d.warnings)
}

// TestWarningsOfThePublishingJob: what it could not read of GitHub before it recorded the
// bundle is in its result.
func TestWarningsOfThePublishingJob(t *testing.T) {
	t.Parallel()
	b := newBed(t, "evaluation-runs: 1\nci-wait: 1m", "1", "3")
	f := onGitHub(t, b)
	made, _, err := b.service.Propose(t.Context())
	require.NoError(t, err)
	require.NotNil(t, made)
	made.ID, f.down, f.broken, f.ci = "bundle", true, map[string]error{"ci": errBroken}, []ci.Result{waiting()}
	result, err := b.service.Publish(t.Context(), *made)
	require.NoError(t, err)
	assert.Equal(t, history.PendingCI, result.Outcome)
	assert.Equal(t, []string{
		"the issue and the pull request were not read: no route to GitHub",
		"whether CI runs on the default branch was not read, so the change waits for CI: GitHub is broken",
	}, result.Warnings)
}
