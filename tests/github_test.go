package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	for name, twoJobs := range map[string]bool{"one job": false, "two jobs": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wholeLife(t, twoJobs)
		})
	}
}

func wholeLife(t *testing.T, twoJobs bool) {
	t.Helper()
	h := newHubIn(t, twoJobs, map[string]string{"value.txt": "10\n"}, "8", "9", "fail", "7", "6", "1")
	h.env = append(h.env, "AUTOLOOP_PAUSED=false") // as a workflow hands it on
	h.program(onIssue)

	h.ok("scheduler")
	a := h.ok("iterate", "--json")
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
	a = h.ok("scheduler")
	assert.NotContains(t, a.stdout, "selected")
}

// A machine that goes away in the middle of a run of Actions leaves the lease.
func TestLeaseOfEndedRunIsFree(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "9", "8", "7")
	h.program(strings.Replace(onIssue, "  value=",
		`  [ -e "$SIDE/begun" ] || { touch "$SIDE/begun"; sleep 600; }`+"\n  value=", 1))
	h.env = append(h.env, "GITHUB_ACTIONS=true", "GITHUB_RUN_ID=77", "GITHUB_RUN_ATTEMPT=1")
	begun := filepath.Join(h.side, "begun")
	leave := func() {
		_ = os.Remove(begun)
		cmd := h.command("iterate", "--program", "p")
		require.NoError(t, cmd.Start())
		assert.Eventually(t, func() bool { _, err := os.Stat(begun); return err == nil }, 5*time.Minute,
			20*time.Millisecond)
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}
	leave()
	h.env = append(h.env, "GITHUB_RUN_ID=78")
	for _, c := range []struct{ status, outcome string }{
		{"", "busy"},
		{"in_progress", "busy"},
		{"completed", "accepted"},
	} {
		h.Change(func(s *githubtest.State) {
			if s.Runs = map[int64]string{}; c.status != "" {
				s.Runs[77] = c.status
			}
		})
		assert.Equal(t, c.outcome, h.one().Outcome, c.status)
	}
	leave()
	h.env = append(h.env, "GITHUB_RUN_ATTEMPT=2")
	assert.Equal(t, "accepted", h.one().Outcome, "a run that is started again")
}
