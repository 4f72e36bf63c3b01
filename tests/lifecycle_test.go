package tests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
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

// TestResumedAfterCITimeout waits anew, and green that came meanwhile ends the pause.
func TestResumedAfterCITimeout(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	for name, resumed := range map[string]bool{"resumed": true, "green": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inJobs(t, func(t *testing.T, twoJobs bool) {
				t.Helper()
				h := newHubIn(t, twoJobs, map[string]string{"value.txt": "10\n"}, "9", "8")
				h.program(strings.Replace(onIssue, "metric: m",
					"ci-gate: required\nci-wait: 1s\nci-timeout: 2s\nmetric: m", 1))
				first := h.one()
				if first.Stopped == "" {
					first = h.one()
				}
				require.Contains(t, first.Stopped, "paused", "%v", first.Reasons)
				if resumed {
					h.reports(*first.Commit, map[string]string{"build": ""})
					h.say("alice", "/autoloop resume")
					got := h.one()
					assert.Empty(t, got.Stopped, "it waits anew")
					assert.Equal(t, "pending-ci", got.Outcome)
				}
				h.reports(*first.Commit, map[string]string{"build": "success"})
				got := h.one()
				assert.Equal(t, "accepted", got.Outcome, "%v", got.Reasons)
				assert.NotContains(t, h.remembered("p.md"), "| Paused | true |")
				h.replays()
			})
		})
	}
}

// TestCIThatMayNotBeRead is waited for, with the reason, until ci-timeout pauses with the
// permission that is missing.
func TestCIThatMayNotBeRead(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "9", "8")
	h.program(strings.Replace(onIssue, "metric: m", "ci-gate: required\nci-wait: 1s\nci-timeout: 3s\nmetric: m", 1))
	h.Fail(githubtest.Fault{Kind: githubtest.Forbidden, Path: "check-runs", Times: 1000})
	got := h.one()
	assert.Equal(t, "pending-ci", got.Outcome)
	assert.Contains(t, strings.Join(got.Reasons, "\n"), "could not be read")
	for range 4 {
		if got.Stopped == "" {
			got = h.one()
		}
	}
	assert.Contains(t, got.Stopped, "paused")
	assert.Contains(t, got.Stopped, "checks=read")
}

// TestUndoOfACompletedProgram ends its completion; the pull request says at once what is
// in it now, and the next run measures anew.
func TestUndoOfACompletedProgram(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	inJobs(t, func(t *testing.T, twoJobs bool) {
		t.Helper()
		h := newHubIn(t, twoJobs, map[string]string{"value.txt": "10\n"}, "9", "2", "8")
		h.program(onIssue)
		require.Equal(t, "accepted", h.one().Outcome)
		require.Contains(t, h.one().Stopped, "completed")
		h.say("alice", "/autoloop undo 2")
		got := h.one()
		assert.NotContains(t, got.Stopped, "completed")
		assert.NotContains(t, h.remembered("p.md"), "| Completed | true |")
		assert.NotContains(t, h.pullBody(), "→ 2**")
		h.replays()
	})
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

// TestClosedWhileCIIsPending pauses, and what CI says later opens nothing.
func TestClosedWhileCIIsPending(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	h, commit := waiting(t, true, "required", func(*hub, string) {})
	h.Close(h.openPull())
	h.reports(commit, map[string]string{"build": "success"})
	got := h.one()
	assert.Contains(t, got.Stopped, "closed")
	assert.Zero(t, h.openPull())
	got = h.one()
	assert.Zero(t, h.openPull(), "%v", got.Reasons)
	assert.Contains(t, h.remembered("p.md"), "| Paused | true |")
}

// TestReopenedGoesOn: the pause that closing made ends, with the same pull request.
func TestReopenedGoesOn(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	for name, gate := range map[string]string{"draft": "off", "waiting for CI": "required"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHubIn(t, true, map[string]string{"value.txt": "10\n"}, "9", "8")
			h.program(strings.Replace(onIssue, "metric: m", "ci-gate: "+gate+"\nci-wait: 1s\nmetric: m", 1))
			first := h.one()
			pull := h.openPull()
			h.Close(pull)
			assert.Contains(t, h.one().Stopped, fmt.Sprintf("pull request #%d closed", pull))
			h.Reopen(pull)
			if gate == "required" {
				h.reports(*first.Commit, map[string]string{"build": "success"})
			}
			got := h.one()
			assert.Equal(t, "accepted", got.Outcome, "%v %s", got.Reasons, got.Stopped)
			assert.Equal(t, pull, h.openPull())
			assert.Len(t, h.site.look().Pulls, 1)
			assert.NotContains(t, h.remembered("p.md"), "| Paused | true |")
			h.replays()
		})
	}
}

// TestMergedIntoAnotherBranch is not merged into the default branch: the program goes on
// where it was.
func TestMergedIntoAnotherBranch(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	h := newHubIn(t, true, map[string]string{"value.txt": "10\n"}, "9", "8", "7")
	h.program(onIssue)
	require.Equal(t, "accepted", h.one().Outcome)
	pull := h.openPull()
	h.run(h.bare, "git", "branch", "next", "autoloop/p")
	h.Change(func(s *githubtest.State) { s.Pull(pull).Base = "next" })
	h.site.merged(pull)
	got := h.one()
	assert.Equal(t, "accepted", got.Outcome, "%v %s", got.Reasons, got.Stopped)
	assert.Equal(t, "8", h.run(h.bare, "git", "show", "autoloop/p:value.txt"))
	assert.Contains(t, h.run(h.bare, "git", "log", "--format=%B", "autoloop/p"), "Autoloop-Iteration: 1",
		"its gain is still there")
	assert.NotContains(t, []int{0, pull}, h.openPull())
	h.replays()
}
