package tests

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

func TestPruneRemovesWhatGoneProgramsLeft(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n", ".autoloop/programs/old.md": onIssue}, "9", "8")
	h.env = append(h.env, "AUTOLOOP_GITHUB_PATIENCE=0s")
	h.program(onIssue)
	require.Equal(t, "accepted", h.one().Outcome)
	a := h.binary("iterate", "--program", "old")
	require.Zero(t, a.code, a.stderr)
	h.Fail(githubtest.Fault{Kind: githubtest.BadGateway, Path: "/issues", Times: 1000})
	a = h.binary("iterate", "prune", "--yes")
	assert.Equal(t, 1, a.code, "nothing is known to be gone")
	assert.NotContains(t, a.stdout, "p: ")
	h.Mend()

	h.git("rm", "--quiet", ".autoloop/programs/old.md")
	h.git("commit", "--quiet", "--message", "Remove the program old")
	h.git("push", "--quiet", h.bare, "HEAD:main")
	h.git("update-ref", "refs/remotes/origin/main", "HEAD")
	a = h.binary("iterate", "prune", "--yes")
	require.Zero(t, a.code, a.stderr)
	assert.Equal(t, "old: removed: state, branch autoloop/old, issue #3, pull request #4\n", a.stdout)
	assert.Empty(t, head(t, h.bare, "autoloop/old"))
	assert.Equal(t, ledgerFile+"\np.md\np.results.tsv",
		h.run(h.bare, "git", "ls-tree", "--name-only", "memory/autoloop"))
	there := h.site.look()
	assert.False(t, there.Issue(3).Open)
	assert.False(t, there.Issue(4).Open)
	assert.True(t, there.Issue(1).Open, "the issue that is a program stays")
	assert.True(t, there.Issue(2).Open, "and so does its pull request")
	assert.Equal(t, "accepted", h.one().Outcome, "the other goes on")
	a = h.binary("iterate", "prune", "--local", "--remote", "origin")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "p: kept (it may be a program that an issue holds")
}
