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
