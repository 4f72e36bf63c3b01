package tests

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/models/client/modeltest"
	"github.com/org/autoloop/tests/long"
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

func TestBudgetOfIterations(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "metric_direction: lower\nbudget: {iterations: 2, per: month}", "9", "8", "7", "6", "5")
	got := w.iterate("-n", "4")
	require.Len(t, got, 3, "two iterations, and why there is no third")
	reason := regexp.MustCompile(`^budget: 2 of 2 iterations used this month; it resumes at \d{4}-\d\d-01T00:00:00Z$`)
	assert.Regexp(t, reason, got[2].Stopped)
	assert.Regexp(t, reason, w.held())
	plan := w.plan()
	require.Len(t, plan.Skipped, 1)
	assert.Regexp(t, reason, plan.Skipped[0].Reason)
	w.frontmatter("# more") // A new month would do; so does a higher limit.
	w.write(".autoloop/programs/p.md", strings.Replace(w.read(".autoloop/programs/p.md"), "iterations: 2", "iterations: 3", 1))
	assert.Equal(t, "accepted", w.one().Outcome)
}

func TestBudgetOfTokens(t *testing.T) {
	t.Parallel()
	w, server := askingWorld(t, better("1", "2"), better("2", "3"), better("3", "4"))
	w.frontmatter("budget: {tokens: 1000, per: program}")
	got := w.iterate("--agent", "models", "--model", "m-1", "-n", "5")
	require.Len(t, got, 3)
	assert.Equal(t, "budget: 1460 of 1000 tokens used by this program; raise the limit to go on", got[2].Stopped)
	assert.Len(t, server.Requests(), 2, "nobody is asked beyond the budget")
}

func TestBudgetWithUnknownCost(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "metric_direction: lower\nbudget: {usd: 1, per: day}", "9", "8", "7", "6")
	assert.Len(t, w.iterate("-n", "2"), 2)
	w.frontmatter("unknown-cost: pause")
	assert.Regexp(t, `^budget: an unknown amount of USD \(2 iterations, unknown-cost: pause\) used this day; it resumes at `, w.held())
}

func TestBudgetOfMinutes(t *testing.T) {
	t.Parallel()
	w := agentWorld(t, `(setsid sleep 300 &) ; sleep 300`)
	w.frontmatter("budget: {minutes: 0.02, per: iteration}")
	begun := time.Now()
	got := w.one()
	assert.Less(t, time.Since(begun), 4*time.Minute)
	assert.Equal(t, "error", got.Outcome)
	assert.Contains(t, got.Reasons[0], "that its budget left")
	w.alone()
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

// TestRateLimitOfAnother: what one agent's service asks for keeps no other agent.
func TestRateLimitOfAnother(t *testing.T) {
	t.Parallel()
	w, _ := askingWorld(t, modeltest.Wait(7200))
	w.frontmatter("agent-command: echo 2 > value.txt")
	require.Equal(t, "idle", w.one("--agent", "models", "--model", "m-1").Outcome)
	assert.Equal(t, "accepted", w.one("--agent", "command").Outcome)
}

// TestBudgetAndCI: an iteration that waits for CI is settled whatever was used,
// but with nothing left no agent is asked to fix it.
func TestBudgetAndCI(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "9", "8")
	h.program(strings.Replace(onIssue, "metric: m", "ci-gate: required\nci-wait: 1s\nci-timeout: 1h\nmetric: m\nbudget: {iterations: 1, per: program}", 1))
	require.Equal(t, "pending-ci", h.one().Outcome)
	candidate := head(t, h.bare, "autoloop/p")
	h.report("failure", "x_test.go:12: expected 3, got 4")
	red := h.one()
	assert.Equal(t, "pending-ci", red.Outcome)
	assert.Contains(t, strings.Join(red.Reasons, "\n"), "budget: 1 of 1 iterations used by this program")
	assert.Equal(t, candidate, head(t, h.bare, "autoloop/p"), "nothing is fixed")
	h.report("success")
	assert.Equal(t, "accepted", h.one().Outcome)
	assert.Contains(t, h.one().Stopped, "budget: 1 of 1 iterations")
}
