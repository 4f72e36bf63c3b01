package tests

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// mergesAs merges the open pull request with a merge commit or squashed, and perhaps
// deletes its branch, as a person does.
func (h *hub) mergesAs(squash, deleted bool) (pull int) {
	h.t.Helper()
	pull = h.openPull()
	clone := h.t.TempDir()
	h.run("", "git", "clone", "--quiet", h.bare, clone)
	if squash {
		h.run(clone, "git", "merge", "--quiet", "--squash", "origin/autoloop/p")
		h.run(clone, "git", "commit", "--quiet", "--message", "Merge it")
	} else {
		h.run(clone, "git", "merge", "--quiet", "--no-ff", "--message", "Merge it", "origin/autoloop/p")
	}
	h.run(clone, "git", "push", "--quiet", "origin", "main")
	h.site.merged(pull)
	if deleted {
		h.deletes(pull)
	}
	return pull
}

// TestNextPullRequestListsWhatIsInIt and nothing that was merged, undone or dropped before.
func TestNextPullRequestListsWhatIsInIt(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	inJobs(t, func(t *testing.T, twoJobs bool) {
		t.Helper()
		h := newHubIn(t, twoJobs, map[string]string{"value.txt": "10\n"}, "9", "8", "7", "6")
		h.program(onIssue)
		require.Equal(t, "accepted", h.one().Outcome)
		h.merge()
		require.Equal(t, "accepted", h.one().Outcome)
		assert.Contains(t, h.pullBody(), "| 2 | 8 |")
		assert.NotContains(t, h.pullBody(), "| 1 | 9 |")
		h.say("alice", "/autoloop undo 2")
		require.Equal(t, "accepted", h.one().Outcome)
		assert.Contains(t, h.pullBody(), "| 3 | 7 |")
		assert.NotContains(t, h.pullBody(), "| 2 | 8 |")
	})
}

// What follows are cells of TestLifecycle in two jobs.

// TestMergedWhileCIIsPending settles the iteration: it is kept, whatever CI says or never
// says, and no second pull request has it.
func TestMergedWhileCIIsPending(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	for name, how := range map[string]struct {
		squash, deleted bool
		ci              string // what CI says after the merge, "" nothing
	}{
		"squashed":             {squash: true},
		"merged and deleted":   {deleted: true},
		"merged, and CI fails": {ci: "failure"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, commit := waiting(t, true, "required", func(*hub, string) {})
			pull := h.mergesAs(how.squash, how.deleted)
			if how.ci != "" {
				h.reports(commit, map[string]string{"build": how.ci})
			}
			got := h.one()
			assert.Equal(t, "accepted", got.Outcome, "%v", got.Reasons)
			assert.Equal(t, 1, got.Iteration)
			assert.NotContains(t, strings.Join(got.Warnings, "\n"), "422")
			assert.Empty(t, got.Stopped)
			assert.Zero(t, h.openPull())
			assert.NotContains(t, h.site.look().Issue(pull).Body, "Closed before CI")
			got = h.one()
			assert.Equal(t, 2, got.Iteration, "%v %s", got.Reasons, got.Stopped)
			h.replays()
		})
	}
}
