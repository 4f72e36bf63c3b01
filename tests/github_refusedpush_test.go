package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

const (
	refusedForWorkflow = "remote origin refused the push: autoloop/p ([remote rejected] (refusing to allow a GitHub App to create or update workflow " +
		"`.github/workflows/ci.yml` without `workflows` permission))"
	refusedByRule = "remote origin refused the push: autoloop/p ([remote rejected] (protected branch hook declined)): " +
		"leave `autoloop/**` out of the branch's rules, or let them except the token"
)

// changingWorkflows is a repository whose program may change a workflow file.
func changingWorkflows(t *testing.T, twoJobs bool) *hub {
	t.Helper()
	body := strings.Replace(working("  echo '# more' >> .github/workflows/ci.yml\n"), "metric: m\n", "metric: m\ntarget: [value.txt, .github/workflows/ci.yml]\n", 1)
	return newHubIn(t, twoJobs, map[string]string{
		"value.txt": "10\n", ".github/workflows/ci.yml": "on: issues\njobs: {}\n", ".autoloop/programs/p.md": body,
	}, "9", "8", "7")
}

// TestARefusedPushIsRecorded lets the target name a workflow: nothing but the
// candidate itself is refused.
func TestARefusedPushIsRecorded(t *testing.T) {
	t.Parallel()
	inJobs(t, func(t *testing.T, twoJobs bool) {
		t.Helper()
		h := changingWorkflows(t, twoJobs)
		got := h.one()
		assert.Equal(t, "error", got.Outcome)
		assert.Contains(t, got.Stopped, "paused: "+refusedForWorkflow)
		assert.Contains(t, got.Stopped, "AUTOLOOP_TOKEN")
		assert.Contains(t, got.Stopped, "take `.github/workflows` out of the Target")
		assert.Empty(t, head(t, h.bare, "autoloop/p"))
		assert.Contains(t, h.remembered("p.md"), "refusing to allow a GitHub App")
		assert.Contains(t, h.ledger(), "refusing to allow a GitHub App")
		assert.Equal(t, "idle", h.one().Outcome, "no agent works for nothing")
		assert.Equal(t, 1, h.agentRuns())
	})
}

// TestARefusedUndoIsRecorded takes the right to change workflows away before an
// iteration that changed one is undone.
func TestARefusedUndoIsRecorded(t *testing.T) {
	t.Parallel()
	inJobs(t, func(t *testing.T, twoJobs bool) {
		t.Helper()
		h := changingWorkflows(t, twoJobs)
		require.NoError(t, githubtest.AllowWorkflows(h.bare, true))
		require.Equal(t, "accepted", h.one().Outcome)
		kept := head(t, h.bare, "autoloop/p")
		require.NoError(t, githubtest.AllowWorkflows(h.bare, false))
		h.say("alice", "/autoloop undo 1")
		got := h.one()
		assert.Contains(t, got.Stopped, "paused: "+refusedForWorkflow)
		assert.Contains(t, got.Stopped, "AUTOLOOP_TOKEN")
		assert.Equal(t, kept, head(t, h.bare, "autoloop/p"))
		assert.Contains(t, h.ledger(), "Iteration 1 is not undone: remote origin refused the push")
		assert.Contains(t, h.remembered("p.md"), "| Paused | true |")
		require.Len(t, h.answers(), 1)
		assert.Contains(t, h.answers()[0], "Iteration 1 is not undone: remote origin refused the push: autoloop/p")
		assert.Contains(t, h.answers()[0], "AUTOLOOP_TOKEN")
		assert.Equal(t, 1, h.agentRuns())

		require.NoError(t, githubtest.AllowWorkflows(h.bare, true))
		h.say("alice", "/autoloop undo 1\n/autoloop resume")
		require.Equal(t, "accepted", h.one().Outcome)
		assert.Contains(t, h.answers()[1], "Iteration 1 is undone by commit")
		assert.Contains(t, h.run(h.bare, "git", "log", "--format=%s", "autoloop/p"), "Undo iteration 1")
	})
}

// TestPreReceiveRefusalIsRecorded has a hook of the server that takes nothing of a push
// with the program's branch in it.
func TestPreReceiveRefusalIsRecorded(t *testing.T) {
	t.Parallel()
	inJobs(t, func(t *testing.T, twoJobs bool) {
		t.Helper()
		h := newHubIn(t, twoJobs, map[string]string{"value.txt": "10\n"}, "9", "8")
		h.program(onIssue)
		hook := "#!/bin/sh\n! grep -q autoloop/p || { echo no robots here >&2; exit 1; }\n"
		require.NoError(t, os.WriteFile(filepath.Join(h.bare, "hooks", "pre-receive"), []byte(hook), 0o755))
		got := h.one()
		assert.Equal(t, "error", got.Outcome)
		assert.Contains(t, got.Stopped, "which says: no robots here: let the server's hook take")
		assert.Contains(t, h.remembered("p.md"), "| Paused | true |")
		assert.Equal(t, "idle", h.one().Outcome, "no agent works for nothing")
	})
}

