package tests

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// pushes commits a file to a branch as a person does, and returns the commit.
func (s *scene) pushes(branch, from, file, text string) string {
	s.t.Helper()
	clone := filepath.Join(s.t.TempDir(), "clone")
	s.run("", "git", "clone", "--quiet", s.bare, clone)
	s.run(clone, "git", "checkout", "--quiet", "-B", "mine", "origin/"+from)
	s.run(clone, "mkdir", "-p", filepath.Dir(filepath.Join(clone, file)))
	s.run(clone, "sh", "-c", "printf '%s' \"$1\" > \"$2\"", "sh", text, file)
	s.run(clone, "git", "add", "--all")
	s.run(clone, "git", "commit", "--quiet", "--message", "A person's "+file)
	s.run(clone, "git", "push", "--quiet", "origin", "mine:"+branch)
	return head(s.t, s.bare, branch)
}

// TestPromotionIsAgainstTheDefaultBranch has a person push something worse than
// the default branch: a gain over that alone is nothing to propose.
func TestPromotionIsAgainstTheDefaultBranch(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	inJobs(t, func(t *testing.T, twoJobs bool) {
		t.Helper()
		h := newHubIn(t, twoJobs,
			map[string]string{"value.txt": "10\n", ".github/workflows/ci.yml": "on: pull_request\njobs: {}\n"}, "15", "9")
		h.program(strings.Replace(onIssue, "metric: m\n", "metric: m\nci-wait: 1s\n", 1))
		h.pushes("autoloop/p", "main", "value.txt", "20\n")
		got := h.one()
		require.Equal(t, "accepted", got.Outcome, "CI runs on pull requests alone, and no pull request is open: %v",
			got.Reasons)
		assert.Equal(t, "15", text(got.Best))
		assert.Contains(t, strings.Join(got.Reasons, "\n"), "main measures 10, which 15 is not better than")
		assert.Zero(t, h.openPull())
		got = h.one()
		require.Equal(t, "pending-ci", got.Outcome, "%v", got.Reasons)
		require.NotZero(t, h.openPull())
		assert.Contains(t, h.pullBody(), "10 → 9**")
		h.report("success")
		require.Equal(t, "accepted", h.one().Outcome)
	})
}
