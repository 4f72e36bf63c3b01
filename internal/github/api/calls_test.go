package api_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/github/githubtest"
)

func TestIssueAndComments(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil, nil)
	ctx := t.Context()
	issue, err := h.CreateIssue(ctx, "[Autoloop: p]", "body", []string{"autoloop-program", "automation"})
	require.NoError(t, err)
	assert.Equal(t, []string{"autoloop-program", "automation"}, issue.Labels)
	require.NoError(t, h.SetIssueOpen(ctx, issue.Number, false))
	read, err := h.Issue(ctx, issue.Number)
	require.NoError(t, err)
	assert.False(t, read.Open)
	require.NoError(t, h.SetIssueOpen(ctx, issue.Number, true))
	first, err := h.CreateComment(ctx, issue.Number, "first")
	require.NoError(t, err)
	require.NoError(t, h.EditComment(ctx, first.ID, "edited"))
	h.Change(func(s *githubtest.State) { s.Say("alice", issue.Number, "later", noon.Add(time.Hour)) })
	comments, err := h.Comments(ctx, issue.Number, noon.Add(time.Minute))
	require.NoError(t, err)
	require.Len(t, comments, 1)
	assert.Equal(t, "alice", comments[0].Author)
	assert.Equal(t, "OWNER", comments[0].Association)
	require.NoError(t, h.React(ctx, comments[0].ID, commands.Talk, "eyes"))
	require.NoError(t, h.React(ctx, comments[0].ID, commands.Talk, "eyes"))
	h.Change(func(s *githubtest.State) { assert.Len(t, s.Reactions, 1) })
	require.NoError(t, h.AddLabels(ctx, issue.Number, "autoloop-completed"))
	require.NoError(t, h.RemoveLabel(ctx, issue.Number, "autoloop-program"))
	require.NoError(t, h.RemoveLabel(ctx, issue.Number, "autoloop-program"), "it is gone already")
}

func TestPulls(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil, func(s *githubtest.State) {
		s.Branches["main"], s.Branches["autoloop/p"] = "m1", "p1"
		s.NoDrafts = true
		fork := s.OpenIssue("mallory", "[Autoloop: p]", "", noon)
		s.Pulls = append(s.Pulls, &githubtest.Pull{
			Number: fork.Number, Head: "autoloop/p", Base: "main",
			HeadOf: "org/other",
		})
	})
	ctx := t.Context()
	pull, err := h.CreatePull(ctx, "autoloop/p", "main", "[Autoloop: p]", "body")
	require.NoError(t, err)
	assert.False(t, pull.Draft, "where there are no drafts")
	assert.Equal(t, "p1", pull.HeadSHA)
	_, err = h.CreatePull(ctx, "autoloop/p", "main", "[Autoloop: p]", "body")
	require.ErrorContains(t, err, "already exists")
	require.NoError(t, h.EditPull(ctx, pull.Number, "new body"))
	pulls, err := h.Pulls(ctx, "autoloop/p")
	require.NoError(t, err)
	require.Len(t, pulls, 1, "a branch of the same name elsewhere is not ours")
	assert.Equal(t, "new body", pulls[0].Body)
	h.Merge(pull.Number, "m2")
	read, err := h.Pull(ctx, pull.Number)
	require.NoError(t, err)
	assert.True(t, read.Merged)
	assert.False(t, read.Open)
	h.Change(func(s *githubtest.State) {
		s.ID++
		s.Comments = append(s.Comments,
			&githubtest.Comment{
				ID: s.ID, On: pull.Number, Author: "alice", Body: "here", Path: "a.go", Created: noon,
				Updated: noon,
			})
	})
	comments, err := h.ReviewComments(ctx, pull.Number, noon)
	require.NoError(t, err)
	require.Len(t, comments, 1)
	require.NoError(t, h.React(ctx, comments[0].ID, commands.Lines, api.Agreed))
}

