package tests

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

// waiting is a hub whose program waits for CI, and whose first candidate is on its
// branch. Before says what main has by then.
func waiting(t *testing.T, before func(h *hub, main string)) (h *hub, commit string) {
	t.Helper()
	h = newHub(t,
		map[string]string{"value.txt": "10\n", ".github/workflows/ci.yml": "on: pull_request\njobs: {}\n"}, "9", "8")
	h.program(strings.Replace(onIssue, "metric: m", "ci-gate: required\nci-wait: 1s\nmetric: m", 1))
	before(h, head(t, h.bare, "main"))
	first := h.one()
	require.Equal(t, "pending-ci", first.Outcome, "%v", first.Reasons)
	return h, *first.Commit
}

// inJobs runs a test in one job and in two.
func inJobs(t *testing.T, test func(t *testing.T, twoJobs bool)) {
	t.Helper()
	for name, twoJobs := range map[string]bool{"one job": false, "two jobs": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, twoJobs)
		})
	}
}

// reports lets CI say something, check by check.
func (h *hub) reports(commit string, conclusions map[string]string) {
	h.Change(func(s *githubtest.State) {
		for name, conclusion := range conclusions {
			s.Report(commit, name, conclusion, "", time.Now())
		}
	})
}

// TestGreenNeedsEveryExpectedCheck lets CI say less than it said of the base.
func TestGreenNeedsEveryExpectedCheck(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	h, commit := waiting(t, func(h *hub, main string) {
		h.reports(main, map[string]string{"build": "success", "test": "success"})
		h.Change(func(s *githubtest.State) {
			s.Rules = map[string][]githubtest.RequiredCheck{"main": {{Name: "license/cla"}}}
			s.Protections = map[string][]githubtest.RequiredCheck{"main": {{Name: "policy"}}}
		})
	})
	for _, step := range []struct{ check, conclusion, waits string }{
		{"build", "success", "test succeeded on the base and did not run here"},
		{"test", "skipped", "test succeeded on the base and is skipped here"},
		{"test", "success", "license/cla is required by the rules of the target branch and did not run here"},
		{"license/cla", "success", "policy is required by the rules of the target branch and did not run here"},
	} {
		h.reports(commit, map[string]string{step.check: step.conclusion})
		got := h.one()
		require.Equal(t, "pending-ci", got.Outcome, "%s is %s", step.check, step.conclusion)
		assert.Contains(t, strings.Join(got.Reasons, "\n"), step.waits)
	}
	h.reports(commit, map[string]string{"policy": "success"})
	assert.Equal(t, "accepted", h.one().Outcome)
}
