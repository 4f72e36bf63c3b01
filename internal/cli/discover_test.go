package cli_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/golden"
)

const issueProgram = "---\nschedule: daily\nmetric_direction: lower\n---\n## Goal\nFast.\n## Target\n`a.go`\n" +
	"## Evaluation\n```sh\necho 1\n```\n"

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// newGitHubDirectory is a directory with a repository on GitHub.
func newGitHubDirectory(t *testing.T, fill func(*githubtest.State)) (*directory, *githubtest.Server) {
	t.Helper()
	state := githubtest.NewState("org/repo")
	state.Roles["alice"] = "OWNER"
	if fill != nil {
		fill(state)
	}
	server := githubtest.New(t, state)
	server.Change(func(*githubtest.State) { server.Token = "secret-token" })
	d := newDirectory(t)
	d.vars["GITHUB_API_URL"], d.vars["GITHUB_REPOSITORY"], d.vars["GITHUB_TOKEN"] = server.URL, "org/repo", server.Token
	d.vars["HOME"] = t.TempDir()
	d.sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	return d, server
}

func TestSixRequestsForHundredIssues(t *testing.T) {
	t.Parallel()
	d, server := newGitHubDirectory(t, func(s *githubtest.State) {
		for i := range 100 {
			author := "alice"
			if i%4 == 3 {
				author = fmt.Sprintf("stranger%d", i)
			}
			s.OpenIssue(author, fmt.Sprintf("Program %d", i), issueProgram, noon, "autoloop-program")
		}
		for range 20 {
			pull := s.OpenIssue("alice", "a pull request with the label", "", noon, "autoloop-program")
			s.Pulls = append(s.Pulls, &githubtest.Pull{
				Number: pull.Number, Head: "x", Base: "main",
				HeadOf: "org/repo",
			})
		}
	})
	a := d.run()
	require.Equal(t, 0, a.code, a.errors)
	calls := server.Calls()
	assert.LessOrEqual(t, len(calls), 6, "%v", calls)
	plan := d.plan()
	assert.Len(t, plan["issue_programs"], 75)
	assert.Len(t, plan["untrusted"], 25)
	assert.Equal(t, "program-0", plan["selected"])
	assert.InDelta(t, 1, plan["selected_issue"], 0)
	assert.Equal(t, "lower", plan["selected_metric_direction"])
	text, err := os.ReadFile(filepath.Join(d.dir, "issue-programs", "program-0.md"))
	require.NoError(t, err)
	assert.Equal(t, issueProgram, string(text))
	assert.Equal(t, filepath.Join(d.dir, "issue-programs", "program-0.md"), plan["selected_file"])
}

func TestAuthorsOfPrograms(t *testing.T) {
	t.Parallel()
	d, _ := newGitHubDirectory(t, func(s *githubtest.State) {
		s.OpenIssue("mallory", "Steal", "---\ntrusted-associations: [NONE]\n---\n"+issueProgram, noon,
			"autoloop-program")
		s.OpenIssue("private", "Mine", issueProgram, noon, "autoloop-program")
		s.Permissions["private"] = "write"
	})
	a := d.run()
	require.Equal(t, 0, a.code, a.errors)
	plan := d.plan()
	assert.Equal(t, map[string]any{"mine": 2.0}, plan["issue_programs"])
	untrusted, ok := plan["untrusted"].([]any)
	require.True(t, ok)
	require.Len(t, untrusted, 1)
	golden.Line(t, untrusted[0])
	assert.Equal(t, 2, d.run("--program", "steal").code, "not by name either")
}

func TestStrangersIssuesHideNoProgram(t *testing.T) {
	t.Parallel()
	d, server := newGitHubDirectory(t, func(s *githubtest.State) {
		for i := range 9 {
			s.OpenIssue(fmt.Sprintf("stranger%d", i), fmt.Sprintf("Program %d", i), issueProgram, noon,
				"autoloop-program")
		}
		s.OpenIssue("private", "Mine", issueProgram, noon, "autoloop-program")
		s.Permissions["private"] = "admin"
	})
	require.Equal(t, 0, d.run().code)
	assert.Equal(t, map[string]any{"mine": 10.0}, d.plan()["issue_programs"])
	server.Fail(githubtest.Fault{Kind: githubtest.BadGateway, Path: "/collaborators", Times: 1000})
	a := d.run()
	require.Equal(t, 0, a.code)
	assert.Empty(t, d.plan()["issue_programs"])
	assert.Empty(t, d.plan()["untrusted"], "nobody is called a stranger who could not be asked for")
	assert.Contains(t, a.errors, "issue programs were not read and do not")
	a = d.run("--program", "mine")
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.errors, `"mine"; there are: none; issue programs`)
}

func TestOwnIssueAndPullRequestOfTheSelected(t *testing.T) {
	t.Parallel()
	d, server := newGitHubDirectory(t, func(s *githubtest.State) {
		s.OpenIssue("autoloop[bot]", "[Autoloop: fast]", "", noon, "autoloop-program")
		for i, of := range []string{"org/fork", "org/repo"} {
			issue := s.OpenIssue("alice", "[Autoloop: fast]", "", noon)
			s.Pulls = append(s.Pulls, &githubtest.Pull{
				Number: issue.Number, Head: "autoloop/fast", Base: "main",
				HeadOf: of, HeadSHA: fmt.Sprint(i),
			})
		}
	})
	d.program("fast", "schedule: hourly")
	require.Equal(t, 0, d.run().code)
	plan := d.plan()
	assert.InDelta(t, 1, plan["selected_issue"], 0)
	assert.InDelta(t, 3, plan["existing_pr"], 0, "the fork's is not ours")
	assert.Empty(t, plan["issue_programs"])
	server.Change(func(s *githubtest.State) { s.Variables["AUTOLOOP_PAUSED"] = "true" })
	require.Equal(t, 0, d.run().code)
	assert.Nil(t, d.plan()["selected"])
}

func TestStatusLinksToGitHub(t *testing.T) {
	t.Parallel()
	d, _ := newGitHubDirectory(t, func(s *githubtest.State) {
		s.OpenIssue("alice", "Speed", issueProgram, noon, "autoloop-program")
	})
	d.program("fast", "schedule: hourly")
	d.state("fast", monthAgo+"| PR | #9 |\n| Issue | #8 |\n")
	a := d.iterate("status")
	require.Equal(t, 0, a.code, a.errors)
	assert.Contains(t, a.out, "https://github.com/org/repo/pull/9")
	assert.Contains(t, a.out, "https://github.com/org/repo/issues/1", "an issue program that never ran")
	assert.NotContains(t, d.iterate("status", "--local").out, "https://")
}

func TestRepoNeedsAToken(t *testing.T) {
	t.Parallel()
	d, _ := newGitHubDirectory(t, nil)
	d.vars["GITHUB_TOKEN"] = ""
	d.program("fast", "schedule: hourly")
	assert.Equal(t, 0, d.run().code, "a workflow without a token runs its file programs")
	a := d.run("--repo", "org/repo")
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.errors, "GITHUB_TOKEN")
}
