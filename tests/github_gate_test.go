package tests

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

// waiting is a hub whose program waits for CI, in one job or in two, and whose
// first candidate is on its branch. Before says what main has by then.
func waiting(t *testing.T, twoJobs bool, gate string, before func(h *hub, main string)) (h *hub, commit string) {
	t.Helper()
	h = newHubIn(t, twoJobs,
		map[string]string{"value.txt": "10\n", ".github/workflows/ci.yml": "on: pull_request\njobs: {}\n"}, "9", "8")
	h.program(strings.Replace(onIssue, "metric: m", "ci-gate: "+gate+"\nci-wait: 1s\nmetric: m", 1))
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

// TestTheCommitThatCIJudgedIsTheOneThatIsAccepted moves the branch while CI runs.
func TestTheCommitThatCIJudgedIsTheOneThatIsAccepted(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	inJobs(t, func(t *testing.T, twoJobs bool) {
		t.Helper()
		h, commit := waiting(t, twoJobs, "required", func(*hub, string) {})
		clone := filepath.Join(t.TempDir(), "clone")
		h.run("", "git", "clone", "--quiet", h.bare, clone)
		h.run(clone, "git", "checkout", "--quiet", "-b", "mine", "origin/main")
		h.run(clone, "sh", "-c", "echo 9.5 > value.txt")
		h.run(clone, "git", "commit", "--quiet", "--all", "--message", "Rather this")
		h.run(clone, "git", "push", "--quiet", "--force", "origin", "mine:autoloop/p")
		theirs := head(t, h.bare, "autoloop/p")
		h.reports(commit, map[string]string{"build": "success"})
		h.reports(theirs, map[string]string{"build": "success"})
		got := h.one()
		assert.Equal(t, "rejected", got.Outcome, "%v", got.Reasons)
		assert.Contains(t, strings.Join(got.Reasons, "\n"), "the branch is at "+theirs[:12])
		assert.Equal(t, theirs, head(t, h.bare, "autoloop/p"), "their commit stays")
		assert.Equal(t, "10", text(got.Best))
		assert.Contains(t, strings.ReplaceAll(h.remembered("p.md"), "\u200b", ""), "the branch is at "+theirs[:12])
		next := h.one()
		assert.Equal(t, "pending-ci", next.Outcome, "%v", next.Reasons)
		assert.Equal(t, theirs, h.run(h.bare, "git", "rev-parse", "autoloop/p^"), "the next begins with what is there")
	})
}

// TestGreenNeedsEveryExpectedCheck lets CI say less than it said of the base.
func TestGreenNeedsEveryExpectedCheck(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	inJobs(t, func(t *testing.T, twoJobs bool) {
		t.Helper()
		h, commit := waiting(t, twoJobs, "required", func(h *hub, main string) {
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
	})
}

// TestAWorkflowThatStillRunsIsWaitedFor has jobs that are not created yet, an app
// that still works, and another that never reports.
func TestAWorkflowThatStillRunsIsWaitedFor(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	inJobs(t, func(t *testing.T, twoJobs bool) {
		t.Helper()
		h, commit := waiting(t, twoJobs, "required", func(*hub, string) {})
		h.reports(commit, map[string]string{"build": "success"})
		run := &githubtest.WorkflowRun{Commit: commit, Name: "CI", Status: "in_progress"}
		suite := &githubtest.CheckSuite{Commit: commit, App: "scanner", Status: "queued", Checks: 1}
		h.Change(func(s *githubtest.State) {
			s.Begun = append(s.Begun, run)
			s.Suites = append(s.Suites, suite,
				&githubtest.CheckSuite{Commit: commit, App: "never-reports", Status: "queued"})
		})
		got := h.one()
		require.Equal(t, "pending-ci", got.Outcome)
		assert.Contains(t, strings.Join(got.Reasons, "\n"), "workflow CI is in progress")
		h.Change(func(*githubtest.State) { run.Status, run.Conclusion = "completed", "success" })
		got = h.one()
		require.Equal(t, "pending-ci", got.Outcome)
		assert.Contains(t, strings.Join(got.Reasons, "\n"), "workflow scanner is queued")
		h.Change(func(*githubtest.State) { suite.Status, suite.Conclusion = "completed", "success" })
		assert.Equal(t, "accepted", h.one().Outcome)
	})
}

func TestRulesAndRunsThatCannotBeReadAreNotGreen(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	h, commit := waiting(t, false, "required", func(*hub, string) {})
	h.env = append(h.env, "AUTOLOOP_GITHUB_PATIENCE=0s")
	h.reports(commit, map[string]string{"build": "success"})
	for _, path := range []string{"rules/branches", "check-suites", "actions/runs"} {
		h.Fail(githubtest.Fault{Kind: githubtest.ServerError, Path: path, Times: 1000})
		got := h.one()
		assert.Equal(t, "pending-ci", got.Outcome, path)
		assert.Contains(t, strings.Join(got.Reasons, "\n"), "could not be read", path)
		h.Mend()
	}
	h.Change(func(s *githubtest.State) { s.NoRuns = true })
	got := h.one()
	assert.Equal(t, "pending-ci", got.Outcome)
	assert.Contains(t, strings.Join(got.Reasons, "\n"), "the token")
	h.Change(func(s *githubtest.State) { s.NoRuns, s.NoRulesets = false, true })
	assert.Equal(t, "accepted", h.one().Outcome, "a plan without rulesets has no rules")
}

// TestACheckThatStaysQueuedPauses goes on until ci-timeout, and tells the cure.
func TestACheckThatStaysQueuedPauses(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	inJobs(t, func(t *testing.T, twoJobs bool) {
		t.Helper()
		h := newHubIn(t, twoJobs, map[string]string{"value.txt": "10\n"}, "9")
		h.CI = func(string) string { return "running" }
		h.program(strings.Replace(onIssue, "metric: m", "ci-gate: required\nci-wait: 1s\nci-timeout: 1s\nmetric: m", 1))
		got := h.one()
		assert.Equal(t, "pending-ci", got.Outcome)
		assert.Contains(t, got.Stopped, "paused: ci-timeout: ")
		assert.Contains(t, got.Stopped, "build is in progress")
		assert.Contains(t, got.Stopped, "look why build does not end")
		assert.Contains(t, got.Stopped, "/autoloop resume")
	})
}
