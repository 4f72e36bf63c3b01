package tests

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func pruneRemovesWhatGoneProgramsLeft(t *testing.T, on maker) {
	h := on(t, map[string]string{"value.txt": "10\n", ".autoloop/programs/old.md": onIssue}, "9", "8")
	h.program(onIssue)
	require.Equal(t, "accepted", h.one().Outcome)
	a := h.binary("iterate", "--program", "old")
	require.Zero(t, a.code, a.stderr)
	a = h.binary("iterate", "prune")
	require.Zero(t, a.code, a.stderr)
	assert.Equal(t, "nothing is left of programs that are gone\n", a.stdout)

	h.git("rm", "--quiet", ".autoloop/programs/old.md")
	a = h.binary("iterate", "prune")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "old: kept (its file is in the default branch)",
		"what the default branch has is not gone")
	h.git("commit", "--quiet", "--message", "Remove the program old")
	h.git("push", "--quiet", h.bare, "HEAD:main")
	h.git("update-ref", "refs/remotes/origin/main", "HEAD")
	a = h.binary("iterate", "prune")
	require.Zero(t, a.code, a.stderr)
	assert.Equal(t, "old: left: state, branch autoloop/old, issue #3, pull request #4\n"+
		"remove it with `iterate prune --yes`\n", a.stdout)
	assert.NotEmpty(t, head(t, h.bare, "autoloop/old"), "nothing is removed without being asked")

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
