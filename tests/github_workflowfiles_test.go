package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

// TestWorkflowFilesOnTheDefaultBranch changes a workflow on the default branch:
// the token may not push that, so that the branch keeps its own base.
func TestWorkflowFilesOnTheDefaultBranch(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	inJobs(t, func(t *testing.T, twoJobs bool) {
		t.Helper()
		h := newHubIn(t, twoJobs, map[string]string{"value.txt": "10\n", "offset.txt": "0\n"}, "9", "8", "7", "6", "5")
		h.program(strings.Replace(onIssue, `"$(cat value.txt)"`, `"$(($(cat value.txt) + $(cat offset.txt)))"`, 1))
		require.Equal(t, "accepted", h.one().Outcome)
		first := head(t, h.bare, "autoloop/p")
		h.pushes("main", "main", ".github/workflows/ci.yml", "on: issues\njobs: {}\n")
		h.pushes("main", "main", "offset.txt", "100\n")

		got := h.one()
		require.Equal(t, "accepted", got.Outcome, "%v", got.Reasons)
		assert.Equal(t, "108", text(got.Best), "what is measured has the default branch in it")
		assert.Equal(t, first, h.run(h.bare, "git", "rev-parse", "autoloop/p^"),
			"only the candidate's commit is pushed")
		assert.Equal(t, "8\n", h.run(h.bare, "git", "show", "autoloop/p:value.txt")+"\n")
		assert.NotContains(t, h.run(h.bare, "git", "ls-tree", "-r", "--name-only", "autoloop/p"), ".github/workflows")
		h.run(h.bare, "git", "merge-tree", "--write-tree", "main", "autoloop/p")
		assert.Contains(t, h.pullBody(), "110 → 108**")

		got = h.one()
		require.Equal(t, "accepted", got.Outcome, "%v", got.Reasons)
		assert.Equal(t, "107", text(got.Best))
		assert.Equal(t, 3, strings.Count(h.ledger(), `"role":"baseline"`)+strings.Count(h.ledger(),
			`"role":"incumbent","metric"`), "it is not measured anew")

		// The token may once the default branch has moved on.
		require.NoError(t, githubtest.AllowWorkflows(h.bare, true))
		h.pushes("main", "main", "offset.txt", "200\n")
		got = h.one()
		require.Equal(t, "accepted", got.Outcome, "%v", got.Reasons)
		assert.Equal(t, "206", text(got.Best))
		assert.Contains(t, h.run(h.bare, "git", "ls-tree", "-r", "--name-only", "autoloop/p"),
			".github/workflows/ci.yml")

		h.merge()
		got = h.one()
		require.Equal(t, "accepted", got.Outcome, "%v", got.Reasons)
		assert.Equal(t, "205", text(got.Best))
	})
}

// TestMergedWithAWorkflowFileThatTheBranchMayNotHave merges the pull request with a merge
// commit, after which the branch would move to the default branch, with that file.
func TestMergedWithAWorkflowFileThatTheBranchMayNotHave(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	inJobs(t, func(t *testing.T, twoJobs bool) {
		t.Helper()
		h := newHubIn(t, twoJobs, map[string]string{"value.txt": "10\n"}, "9", "11", "8")
		h.program(onIssue)
		require.Equal(t, "accepted", h.one().Outcome)
		first := head(t, h.bare, "autoloop/p")
		require.NoError(t, githubtest.RefuseWorkflows(h.bare))
		h.pushes("main", "main", ".github/workflows/ci.yml", "on: issues\njobs: {}\n")
		h.mergesAs(false, false)
		got := h.one()
		require.Equal(t, "rejected", got.Outcome, "%v", got.Reasons)
		got = h.one()
		require.Equal(t, "accepted", got.Outcome, "%v", got.Reasons)
		assert.Equal(t, "8", text(got.Best))
		assert.Equal(t, first, h.run(h.bare, "git", "rev-parse", "autoloop/p^"),
			"only the candidate's commit is pushed")
		assert.Equal(t, 2, strings.Count(h.ledger(), `"role":"baseline"`), "the merge is measured once")
		require.NotZero(t, h.openPull())
		h.replays()
	})
}

// TestCIFixesAChangeOnItsOwnBase lets CI turn down what was measured merged and
// pushed without the merge.
func TestCIFixesAChangeOnItsOwnBase(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	inJobs(t, func(t *testing.T, twoJobs bool) {
		t.Helper()
		h := newHubIn(t, twoJobs, map[string]string{"value.txt": "10\n"}, "9", "8")
		require.NoError(t, os.WriteFile(filepath.Join(h.side, "fixes"), []byte("0\n7.5\n"), 0o600))
		h.program(strings.Replace(lively(), "ci-wait: 5s", "ci-wait: 1s", 1))
		require.Equal(t, "pending-ci", h.one().Outcome)
		h.report("success")
		require.Equal(t, "accepted", h.one().Outcome)
		h.pushes("main", "main", ".github/workflows/ci.yml", "on: pull_request\njobs: {}\n")
		got := h.one()
		require.Equal(t, "pending-ci", got.Outcome, "%v", got.Reasons)
		h.report("failure", "error: no")
		got = h.one()
		require.Equal(t, "pending-ci", got.Outcome, "%v", got.Reasons)
		assert.Equal(t, "7.5", h.run(h.bare, "git", "show", "autoloop/p:value.txt"))
		assert.NotContains(t, h.run(h.bare, "git", "ls-tree", "-r", "--name-only", "autoloop/p"), ".github/workflows")
		h.report("success")
		got = h.one()
		require.Equal(t, "accepted", got.Outcome, "%v", got.Reasons)
		assert.Equal(t, "7.5", text(got.Best))
	})
}