// TestARefusedMoveIsRecorded has a rule that keeps the branch where it is, and a
// default branch that moves on: the candidate is not kept, and its baseline is of a
// commit that cannot be pushed.
func TestARefusedMoveIsRecorded(t *testing.T) {
	t.Parallel()
	inJobs(t, func(t *testing.T, twoJobs bool) {
		t.Helper()
		h := newHubIn(t, twoJobs, map[string]string{"value.txt": "10\n"}, "9", "20", "8")
		h.program(onIssue)
		require.Equal(t, "accepted", h.one().Outcome)
		kept := head(t, h.bare, "autoloop/p")
		require.NoError(t, githubtest.ProtectBranch(h.bare, "autoloop/p"))
		h.pushes("main", "main", "other.txt", "x\n")
		got := h.one()
		assert.Equal(t, "error", got.Outcome, "%v", got.Reasons)
		assert.Contains(t, got.Stopped, "paused: "+refusedByRule)
		assert.Contains(t, h.ledger(), "protected branch hook declined")
		assert.Equal(t, kept, head(t, h.bare, "autoloop/p"))

		require.NoError(t, githubtest.ProtectBranch(h.bare, ""))
		h.say("alice", "/autoloop resume")
		got = h.one()
		assert.Equal(t, "accepted", got.Outcome, "%v", got.Reasons)
		assert.Equal(t, "8", text(got.Best))
	})
}

// TestARefusedReplayIsRecorded has a rule that keeps the branch where it is while a
// candidate waits for CI whose pull request was merged without it.
func TestARefusedReplayIsRecorded(t *testing.T) {
	long.Only(t, long.TwoJobs)
	t.Parallel()
	h, _ := mergedWhileCIIsWaitedFor(t, false, "9", "8", "7")
	kept := head(t, h.bare, "autoloop/p")
	require.NoError(t, githubtest.ProtectBranch(h.bare, "autoloop/p"))
	got := h.one()
	assert.Equal(t, "rejected", got.Outcome, "%v", got.Reasons)
	assert.Contains(t, got.Stopped, "paused: "+refusedByRule)
	assert.Equal(t, kept, head(t, h.bare, "autoloop/p"))
	require.NoError(t, githubtest.ProtectBranch(h.bare, ""))
	h.say("alice", "/autoloop resume")
	got = h.one()
	assert.Equal(t, "pending-ci", got.Outcome, "%v", got.Reasons)
	assert.Contains(t, h.run(h.bare, "git", "log", "--format=%B", "autoloop/p"), "Autoloop-Iteration: 2", "the gain is replayed")
}

// TestAnAttemptThatIsNotKeptIsSaid has rules against the branch on which a failed
// candidate is kept, and against moving the program's own back.
func TestAnAttemptThatIsNotKeptIsSaid(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	for name, rule := range map[string]string{"the branch of attempts": "autoloop-failed/*", "the program's branch": "autoloop/p"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := gated(t, onOurServer, "9")
			require.Equal(t, "pending-ci", h.one().Outcome)
			h.report("failure", "x_test.go:12: expected 3, got 4")
			h.try("8.5")
			require.Equal(t, "pending-ci", h.one().Outcome)
			attempt := head(t, h.bare, "autoloop/p")
			h.report("failure", "x_test.go:12: expected 3, got 4")
			require.NoError(t, githubtest.ProtectBranch(h.bare, rule))
			stuck := h.one()
			assert.Equal(t, "ci-fix-exhausted", stuck.Outcome)
			assert.Contains(t, stuck.Stopped, "protected branch hook declined")
			assert.Contains(t, stuck.Stopped, "leave `autoloop/**` out of the branch's rules")
			assert.Contains(t, h.ledger(), "protected branch hook declined")
			if rule == "autoloop/p" {
				assert.Equal(t, attempt, head(t, h.bare, "autoloop/p"))
				return
			}
			assert.Contains(t, stuck.Stopped, fmt.Sprintf("the attempt, commit %s, is not kept: ", attempt))
			assert.NotContains(t, stuck.Stopped, "look at the attempt on")
		})
	}
}
