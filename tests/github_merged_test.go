package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

// squashes merges what is on the branch into main as one commit, as a person does
// with the button.
func (s *scene) squashes() {
	clone := filepath.Join(s.t.TempDir(), "clone")
	for _, args := range [][]string{
		{"git", "clone", "--quiet", s.bare, clone},
		{"git", "-C", clone, "merge", "--quiet", "--squash", "origin/autoloop/p"},
		{"git", "-C", clone, "commit", "--quiet", "--message", "Merge it"},
		{"git", "-C", clone, "push", "--quiet", "origin", "main"},
	} {
		cmd := exec.CommandContext(s.t.Context(), args[0], args[1:]...)
		cmd.Env = s.env
		out, err := cmd.CombinedOutput()
		assert.NoError(s.t, err, "%v: %s", args, out)
	}
}

// duringTheAgent runs an iteration and does something while its agent works.
func (h *hub) duringTheAgent(do func()) (got iteration) {
	h.t.Helper()
	h.meanwhile(func() { got = h.one() }, do)
	return got
}

// meanwhile runs an iteration by run, and does something while its agent works.
func (h *hub) meanwhile(run, do func()) {
	h.t.Helper()
	begun, goOn := filepath.Join(h.side, "begun"), filepath.Join(h.side, "go-on")
	done := make(chan struct{})
	var ended atomic.Bool
	go func() {
		defer close(done)
		defer func() { assert.NoError(h.t, os.WriteFile(goOn, nil, 0o600)) }() // also when do ends the test
		for h.t.Context().Err() == nil && !ended.Load() {
			if _, err := os.Stat(begun); err == nil {
				do()
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	run()
	ended.Store(true)
	<-done
}

// waitingAtTwo is onIssue whose agent waits for duringTheAgent at iteration 2.
func waitingAtTwo() string {
	return strings.Replace(onIssue, "  value=", "  [ \"$AUTOLOOP_ITERATION\" != 2 ] || { touch \"$SIDE/begun\"; while [ ! -e \"$SIDE/go-on\" ]; do sleep 0.05; done; }\n  value=", 1)
}

// withAPull is a repository whose first candidate was kept, with its pull request.
func withAPull(t *testing.T, twoJobs bool) (h *hub, pull int) {
	t.Helper()
	h = newHubIn(t, twoJobs, map[string]string{"value.txt": "10\n"}, "9", "8", "8.5")
	h.program(waitingAtTwo())
	require.Equal(t, "accepted", h.one().Outcome)
	return h, h.openPull()
}

// TestMergedWhileAnIterationRuns squashes the pull request while the agent works:
// its gain is replayed on what was merged, and gets a pull request of its own.
func TestMergedWhileAnIterationRuns(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	inJobs(t, func(t *testing.T, twoJobs bool) {
		t.Helper()
		h, first := withAPull(t, twoJobs)
		body := ""
		got := h.duringTheAgent(func() {
			h.squashes()
			h.site.merged(first)
			h.Change(func(s *githubtest.State) { body = s.Issue(first).Body })
		})
		require.Equal(t, "accepted", got.Outcome, "%v", got.Reasons)
		h.Change(func(s *githubtest.State) {
			assert.Equal(t, body, s.Issue(first).Body, "what was merged is described, and nothing else")
		})

		got = h.one()
		assert.Equal(t, "rejected", got.Outcome, "%v %s", got.Reasons, got.Stopped)
		assert.NotContains(t, h.remembered("p.md"), "| Paused | true |")
		assert.Equal(t, "8", h.run(h.bare, "git", "show", "autoloop/p:value.txt"), "the gain is kept")
		assert.Equal(t, head(t, h.bare, "main"), h.run(h.bare, "git", "rev-parse", "autoloop/p^"), "on what was merged")
		assert.Contains(t, h.run(h.bare, "git", "log", "-1", "--format=%B", "autoloop/p"), "Autoloop-Iteration: 2")
		assert.NotEqual(t, first, h.openPull())
		require.NotZero(t, h.openPull())
		assert.Contains(t, h.pullBody(), "9 → 8**")
		h.replays()
	})
}

// mergedWhileCIIsWaitedFor merges the first pull request, squashed, while an agent
// works on the second candidate, for which CI is waited.
func mergedWhileCIIsWaitedFor(t *testing.T, twoJobs bool, tries ...string) (h *hub, first int) {
	t.Helper()
	h = newHubIn(t, twoJobs, map[string]string{"value.txt": "10\n", ".github/workflows/ci.yml": "on: pull_request\njobs: {}\n"}, tries...)
	h.program(strings.Replace(waitingAtTwo(), "metric: m\n", "ci-wait: 1s\nmetric: m\n", 1))
	require.Equal(t, "pending-ci", h.one().Outcome)
	h.report("success")
	require.Equal(t, "accepted", h.one().Outcome)
	first = h.openPull()
	got := h.duringTheAgent(func() {
		h.squashes()
		h.site.merged(first)
	})
	require.Equal(t, "pending-ci", got.Outcome, "%v", got.Reasons)
	return h, first
}

// TestMergedWhileCIIsWaitedFor squashes the pull request while an iteration begins
// that CI has to let through.
func TestMergedWhileCIIsWaitedFor(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	inJobs(t, func(t *testing.T, twoJobs bool) {
		t.Helper()
		h, first := mergedWhileCIIsWaitedFor(t, twoJobs, "9", "8")
		if h.openPull() == 0 {
			got := h.one() // in one job the next run sees that it was merged
			require.Equal(t, "pending-ci", got.Outcome, "%v", got.Reasons)
		}
		require.NotZero(t, h.openPull(), "CI runs on pull requests alone")
		assert.NotEqual(t, first, h.openPull())
		assert.Equal(t, head(t, h.bare, "main"), h.run(h.bare, "git", "rev-parse", "autoloop/p^"))
		h.replays()
		h.report("success")
		got := h.one()
		assert.Equal(t, "accepted", got.Outcome, "%v", got.Reasons)
		assert.Equal(t, "8", text(got.Best))
		h.replays()
	})
}

// TestClosedAndOpenedAgainIsNoPause closes the pull request and opens it again
// between two runs.
func TestClosedAndOpenedAgainIsNoPause(t *testing.T) {
	t.Parallel()
	inJobs(t, func(t *testing.T, twoJobs bool) {
		t.Helper()
		h := newHubIn(t, twoJobs, map[string]string{"value.txt": "10\n"}, "9", "8")
		h.program(onIssue)
		require.Equal(t, "accepted", h.one().Outcome)
		pull := h.openPull()
		h.Close(pull)
		h.Reopen(pull)
		got := h.one()
		assert.Equal(t, "accepted", got.Outcome, "%v %s", got.Reasons, got.Stopped)
		assert.Equal(t, pull, h.openPull())
		assert.Contains(t, h.pullBody(), "10 → 8**")
		assert.Contains(t, h.remembered("p.md"), fmt.Sprintf("| PR | #%d |", pull))
		assert.Zero(t, h.count("paused"))
	})
}

// deletes merges a pull request as a repository does that deletes its branch then;
// GitHub keeps the commits.
func (h *hub) deletes(pull int) {
	for _, args := range [][]string{
		{"git", "-C", h.bare, "update-ref", fmt.Sprintf("refs/pull/%d/head", pull), "refs/heads/autoloop/p"},
		{"git", "-C", h.bare, "update-ref", "-d", "refs/heads/autoloop/p"},
	} {
		cmd := exec.CommandContext(h.t.Context(), args[0], args[1:]...)
		cmd.Env = h.env
		out, err := cmd.CombinedOutput()
		assert.NoError(h.t, err, "%v: %s", args, out)
	}
}

// replays holds that the audit of the records finds nothing.
func (h *hub) replays() {
	h.t.Helper()
	a := h.binary("iterate", "replay", "p", "--remote", "origin")
	assert.Zero(h.t, a.code, a.stdout+a.stderr)
}
