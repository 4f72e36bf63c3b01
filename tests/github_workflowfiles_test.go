package tests

import (
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
		h := newHubIn(t, twoJobs, map[string]string{"value.txt": "10\n", "offset.txt": "0\n"}, "9", "8", "7")
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

		// The token may once the default branch has moved on.
		require.NoError(t, githubtest.AllowWorkflows(h.bare, true))
		h.pushes("main", "main", "offset.txt", "200\n")
		got = h.one()
		require.Equal(t, "accepted", got.Outcome, "%v", got.Reasons)
		assert.Equal(t, "207", text(got.Best))
		assert.Contains(t, h.run(h.bare, "git", "ls-tree", "-r", "--name-only", "autoloop/p"),
			".github/workflows/ci.yml")
	})
}
