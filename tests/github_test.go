package tests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

// onIssue is a program that an issue holds. Its agent writes line N of the file
// `values` at iteration N, and keeps what it was told; a line `fail` makes it
// fail.
const onIssue = `---
metric: m
metric_direction: lower
target-metric: 2
evaluation-runs: 1
comments: all
agent: command
agent-command: |
  cp "$AUTOLOOP_PROMPT" "$SIDE/prompt.$AUTOLOOP_ITERATION"
  value=$(sed -n "${AUTOLOOP_ITERATION}p" "$SIDE/values")
  [ "$value" != fail ] || exit 3
  echo "$value" > value.txt
  echo "try $value, says @octocat <b>"
env: [SIDE]
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

const hubToken = "ghs_0123456789abcdefSECRET"

func TestAProgramsWholeLife(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	inJobs(t, aProgramsWholeLife)
}

func aProgramsWholeLife(t *testing.T, twoJobs bool) {
	t.Helper()
	h := newHubIn(t, twoJobs, map[string]string{"value.txt": "10\n"}, "8", "9", "fail", "7", "6", "1")
	h.env = append(h.env, "AUTOLOOP_PAUSED=false") // as a workflow hands it on
	h.program(onIssue)

	a := h.binary("scheduler")
	require.Zero(t, a.code, a.stderr)
	a = h.binary("iterate", "--json")
	require.Zero(t, a.code, a.stderr)
	first := h.decode(a.stdout)[0]
	assert.Equal(t, "p", first.Program)
	assert.Equal(t, "accepted", first.Outcome)
	assert.Empty(t, first.Warnings)
	assert.Equal(t, head(t, h.bare, "autoloop/p"), *first.Commit)
	require.NotZero(t, h.openPull())

	h.site.requests()
	assert.Equal(t, "rejected", h.one().Outcome)
	h.atMost(7) // the pull request was made just before, so that reviews are asked for
	assert.Equal(t, "error", h.one().Outcome)

	h.say("alice", "Smaller steps, please.")
	h.say("mallory", "Bigger steps, please.")
	h.say("mallory", "/autoloop pause")
	h.site.requests()
	assert.Equal(t, "accepted", h.one().Outcome)
	h.atMost(12)
	assert.Contains(t, h.told(4), "Smaller steps, please.")
	assert.NotContains(t, h.told(4), "Bigger")

	h.merge()
	fifth := h.one()
	assert.Equal(t, "accepted", fifth.Outcome)
	assert.NotContains(t, h.told(5), "Smaller", "a comment is told once")
	assert.Equal(t, head(t, h.bare, "main"), h.run(h.bare, "git", "rev-parse", "autoloop/p^"),
		"it goes on from what was merged")
	sixth := h.one()
	assert.Equal(t, "accepted", sixth.Outcome)
	assert.Contains(t, sixth.Stopped, "target reached")

	there := h.site.look()
	assert.Equal(t, onIssue, there.Issue(1).Body, "the body is its owner's")
	assert.Equal(t, []string{"autoloop-completed"}, there.Issue(1).Labels)
	require.Len(t, there.Pulls, 2, "one for each merge, and the open one")
	assert.Empty(t, there.Reactions)
	var marks []string
	for _, c := range there.On(1) {
		if c.Author == there.Me {
			first, _, _ := strings.Cut(c.Body, "\n")
			marks = append(marks, first)
			assert.NotContains(t, c.Body, "@octocat")
			assert.NotContains(t, c.Body, "<b>")
		}
	}
	require.Len(t, marks, 8)
	assert.Equal(t, []string{
		"<!-- AUTOLOOP:ITERATION 1 -->", "<!-- AUTOLOOP:STATUS -->", "<!-- AUTOLOOP:ITERATION 2 -->",
		"<!-- AUTOLOOP:ITERATION 3 -->",
		"<!-- AUTOLOOP:ITERATION 4 -->", "<!-- AUTOLOOP:ITERATION 5 -->", "<!-- AUTOLOOP:ITERATION 6 -->",
	}, marks[:7])
	assert.Contains(t, there.On(1)[len(there.On(1))-1].Body, "is completed")
	assert.Contains(t, there.Issue(there.Pulls[1].Number).Body, "→ 1**")
	state := h.remembered("p.md")
	assert.Contains(t, state, "| Issue | #1 |")
	for iteration, pull := range map[int]int{1: 0, 4: 0, 5: 1, 6: 1} {
		assert.Contains(t, entryOf(state, iteration),
			fmt.Sprintf("- **Pull request**: #%d\n", there.Pulls[pull].Number))
	}
	assert.NotContains(t, entryOf(state, 2), "Pull request", "what was rejected is in none")
	assert.Contains(t, state, fmt.Sprintf("| PR | #%d |", h.openPull()))
	a = h.binary("scheduler")
	require.Zero(t, a.code, a.stderr)
	assert.NotContains(t, a.stdout, "selected")
}

func TestPausedByTheRepositorysVariable(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "8")
	h.program(onIssue)
	require.Zero(t, h.binary("scheduler").code)
	h.Change(func(s *githubtest.State) { s.Variables["AUTOLOOP_PAUSED"] = " True " })
	a := h.binary("iterate", "--program", "p", "--json")
	assert.Zero(t, a.code)
	assert.Contains(t, a.stderr, "variable AUTOLOOP_PAUSED is true")
	assert.JSONEq(t, "[]", a.stdout)
	a = h.binary("scheduler")
	assert.Zero(t, a.code)
	assert.Contains(t, a.stdout, "nothing is selected: AUTOLOOP_PAUSED is true")
	h.Change(func(s *githubtest.State) { s.Variables["AUTOLOOP_PAUSED"] = "false" })
	assert.Equal(t, "accepted", h.one().Outcome)
}

// requests are those of one iteration, as "METHOD pattern", but for what CI says.
func (h *hub) requests(args ...string) (iteration, []string) {
	h.t.Helper()
	h.Calls()
	one := h.one(args...)
	var list []string
	for _, call := range h.Calls() {
		if aboutCI(call.Pattern) {
			continue
		}
		list = append(list, call.Method+" "+call.Pattern)
	}
	return one, list
}
