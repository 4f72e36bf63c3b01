package tests

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
)

// countdown is a program whose agent makes the number one smaller each time.
const countdown = `---
metric: m
metric_direction: lower
evaluation-runs: 1
schedule: every 6h
agent: command
agent-command: echo $(( $(cat value.txt) - 1 )) > value.txt && echo "one less"
---
## Goal
Move the number.
## Target
- ` + "`value.txt`" + `
## Evaluation
` + "```sh" + `
printf '{"m": %s}\n' "$(cat value.txt)"
` + "```" + `
`

// everyHour is the event of a schedule.
var everyHour = map[string]any{"schedule": "17 * * * *"}

func TestActOneJob(t *testing.T) {
	t.Parallel()
	r := newRunner(t, map[string]string{"value.txt": "10\n", ".autoloop/programs/q.md": countdown}, "autoloop-simple.yml")
	run := r.trigger("schedule", everyHour)
	require.Zero(t, run.code, run)
	assert.Equal(t, "9", r.run(r.bare, "git", "show", "autoloop/q:value.txt"))
	r.seen()
	run = r.trigger("schedule", everyHour)
	require.Zero(t, run.code, run)
	assert.Contains(t, run.printed(), "not due yet")
	assert.Empty(t, wrote(r.seen()), "nothing is due")

	run = r.trigger("workflow_dispatch", dispatched("q"))
	require.Zero(t, run.code, run)
	assert.Equal(t, "8", r.run(r.bare, "git", "show", "autoloop/q:value.txt"), "asked for by name it runs though it is not due")
	r.Change(func(s *githubtest.State) { assert.Len(t, s.Pulls, 1) })

	run = r.trigger("workflow_dispatch", dispatched("no such"))
	assert.NotZero(t, run.code)
	assert.Equal(t, map[string]string{"Autoloop/run": "failure"}, run.results())

	r.vars["AUTOLOOP_PAUSED"] = "true"
	r.seen()
	run = r.trigger("workflow_dispatch", dispatched("q"))
	require.Zero(t, run.code, run)
	assert.Empty(t, wrote(r.seen()), "paused")
}

// dispatched is the event of a start by hand.
func dispatched(program string) map[string]any {
	return map[string]any{"inputs": map[string]any{"program": program}}
}
