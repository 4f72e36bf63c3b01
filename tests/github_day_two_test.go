package tests

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
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

func TestTheAPIIsDownAtDiscovery(t *testing.T) {
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
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "9")
	h.program(onIssue)
	h.Change(func(s *githubtest.State) {
		fork := s.OpenIssue("mallory", "[Autoloop: p]", "mine", time.Now())
		s.Pulls = append(s.Pulls, &githubtest.Pull{Number: fork.Number, Head: "autoloop/p", Base: "main", HeadOf: "mallory/repo", HeadSHA: strings.Repeat("0", 40)})
		// One of another branch of an organisation's own fork has our owner in its label.
		near := s.OpenIssue("mallory", "[Autoloop: p]", "mine", time.Now())
		s.Pulls = append(s.Pulls, &githubtest.Pull{Number: near.Number, Head: "autoloop/p", Base: "main", HeadOf: "org/fork", HeadSHA: strings.Repeat("0", 40)})
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

func TestCIThatEndsWithoutAResultPausesInTheEnd(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "9")
	h.program(strings.Replace(onIssue, "metric: m", "ci-gate: required\nci-wait: 1s\nci-timeout: 1s\nmetric: m", 1))
	base := head(t, h.bare, "main")
	h.Change(func(s *githubtest.State) {
		s.Report(base, "build", "failure", "error: failure", time.Now())
		h.CI = func(string) string { return "failure" }
	})
	got := h.one()
	assert.Equal(t, "pending-ci", got.Outcome)
	assert.Contains(t, got.Stopped, "paused: ci-timeout: after 1s CI has no result for ")
	assert.Contains(t, got.Stopped, "build fails on the base too")
	require.Equal(t, "pending-ci", h.one().Outcome)
	told := 0
	h.Change(func(s *githubtest.State) {
		for _, c := range s.On(1) {
			told += strings.Count(c.Body, "is paused**")
		}
	})
	assert.Equal(t, 1, told, "it is told once")
	h.report("success")
	assert.Equal(t, "accepted", h.one().Outcome, "somebody started it again")
}

func TestAFixForCIHasATimeLimit(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	withinLimit(t, func(minutes string) (bool, func()) {
		h := newHub(t, map[string]string{"value.txt": "10\n"}, "9")
		body := strings.Replace(onIssue, "metric: m", "ci-gate: required\nci-wait: 1s\ntimeout-minutes: "+minutes+"\nmetric: m", 1)
		h.program(strings.Replace(body, "  value=", "  if grep -q 'What CI said' \"$AUTOLOOP_PROMPT\"; then touch \"$SIDE/asked\"; sleep 300; touch \"$SIDE/ended\"; fi\n  value=", 1))
		first := h.one()
		if first.Outcome != "pending-ci" {
			return false, func() { assert.Equal(t, "pending-ci", first.Outcome, first.Reasons) }
		}
		h.report("failure", "expected 3, got 4")
		got := h.one()
		_, err := os.Stat(filepath.Join(h.side, "asked"))
		return err == nil, func() {
			assert.Equal(t, "pending-ci", got.Outcome)
			assert.NoFileExists(t, filepath.Join(h.side, "ended"))
			require.NoError(t, err, "the agent was asked")
			assert.Contains(t, h.ledger(), `"kind":"time-up"`)
		}
	})
}

func TestAPullRequestThatIsOpenedAgainGoesOn(t *testing.T) {
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "9", "8")
	h.program(onIssue)
	require.Equal(t, "accepted", h.one().Outcome)
	h.Close(h.openPull())
	require.Equal(t, "idle", h.one().Outcome)
	h.Change(func(s *githubtest.State) {
		s.Pulls[0].Closed, s.Pulls[0].HeadSHA = nil, ""
		s.Issue(s.Pulls[0].Number).Open = true
	})
	h.say("alice", "/autoloop resume")
	require.Equal(t, "accepted", h.one().Outcome)
	assert.Contains(t, h.remembered("p.md"), "| PR | #2 |")
	h.Change(func(s *githubtest.State) {
		require.Len(t, s.Pulls, 1, "the gain goes into the one that is open again")
		assert.True(t, s.Issue(2).Open)
		assert.Contains(t, s.Issue(2).Body, "→ 8**")
	})
}

func TestStatusAndWhatIsNotUnderstoodAreAnswered(t *testing.T) {
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

func TestAFailureIsHeldAgainstABaseThatCanBeRead(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "9")
	h.program(strings.Replace(onIssue, "metric: m", "ci-gate: required\nci-wait: 1s\nmetric: m", 1))
	require.Equal(t, "pending-ci", h.one().Outcome)
	h.report("failure", "expected 3, got 4")
	h.env = append(h.env, "AUTOLOOP_GITHUB_PATIENCE=0s")
	h.Fail(githubtest.Fault{Kind: githubtest.BadGateway, Path: "check-runs", Skip: 1, Times: 1000})
	require.NoError(t, os.Remove(filepath.Join(h.side, "prompt.1")))
	got := h.one()
	assert.Equal(t, "pending-ci", got.Outcome)
	assert.NoFileExists(t, filepath.Join(h.side, "prompt.1"), "no agent is asked to fix what may not be the candidate's")
}
