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

// asked is a program whose pull request has everything that one can ask for.
func asked(whenReady string) string {
	return strings.Replace(onIssue, "comments: all\n", `pull-request:
  title: "{type}({scope}): {summary}"
  labels: [fast]
  reviewers: [bob]
  assignees: [alice]
  when-ready: `+whenReady+"\n", 1)
}

// ready marks the open pull request ready for review, or a draft again.
func (h *hub) ready(is bool) {
	h.t.Helper()
	number := h.openPull()
	h.Change(func(s *githubtest.State) { s.Pull(number).Draft = !is })
}

// TestWhatAPullRequestIsAskedForIsNotLost ends the run at every write around the
// opening of the pull request; the next one does the rest.
func TestWhatAPullRequestIsAskedForIsNotLost(t *testing.T) {
	long.Only(t, long.TwoJobs)
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "9", "8")
	h.program(asked("stop"))
	m := h.moment()
	h.Calls()
	require.Equal(t, "accepted", h.one().Outcome)
	var writes []githubtest.Call
	for _, call := range h.Calls() {
		if call.Write() {
			writes = append(writes, call)
		}
	}
	struck := 0
	for write, call := range writes {
		if !strings.Contains(call.Path, "/pulls") &&
			!strings.Contains(call.Path, fmt.Sprintf("/issues/%d/", h.openPull())) {
			continue
		}
		for _, f := range []fault{
			{githubtest.Dropped, true, false},
			{githubtest.Dropped, true, true},
			{githubtest.ServerError, false, false},
		} {
			struck++
			t.Run(fmt.Sprintf("%s %s %s", call.Method, call.Path, f), func(t *testing.T) {
				t.Parallel()
				again := m.begin(t)
				again.strike(f, write)
				again.runOnce()
				there := again.site.look()
				pull := again.openPull()
				issue := there.Issue(pull)
				assert.Equal(t, []string{"fast"}, issue.Labels)
				assert.Equal(t, []string{"alice"}, issue.Assignees)
				assert.Equal(t, []string{"bob"}, there.Pull(pull).Reviewers)
				assert.Contains(t, again.remembered("p.md"), fmt.Sprintf("| PR | #%d |", pull))
				assert.Len(t, there.Pulls, 1)
			})
		}
	}
	assert.GreaterOrEqual(t, struck, 9, "opening, labels, assignees and reviewers")
}
