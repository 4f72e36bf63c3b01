package tests

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/models/client/modeltest"
)

// frontmatter adds lines to the frontmatter of program p.
func (w *world) frontmatter(lines ...string) {
	w.t.Helper()
	const file = ".autoloop/programs/p.md"
	w.write(file, strings.Replace(w.read(file), "---\n", "---\n"+strings.Join(lines, "\n")+"\n", 1))
}

// better raises the number in value.txt of askingWorld.
func better(from, to string) modeltest.Answer {
	return modeltest.Answer{
		Text:  "PLAN: more\nFILE: value.txt\n<<<<<<< SEARCH\n" + from + "\n=======\n" + to + "\n>>>>>>> REPLACE\n",
		Usage: modeltest.Tokens{Input: 700, Output: 30},
	}
}

// held runs one iteration that must not begin, and returns why.
func (w *world) held(args ...string) string {
	w.t.Helper()
	before := w.git("rev-parse", "memory/autoloop")
	got := w.one(args...)
	assert.Equal(w.t, "idle", got.Outcome)
	assert.Equal(w.t, []string{got.Stopped}, got.Reasons)
	assert.Equal(w.t, before, w.git("rev-parse", "memory/autoloop"), "nothing is written")
	return got.Stopped
}

// TestRateLimit: an iteration that the service will not serve is put off until
// the time that it names, and is no error.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	w, server := askingWorld(t, modeltest.Wait(7200), better("1", "2"))
	args := []string{"--agent", "models", "--model", "m-1"}
	got := w.iterate(append(args, "-n", "3")...)
	require.Len(t, got, 1)
	assert.Equal(t, "idle", got[0].Outcome)
	assert.Regexp(t, `^paused: the agent's service has a rate limit \(.*\); it resumes at `, got[0].Stopped)
	assert.Zero(t, w.count("decided"))
	last := w.last("finished")
	written, ok := last["not_before"].(string)
	require.True(t, ok)
	until, err := time.Parse(time.RFC3339, written)
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now().Add(2*time.Hour), until, 5*time.Minute)
	assert.Contains(t, w.memory("p.md"), "| Consecutive Errors | 0 |")
	assert.Contains(t, w.memory("p.md"), "| Not Before | "+until.Format(time.RFC3339)+" |")

	reason := "paused: the agent's service has a rate limit; it resumes at " + until.Format(time.RFC3339)
	assert.Equal(t, reason, w.held(args...))
	assert.Len(t, server.Requests(), 1)
	plan := w.plan()
	require.Len(t, plan.Skipped, 1)
	assert.Equal(t, reason, plan.Skipped[0].Reason)

	w.forge("p.md", func(text string) string {
		return strings.Replace(text, "| Not Before | "+until.Format(time.RFC3339), "| Not Before | —", 1)
	})
	result := w.one(args...)
	assert.Equal(t, "accepted", result.Outcome, result.Reasons)
	assert.Equal(t, 1, result.Iteration, "the same iteration")
	assert.Contains(t, w.memory("p.md"), "| Not Before | — |")
}
