package tests

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
)

// split are the workflows with a job that proposes and one that publishes.
var split = []string{"autoloop.yml", "autoloop-iterate.yml"}

const strongToken = "ghp_9876543210fedcbaSECRET"

func TestActProposesAndPublishesApart(t *testing.T) {
	t.Parallel()
	r := newRunner(t, map[string]string{"value.txt": "10\n"}, split...)
	r.program(countdown)
	r.tokens, r.secrets["AUTOLOOP_TOKEN"] = map[string]bool{hubToken: false, strongToken: true}, strongToken
	had := map[string]bool{} // the jobs in whose environment the token was
	stop := watchProcesses("environ", func(text string) {
		if _, job, of := strings.Cut(text, "\x00GITHUB_JOB="); of && strings.Contains(text, strongToken) {
			job, _, _ = strings.Cut(job, "\x00")
			had[job] = true
		}
	})
	run := r.trigger("schedule", everyHour)
	stop()
	require.Zero(t, run.code, run)
	assert.Equal(t, "9", r.run(r.bare, "git", "show", "autoloop/p:value.txt"))
	assert.NotZero(t, r.openPull())
	assert.ElementsMatch(t, []string{"autoloop-bundle-p", "autoloop-transcripts-p"}, r.uploads())
	r.writesAfterTheStart(strongToken)
	assert.Subset(t, []string{"schedule", "publish"}, slices.Collect(maps.Keys(had)), "a job that runs code of programs had the token")

	// With the workflow's token alone, whose rights a job limits.
	delete(r.secrets, "AUTOLOOP_TOKEN")
	r.tokens = map[string]bool{hubToken: true}
	run = r.trigger("workflow_dispatch", dispatched("p"))
	require.Zero(t, run.code, run)
	assert.Equal(t, "8", r.run(r.bare, "git", "show", "autoloop/p:value.txt"))
	r.writesAfterTheStart(hubToken)
	r.Change(func(s *githubtest.State) { assert.Len(t, s.Pulls, 1) })

	run = r.trigger("schedule", everyHour)
	require.Zero(t, run.code, run)
	assert.Equal(t, map[string]string{"Autoloop/schedule": "success"}, run.results(), "nothing is due")
	assert.Empty(t, wrote(r.seen()))
}

// writesAfterTheStart holds that nothing was written before the proposal was
// handed on, but for the push of the start.
func (r *runner) writesAfterTheStart(token string) {
	r.t.Helper()
	all := wrote(r.seen())
	require.Greater(r.t, len(all), 4)
	for i, q := range all {
		assert.Equal(r.t, token, q.token, "%s %s", q.method, q.path)
		if i < 2 {
			assert.Zero(r.t, q.uploaded)
			assert.Contains(r.t, q.path, "git-receive-pack", "the start")
			continue
		}
		assert.Equal(r.t, 2, q.uploaded, "%s %s before the proposal was handed on", q.method, q.path)
	}
}
