package tests

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
)

// inActJobs runs a test with the workflow of one job and with those of two.
func inActJobs(t *testing.T, files map[string]string, test func(t *testing.T, r *runner)) {
	t.Helper()
	for name, workflows := range map[string][]string{"one job": {"autoloop-simple.yml"}, "two jobs": split} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newRunner(t, files, workflows...))
		})
	}
}

// asks starts program p by hand, and lets its run end well.
func (r *runner) asks() workflowRun {
	r.t.Helper()
	run := r.trigger("workflow_dispatch", dispatched("p"))
	require.Zero(r.t, run.code, run)
	return run
}

// value is the number on the program's branch.
func (r *runner) value() string {
	r.t.Helper()
	return r.run(r.bare, "git", "show", "autoloop/p:value.txt")
}

// TestActPromotesAgainstTheDefaultBranch has a person push something worse than the
// default branch to the program's: a gain over that alone opens nothing.
func TestActPromotesAgainstTheDefaultBranch(t *testing.T) {
	t.Parallel()
	inActJobs(t, map[string]string{"value.txt": "10\n"}, func(t *testing.T, r *runner) {
		t.Helper()
		r.program(strings.Replace(countdown, "- 1 ))", "- 6 ))", 1))
		r.pushes("autoloop/p", "main", "value.txt", "20\n")
		r.asks()
		assert.Equal(t, "14", r.value())
		assert.Zero(t, r.openPull())
		assert.Contains(t, r.ledger(), `"kind":"stays-on-branch"`)
		r.asks()
		assert.Equal(t, "8", r.value())
		require.NotZero(t, r.openPull())
		assert.Contains(t, r.pullBody(), "10 → 8**")
	})
}

// TestActKeepsWorkflowFilesOut has a default branch with a workflow that the token may
// not push: the branch keeps its own base, and stays mergeable.
func TestActKeepsWorkflowFilesOut(t *testing.T) {
	t.Parallel()
	inActJobs(t, map[string]string{"value.txt": "10\n", "offset.txt": "0\n"}, func(t *testing.T, r *runner) {
		t.Helper()
		r.program(strings.Replace(countdown, `"$(cat value.txt)"`, `"$(($(cat value.txt) + $(cat offset.txt)))"`, 1))
		r.asks()
		first := head(t, r.bare, "autoloop/p")
		r.pushes("main", "main", ".github/workflows/ci.yml", "on: issues\njobs: {}\n")
		r.pushes("main", "main", "offset.txt", "100\n")
		r.asks()
		assert.Equal(t, "8", r.value())
		assert.Equal(t, first, r.run(r.bare, "git", "rev-parse", "autoloop/p^"), "only the candidate's commit is pushed")
		assert.NotContains(t, r.run(r.bare, "git", "ls-tree", "-r", "--name-only", "autoloop/p"), "ci.yml")
		assert.Contains(t, r.remembered("p.md"), "| Best Metric | 108 |", "what is measured has the default branch in it")
		r.run(r.bare, "git", "merge-tree", "--write-tree", "main", "autoloop/p")
		assert.Contains(t, r.pullBody(), "110 → 108**")
	})
}

// TestActKeepsTheGainOfAMerge squashes the pull request after the agent began: the
// gain is replayed on what was merged, and gets a pull request of its own.
func TestActKeepsTheGainOfAMerge(t *testing.T) {
	t.Parallel()
	inActJobs(t, map[string]string{"value.txt": "10\n"}, func(t *testing.T, r *runner) {
		t.Helper()
		r.program(countdown)
		r.asks()
		first := r.openPull()
		require.NotZero(t, first)

		var began atomic.Bool
		var once sync.Once
		merged := make(chan struct{})
		cmd, out := r.start(t.Context(), "workflow_dispatch", dispatched("p"))
		out.watch = func(text string) {
			if strings.Contains(text, "p #2 propose") {
				began.Store(true)
				go once.Do(func() {
					defer close(merged)
					r.squashes()
					r.site.merged(first)
				})
			}
		}
		r.mu.Lock()
		r.cut = func(q request, serve func()) {
			if q.write && began.Load() {
				<-merged // nothing is recorded before it
			}
			serve()
		}
		r.mu.Unlock()
		_ = cmd.Run()
		run := r.ended(cmd, out)
		require.Zero(t, run.code, run)
		require.True(t, began.Load(), run)
		assert.Equal(t, "8", r.value())
		r.mu.Lock()
		r.cut = nil
		r.mu.Unlock()

		r.asks()
		assert.Equal(t, "7", r.value())
		assert.NotContains(t, r.remembered("p.md"), "| Paused | true |")
		log := r.run(r.bare, "git", "log", "--format=%B", "main..autoloop/p")
		assert.Contains(t, log, "Autoloop-Iteration: 2", "the gain is kept, on what was merged")
		assert.NotContains(t, log, "Autoloop-Iteration: 1")
		require.NotZero(t, r.openPull())
		assert.NotEqual(t, first, r.openPull())
		assert.Contains(t, r.pullBody(), "9 → 7**")
		r.Change(func(s *githubtest.State) { assert.Len(t, s.Pulls, 2) })
	})
}

// TestActMakesIsolationPossible has a runner of GitHub's whose kernel forbids what
// isolation needs until sudo changes it: the job that runs the program does that.
func TestActMakesIsolationPossible(t *testing.T) {
	t.Parallel()
	inActJobs(t, map[string]string{"value.txt": "10\n"}, func(t *testing.T, r *runner) {
		t.Helper()
		tools := filepath.Join(r.side, "tools")
		require.NoError(t, os.MkdirAll(tools, 0o755)) //nolint:gosec // Jobs run what is in it.
		userns := filepath.Join(r.side, "userns")
		require.NoError(t, os.WriteFile(userns, []byte("1\n"), 0o600))
		for tool, script := range map[string]string{
			"sysctl": `if [ "$1" = -n ]; then cat '` + userns + `'; else echo 0 >'` + userns + `'; fi`, "sudo": `shift; exec "$@"`,
		} {
			require.NoError(t, os.WriteFile(filepath.Join(tools, tool), []byte("#!/bin/sh\n"+script+"\n"), 0o700)) //nolint:gosec // it is run
		}
		r.more = append(r.more, "RUNNER_ENVIRONMENT=github-hosted", "PATH="+tools+string(os.PathListSeparator)+os.Getenv("PATH"))
		r.program(countdown)
		run := r.asks()
		assert.Equal(t, 1, strings.Count(run.printed(), "Isolation:"), run)
		assert.Contains(t, run.printed(), "Isolation: allowed for this job (kernel.apparmor_restrict_unprivileged_userns=0)\n")
		text, err := os.ReadFile(userns)
		require.NoError(t, err)
		assert.Equal(t, "0\n", string(text))
		assert.Equal(t, "9", r.value())
	})
}
