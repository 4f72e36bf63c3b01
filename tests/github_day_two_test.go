package tests

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

func TestTheAPIIsDownAtDiscovery(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n", ".autoloop/programs/other.md": onIssue}, "9", "8")
	h.program(onIssue)
	require.Equal(t, "accepted", h.one().Outcome)
	h.env = append(h.env, "AUTOLOOP_GITHUB_PATIENCE=0s")
	h.Fail(githubtest.Fault{Kind: githubtest.BadGateway, Path: "/issues", Times: 1000})

	a := h.binary("scheduler")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "selected: other", "file programs run")
	assert.Contains(t, a.stderr, "issue programs were not read and do not run now: ")
	assert.Contains(t, a.stderr, "left as they are: p")

	for _, args := range [][]string{{"prune"}, {"prune", "--yes"}} {
		a = h.binary("iterate", args...)
		assert.Equal(t, 1, a.code, "%v", args)
		assert.NotContains(t, a.stdout, "p: ", "nothing is known to be gone")
	}
	assert.NotEmpty(t, h.remembered("p.md"))
	assert.NotEmpty(t, head(t, h.bare, "autoloop/p"))

	a = h.binary("iterate", "--program", "p")
	assert.Equal(t, 1, a.code, "it is GitHub's fault and not the caller's")
	assert.Contains(t, a.stderr, "issue programs were not read")
	h.Mend()
	assert.Equal(t, "accepted", h.one().Outcome)
}

func TestAnEnterpriseServer(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "9")
	h.program(onIssue)
	to, err := url.Parse(h.URL)
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("/api/v3/", http.StripPrefix("/api/v3", httputil.NewSingleHostReverseProxy(to)))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	h.env = append(h.env, "GITHUB_API_URL="+server.URL+"/api/v3", "GITHUB_SERVER_URL="+server.URL)
	got := h.one()
	assert.Equal(t, "accepted", got.Outcome)
	assert.Empty(t, got.Warnings)

	a := h.binary("iterate", "status", "--json")
	require.Zero(t, a.code, a.stderr)
	var list []struct {
		Name     string
		PRURL    string `json:"pr_url"`
		IssueURL string `json:"issue_url"`
	}
	require.NoError(t, json.Unmarshal([]byte(a.stdout), &list), a.stdout)
	require.Len(t, list, 1)
	assert.Equal(t, server.URL+"/org/repo/pull/2", list[0].PRURL)
	assert.Equal(t, server.URL+"/org/repo/issues/1", list[0].IssueURL)
	assert.Contains(t, h.binary("iterate", "status").stdout, server.URL+"/org/repo/pull/2")
}

func TestAForksLookAlikeIsLeftAlone(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "9")
	h.program(onIssue)
	h.Change(func(s *githubtest.State) {
		fork := s.OpenIssue("mallory", "[Autoloop: p]", "mine", time.Now())
		s.Pulls = append(s.Pulls, &githubtest.Pull{
			Number: fork.Number, Head: "autoloop/p", Base: "main",
			HeadOf: "mallory/repo", HeadSHA: strings.Repeat("0", 40),
		})
		// One of another branch of an organisation's own fork has our owner in its label.
		near := s.OpenIssue("mallory", "[Autoloop: p]", "mine", time.Now())
		s.Pulls = append(s.Pulls, &githubtest.Pull{
			Number: near.Number, Head: "autoloop/p", Base: "main",
			HeadOf: "org/fork", HeadSHA: strings.Repeat("0", 40),
		})
	})
	require.Equal(t, "accepted", h.one().Outcome)
	assert.Equal(t, 4, h.openPull(), "ours is another")
	a := h.binary("scheduler", "--program", "p", "--json")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, `"existing_pr": 4`)
	h.Change(func(s *githubtest.State) {
		for _, number := range []int{2, 3} {
			assert.Equal(t, "mine", s.Issue(number).Body)
			assert.True(t, s.Issue(number).Open)
			assert.Empty(t, s.On(number))
		}
	})
}

func TestStatusAndWhatIsNotUnderstoodAreAnswered(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "9")
	h.program(onIssue)
	require.Equal(t, "accepted", h.one().Outcome)
	h.say("alice", "/autoloop status")
	h.say("alice", "/autoloop set target-metric soon\n/autoloop undo")
	h.say("alice", "> /autoloop pause\n\n```\n/autoloop pause\n```")
	h.say("alice", "/autoloop other: pause")
	a := h.binary("iterate", "job", "steer", "--program", "p")
	require.Zero(t, a.code, a.stderr)
	answers := h.answers()
	require.Len(t, answers, 3, "%v", answers)
	assert.Contains(t, answers[0], "m **9**")
	assert.Contains(t, answers[1], "That was not understood: soon is no number")
	assert.Contains(t, answers[1], "say which iteration")
	assert.Contains(t, answers[2], "say it on the issue of `other`")
	assert.Contains(t, h.remembered("p.md"), "| Paused | false |")
	h.Change(func(s *githubtest.State) {
		var given []string
		for _, r := range s.Reactions {
			given = append(given, r.Content)
		}
		assert.Equal(t, []string{"+1", "confused", "confused"}, given)
	})
}
