package tests

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// planned is what the scheduler wrote.
type planned struct {
	Selected      *string        `json:"selected"`
	SelectedIssue *int           `json:"selected_issue"`
	ExistingPR    *int           `json:"existing_pr"`
	IssuePrograms map[string]int `json:"issue_programs"`
	Untrusted     []struct {
		Name   string
		Issue  int
		Reason string
	}
	Warnings []string
}

// plan runs the scheduler and reads what it wrote.
func (s *scene) plan() (plan planned) {
	s.t.Helper()
	a := s.binary("scheduler")
	require.Zero(s.t, a.code, a.stderr)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(s.dir), "gh-aw", "autoloop.json"))
	require.NoError(s.t, err)
	require.NoError(s.t, json.Unmarshal(text, &plan))
	return plan
}

// programsAreFoundOnAllPages has more issues than fit on a page, a stranger's
// among them, and a pull request with the title of a program.
func programsAreFoundOnAllPages(t *testing.T, on maker) {
	s := on(t, map[string]string{"value.txt": "10\n"}, "9")
	s.program(onIssue)
	weekly := strings.Replace(onIssue, "metric: m", "metric: m\nschedule: weekly", 1)
	for i := range 101 {
		s.site.open("alice", fmt.Sprintf("Other %d", i), weekly, "autoloop-program")
	}
	s.site.open("bob", "Bobs", weekly, "autoloop-program")
	stranger := s.site.open("mallory", "Mine", onIssue, "autoloop-program")
	s.site.open("mallory", "Other 7", "no label")
	s.site.imitate("mallory", "autoloop/other-7", "[Autoloop: other-7]")

	s.site.requests()
	plan := s.plan()
	assert.LessOrEqual(t, s.site.requests(), 6)
	assert.Len(t, plan.IssuePrograms, 103)
	assert.Equal(t, 102, plan.IssuePrograms["other-100"])
	assert.Equal(t, 103, plan.IssuePrograms["bobs"], "a collaborator's")
	require.Len(t, plan.Untrusted, 1)
	assert.Equal(t, stranger, plan.Untrusted[0].Issue)
	assert.Contains(t, plan.Untrusted[0].Reason, "mallory is NONE in this repository")
	require.NotNil(t, plan.SelectedIssue)
	assert.Equal(t, "p", *plan.Selected, "the one without a schedule")
	assert.Equal(t, 1, *plan.SelectedIssue)
	assert.Nil(t, plan.ExistingPR)

	require.Equal(t, "accepted", s.one().Outcome)
	s.site.rewrite(1, "Another title", onIssue)
	plan = s.plan()
	assert.Equal(t, 1, plan.IssuePrograms["p"], "the state keeps its name")
}

// theIssueOfAFileProgramIsAdopted has a stranger's issue with the very title,
// then a maintainer's, who closes it later.
func theIssueOfAFileProgramIsAdopted(t *testing.T, on maker) {
	s := on(t, map[string]string{"value.txt": "10\n", ".autoloop/programs/p.md": onIssue}, "9", "8", "7")
	foreign := s.site.open("mallory", "[Autoloop: p]", "mine", "autoloop-program")
	own := s.site.open("alice", "[Autoloop: p]", "ours", "autoloop-program")
	require.Equal(t, "accepted", s.one().Outcome)
	there := s.site.look()
	assert.Empty(t, there.On(foreign), "a stranger's is not adopted")
	assert.Len(t, there.On(own), 2, "one on the iteration, one with the status")
	assert.Equal(t, "ours", there.Issue(own).Body)
	assert.Len(t, there.Issues, 3, "and the pull request")
	assert.Contains(t, s.remembered("p.md"), fmt.Sprintf("| Issue | #%d |", own))

	s.site.closed(own)
	s.site.say("mallory", own, "/autoloop pause")
	pull := s.openPull()
	s.site.say("alice", pull, "Smaller steps, please.")
	s.site.review("bob", pull, "value.txt", "Why not 7.5?\n/autoloop set target-metric 1")
	s.site.review("mallory", pull, "value.txt", "Why not 1000?")
	require.Equal(t, "accepted", s.one().Outcome)
	there = s.site.look()
	assert.True(t, there.Issue(own).Open, "it is opened again")
	assert.Contains(t, there.Issue(own).Labels, "autoloop-program")
	told := s.told(2)
	assert.Contains(t, told, "Smaller steps, please.", "what is said on the pull request is heard")
	assert.Contains(t, told, "on value.txt: Why not 7.5?")
	assert.NotContains(t, told, "1000")
	replies := there.On(pull)
	assert.Contains(t, replies[len(replies)-1].Body, "The target is 1")
}

// aForksPullRequestIsNotOurs has a pull request with our title and from a
// branch with our name, but of a fork.
func aForksPullRequestIsNotOurs(t *testing.T, on maker) {
	s := on(t, map[string]string{"value.txt": "10\n"}, "9", "8")
	s.program(onIssue)
	s.site.imitate("mallory", "autoloop/p", "[Autoloop: p]")
	require.Equal(t, "accepted", s.one().Outcome)
	require.Equal(t, "accepted", s.one().Outcome)
	there := s.site.look()
	require.Len(t, there.Pulls, 2)
	fork, own := there.Pulls[0], there.Pulls[1]
	assert.Equal(t, "mallory/repo", fork.HeadOf)
	assert.Empty(t, there.Issue(fork.Number).Body)
	assert.True(t, there.Issue(fork.Number).Open)
	assert.Equal(t, there.Repository, own.HeadOf)
	assert.Equal(t, own.Number, *s.plan().ExistingPR)
}