func TestChecksAndStatuses(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil, func(s *githubtest.State) {
		s.Report("c1", "build", "success", "", noon)
		s.Report("c1", "test", "", "", noon)
		failed := s.Report("c1", "lint", "failure", "3 problems", noon)
		failed.Annotations = []string{"bad\nname"}
		s.ID++
		s.Checks = append(s.Checks, &githubtest.Check{
			ID: s.ID, Commit: "c1", Name: "legacy", Status: true,
			Conclusion: "error", Summary: "broke", Started: noon,
		})
		s.Report("c2", "build", "failure", "", noon)
	})
	checks, err := h.Checks(t.Context(), "c1")
	require.NoError(t, err)
	require.Len(t, checks, 4)
	assert.Equal(t, "in_progress", checks[1].Status)
	assert.Equal(t, "failure", checks[3].Conclusion)
	lines, err := h.Annotations(t.Context(), checks[2].ID)
	require.NoError(t, err)
	assert.Equal(t, []string{"file0.go: bad name"}, lines)
	require.NoError(t, h.Dispatch(t.Context(), "ci.yml", "autoloop/p"))
	h.Change(func(s *githubtest.State) { assert.Equal(t, []string{"ci.yml autoloop/p"}, s.Dispatched) })
}

func TestRepository(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil, func(s *githubtest.State) {
		s.Branches["main"], s.Permissions["bob"] = "m1", "write"
		s.Protected = []string{"main"}
		s.Variables["AUTOLOOP_PAUSED"] = "true"
		s.Workflows = []githubtest.Workflow{{Path: ".github/workflows/autoloop.yml", State: "disabled_inactivity"}}
	})
	ctx := t.Context()
	about, err := h.About(ctx)
	require.NoError(t, err)
	assert.Equal(t, "main", about.DefaultBranch)
	assert.Nil(t, about.Scopes)
	branch, found, err := h.Branch(ctx, "main")
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, api.Branch{Commit: "m1", Protected: true}, branch)
	_, found, err = h.Branch(ctx, "autoloop/none")
	require.NoError(t, err)
	assert.False(t, found)
	writers, refused, err := h.Writers(ctx, []string{"bob", "mallory"})
	require.NoError(t, err)
	require.NoError(t, refused)
	assert.Equal(t, map[string]bool{"bob": true}, writers)
	allowed, known, err := h.ActionsMayOpenPulls(ctx)
	require.NoError(t, err)
	assert.True(t, allowed && known)
	value, found, err := h.Variable(ctx, "AUTOLOOP_PAUSED")
	require.NoError(t, err)
	assert.Equal(t, "true", value)
	assert.True(t, found)
	workflows, err := h.Workflows(ctx)
	require.NoError(t, err)
	assert.Equal(t, "disabled_inactivity", workflows[0].State)
}

func TestManyStrangersPushNobodyAside(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil, func(s *githubtest.State) {
		for i := range 150 {
			s.Permissions[fmt.Sprintf("member%03d", i)] = "write"
		}
		s.Permissions["reader"], s.Permissions["boss"] = "read", "admin"
	})
	logins := []string{"reader", "boss", "Member149"}
	for i := range 300 {
		logins = append(logins, fmt.Sprintf("stranger%d", i))
	}
	h.Fail(githubtest.Fault{Kind: githubtest.BadGateway, Path: "/collaborators", Times: 1000})
	for _, few := range [][]string{logins, logins[:1]} {
		_, _, err := h.Writers(t.Context(), few)
		assert.True(t, unavailable(err), "%v", err)
	}
	h.Mend()
	h.Calls()
	for range 2 {
		writers, refused, err := h.Writers(t.Context(), logins)
		require.NoError(t, err)
		require.NoError(t, refused)
		assert.Equal(t, map[string]bool{"boss": true, "Member149": true}, writers)
	}
	assert.Len(t, h.Calls(), 2, "two pages, once")
}

func TestATokenThatMayNotListPeopleAsksForAFew(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil, func(s *githubtest.State) {
		s.Permissions["bob"], s.NoPeople = "write", true
	})
	writers, refused, err := h.Writers(t.Context(), []string{"bob", "mallory", "eve"})
	require.NoError(t, err)
	require.NoError(t, refused)
	assert.Equal(t, map[string]bool{"bob": true}, writers)
	h.Change(func(s *githubtest.State) { s.NoPermissions = true })
	writers, refused, err = h.Writers(t.Context(), []string{"carol"})
	require.NoError(t, err)
	require.Error(t, refused)
	assert.Empty(t, writers)
}
