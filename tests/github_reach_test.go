package tests

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

// TestAMemberWhoMayOnlyReadWritesNoProgramAndSteersNone has an organisation whose
// members may read.
func TestAMemberWhoMayOnlyReadWritesNoProgramAndSteersNone(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	inJobs(t, func(t *testing.T, twoJobs bool) {
		t.Helper()
		h := newHubIn(t, twoJobs, map[string]string{"value.txt": "10\n"}, "9", "8")
		h.Change(func(s *githubtest.State) { s.Roles["mel"], s.Permissions["mel"] = "MEMBER", "read" })
		h.program(onIssue)
		h.site.open("mel", "Mels", onIssue, "autoloop-program")
		h.say("mel", "/autoloop pause")
		h.say("mel", "Bigger steps, please.")
		require.Equal(t, "accepted", h.scene.one().Outcome)
		assert.NotContains(t, h.told(1), "Bigger")
		assert.Empty(t, h.answers())
		plan := h.plan()
		require.Len(t, plan.Untrusted, 1)
		assert.Contains(t, plan.Untrusted[0].Reason, "mel is MEMBER in this repository and may not push to it")
		assert.NotContains(t, plan.IssuePrograms, "mels")
		h.Change(func(s *githubtest.State) { s.Permissions["mel"] = "write" })
		assert.Contains(t, h.plan().IssuePrograms, "mels")
	})
}

// TestAnAPIThatCannotBeReachedIsOneWarning has a file program and no GitHub.
func TestAnAPIThatCannotBeReachedIsOneWarning(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(nil)
	gone.Close()
	s := newScene(t, map[string]string{
		"value.txt":               "10\n",
		".autoloop/programs/p.md": strings.Replace(onIssue, "metric: m", "ci-gate: off\nmetric: m", 1),
	}, "9")
	s.env = append(s.env, "GITHUB_API_URL="+gone.URL, "GITHUB_REPOSITORY=org/repo", "GITHUB_TOKEN="+hubToken,
		"AUTOLOOP_GITHUB_PATIENCE=0s")
	a := s.binary("scheduler")
	require.Zero(t, a.code, a.stderr)
	assert.Equal(t, 1, strings.Count(a.stdout+a.stderr, "cannot be reached"), a.stdout+a.stderr)
	got := s.one()
	assert.Equal(t, "accepted", got.Outcome)
	assert.Len(t, got.Warnings, 1, "%v", got.Warnings)
	a = s.binary("scheduler", "--compat")
	assert.Zero(t, a.code, a.stderr)
}

// TestARepositoryNameThatGitHubCouldNotHave is no reason to stop file programs.
func TestARepositoryNameThatGitHubCouldNotHave(t *testing.T) {
	t.Parallel()
	s := newScene(t, map[string]string{"value.txt": "10\n", ".autoloop/programs/p.md": onIssue}, "9")
	s.env = append(s.env, "GITHUB_REPOSITORY=no such/name", "GITHUB_TOKEN="+hubToken)
	for _, args := range [][]string{{"scheduler", "--compat"}, {"scheduler"}} {
		a := s.binary(args[0], args[1:]...)
		require.Zero(t, a.code, a.stderr)
		assert.Contains(t, a.stderr, `"no such/name" is no repository`)
	}
	assert.Equal(t, "accepted", s.one().Outcome)
	a := s.binary("iterate", "validate", "--issue", "1")
	assert.Equal(t, 2, a.code, "that needs GitHub")
	a = s.binary("scheduler", "--repo", "no such/name")
	assert.Equal(t, 2, a.code, "a name that is given is checked")
}
