package api_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/golden"
)

const token = "ghs_secretsecretsecret"

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// hub is a server with a client; its waits are counted, not waited.
type hub struct {
	*githubtest.Server
	*api.Client
	waited time.Duration
}

// unavailable says whether err is of GitHub being out of reach, overloaded or limiting us.
func unavailable(err error) bool {
	if _, limited := errors.AsType[*api.LimitError](err); limited {
		return true
	}
	failed, ok := errors.AsType[*api.Error](err)
	return ok && (failed.Status == 0 || failed.Status >= http.StatusInternalServerError)
}

func newHub(t *testing.T, change func(*api.Options), fill func(*githubtest.State)) *hub {
	t.Helper()
	state := githubtest.NewState("org/repo")
	state.Roles["alice"] = "OWNER"
	if fill != nil {
		fill(state)
	}
	h := &hub{Server: githubtest.New(t, state)}
	clock := githubtest.NewClock(noon)
	h.Change(func(*githubtest.State) { h.Token, h.Now = token, clock.Now })
	options := api.Options{
		API: h.URL, Repository: "org/repo", Token: token, Now: h.Now, Timeout: 10 * time.Second,
		Sleep: func(ctx context.Context, d time.Duration) error {
			h.waited += d
			clock.Add(d)
			return ctx.Err()
		},
	}
	if change != nil {
		change(&options)
	}
	client, err := api.New(options)
	require.NoError(t, err)
	h.Client = client
	return h
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{ // REPOSITORY|API|TOKEN
		"no repository": "||", "no owner": "name||", "dots": "org/..||", "a gap": "org/my repo||", "path": "org/a/b||",
		"API":          "o/r|ftp://x|",
		"token in API": "o/r|https://me:" + token + "@x|", "token with a gap": "o/r||" + token + "\n",
	}, func(t *testing.T, row string) any {
		part := strings.Split(row, "|")
		_, err := api.New(api.Options{Repository: part[0], API: part[1], Token: part[2]})
		require.Error(t, err)
		assert.NotContains(t, err.Error(), token)
		return err
	})
}

func TestIssuesPageByPageWithoutPulls(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil, func(s *githubtest.State) {
		for i := range 230 {
			s.OpenIssue("alice", fmt.Sprintf("program %d", i), "body", noon, "autoloop-program")
		}
		s.OpenIssue("alice", "other", "", noon)
		pull := s.OpenIssue("alice", "pull", "", noon, "autoloop-program")
		s.Pulls = append(s.Pulls, &githubtest.Pull{Number: pull.Number, Head: "x", Base: "main", HeadOf: "org/repo"})
	})
	issues, err := h.Issues(t.Context(), "autoloop-program", "open")
	require.NoError(t, err)
	require.Len(t, issues, 230)
	assert.Equal(t, "program 0", issues[0].Title, "the oldest first")
	assert.Equal(t, "OWNER", issues[0].Association)
	assert.Equal(t, 3, h.Requests())
}

func TestKnownAnswersAreRevalidated(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil, func(s *githubtest.State) { s.OpenIssue("alice", "one", "", noon, "l") })
	for range 2 {
		issues, err := h.Issues(t.Context(), "l", "open")
		require.NoError(t, err)
		require.Len(t, issues, 1)
	}
	calls := h.Calls()
	require.Len(t, calls, 2, "max-age is not obeyed")
	assert.Equal(t, http.StatusNotModified, calls[1].Status)

	h.Change(func(s *githubtest.State) { s.Issues[0].Title = "two" })
	issues, err := h.Issues(t.Context(), "l", "open")
	require.NoError(t, err)
	assert.Equal(t, "two", issues[0].Title)
}

// TestOnlyWhatDecodesIsKept has an answer that is cut short; its ETag is right.
func TestOnlyWhatDecodesIsKept(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil, func(s *githubtest.State) { s.OpenIssue("alice", "one", "", noon, "l") })
	h.Fail(githubtest.Fault{Kind: githubtest.Cut, Path: "/issues"})
	issues, err := h.Issues(t.Context(), "l", "open")
	require.NoError(t, err, "the next answer is whole")
	assert.Len(t, issues, 1)
	assert.Equal(t, 2, h.Requests())
}

// TestUnreachableAPIIsGivenUpOnce has nobody listening, and somebody
// who never answers.
func TestUnreachableAPIIsGivenUpOnce(t *testing.T) {
	t.Parallel()
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	gone := httptest.NewServer(nil)
	gone.Close()
	for name, address := range map[string]string{
		"nobody listens": gone.URL,
		"nobody answers": "http://" + silent.Addr().String(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t, func(o *api.Options) { o.API, o.Timeout = address, 100*time.Millisecond }, nil)
			_, err := h.Issue(t.Context(), 1)
			require.ErrorContains(t, err, "cannot be reached")
			assert.True(t, unavailable(err))
			assert.False(t, api.Reported(err))
			sent := h.Requests()
			_, err = h.Issues(t.Context(), "l", "open")
			require.ErrorContains(t, err, "cannot be reached")
			assert.True(t, api.Reported(err), "people hear of it once")
			assert.Equal(t, sent, h.Requests(), "nothing more is sent")
		})
	}
}

func TestOutageAfterAnswerIsRetried(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil, func(s *githubtest.State) { s.OpenIssue("alice", "one", "", noon, "l") })
	_, err := h.About(t.Context())
	require.NoError(t, err)
	h.Fail(githubtest.Fault{Kind: githubtest.Dropped, Times: 100})
	_, err = h.Issue(t.Context(), 1)
	require.Error(t, err)
	h.Mend()
	_, err = h.Issue(t.Context(), 1)
	require.NoError(t, err)
}

func TestFaultsOfReads(t *testing.T) {
	t.Parallel()
	for _, kind := range []githubtest.FaultKind{
		githubtest.ServerError, githubtest.BadGateway, githubtest.Dropped, githubtest.PrimaryLimit,
		githubtest.SecondaryLimit,
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			h := newHub(t, func(*api.Options) {},
				func(s *githubtest.State) { s.OpenIssue("alice", "one", "", noon, "l") })
			h.Fail(githubtest.Fault{Kind: kind, Times: 2, Wait: 30 * time.Second})
			issues, err := h.Issues(t.Context(), "l", "open")
			require.NoError(t, err)
			assert.Len(t, issues, 1)
			assert.NotZero(t, h.waited)
			assert.Zero(t, h.Mend(), "both faults struck")

			h.Fail(githubtest.Fault{Kind: kind, Times: 100, Wait: time.Hour})
			_, err = h.Issues(t.Context(), "l", "open")
			require.Error(t, err)
			assert.True(t, unavailable(err), err)
			assert.NotContains(t, err.Error(), token)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestSlowAnswerIsAnError(t *testing.T) {
	t.Parallel()
	h := newHub(t, func(o *api.Options) { o.Timeout = 50 * time.Millisecond }, nil)
	h.Fail(githubtest.Fault{Kind: githubtest.Slow, Times: 100})
	_, err := h.Issue(t.Context(), 1)
	require.ErrorContains(t, err, "no answer within 50ms")
	assert.True(t, unavailable(err))
}

func TestWritesAreNotRepeatedWhenTheyMayBeDone(t *testing.T) {
	t.Parallel()
	for _, kind := range []githubtest.FaultKind{githubtest.ServerError, githubtest.BadGateway, githubtest.Dropped} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			h := newHub(t, nil, func(s *githubtest.State) { s.OpenIssue("alice", "one", "", noon) })
			h.Fail(githubtest.Fault{Kind: kind, Writes: true, After: true})
			_, err := h.CreateComment(t.Context(), 1, "hello")
			var failed *api.Error
			require.ErrorAs(t, err, &failed)
			assert.True(t, failed.Unsure)
			comments, err := h.Comments(t.Context(), commands.Talk, 1, time.Time{})
			require.NoError(t, err)
			require.Len(t, comments, 1, "once, not twice")

			h.Fail(githubtest.Fault{Kind: kind, Writes: true, After: true})
			require.NoError(t, h.EditComment(t.Context(), comments[0].ID, "again"), "setting a value may be repeated")
			h.Fail(githubtest.Fault{Kind: kind, Writes: true, After: true})
			require.NoError(t, h.AddLabels(t.Context(), 1, "a"), "and so may labels")
			h.Fail(githubtest.Fault{Kind: kind, Writes: true, After: true})
			require.NoError(t, h.RemoveLabel(t.Context(), 1, "a"))
		})
	}
}

func TestRefusedByALimitAWriteIsSentAgain(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil, func(s *githubtest.State) { s.OpenIssue("alice", "one", "", noon) })
	h.Fail(githubtest.Fault{Kind: githubtest.SecondaryLimit, Writes: true, Wait: 30 * time.Second})
	_, err := h.CreateComment(t.Context(), 1, "hello")
	require.NoError(t, err)
	assert.Equal(t, 31*time.Second, h.waited)
	h.Fail(githubtest.Fault{Kind: githubtest.PrimaryLimit, Writes: true, Wait: time.Hour})
	_, err = h.CreateComment(t.Context(), 1, "hello")
	require.ErrorContains(t, err, "until 2026-03-04T13:00")
	assert.Len(t, h.Calls(), 3, "nothing is sent while the limit stands")
	_, err = h.Issue(t.Context(), 1)
	require.Error(t, err)
	assert.Empty(t, h.Calls())
}

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	h := newHub(t, nil, nil)
	_, err := h.Issue(t.Context(), 7)
	golden.Row(t, "GitHub: read issue #7:", err)
	assert.True(t, api.NotFound(err))
	assert.False(t, unavailable(err))
	h.Change(func(*githubtest.State) { h.Token = "another" })
	_, err = h.Issue(t.Context(), 7)
	require.ErrorContains(t, err, "credentials (401); the token is wrong")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = h.Issue(ctx, 7)
	require.ErrorIs(t, err, context.Canceled)
}

func TestRefusalsSayWhatTheTokenLacks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status             int
		header, body, says string
		is                 func(error) bool
	}{
		"archived":     {403, "", `{"message": "Repository was archived"}`, "unarchive the repository", api.Refused},
		"a permission": {403, "X-Accepted-Github-Permissions", `{}`, "a permission; it needs issues=write", api.Refused},
		"a scope":      {403, "X-Accepted-Oauth-Scopes", `{}`, "needs one of: issues=write", api.Refused},
		"switched off": {410, "", `{}`, "it was switched off or deleted", api.Gone},
		"is there": {
			422, "", `{"message": "No", "errors": [{"resource": "R", "code": "there"}]}`, "No: R there", api.Invalid,
		},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(cmp.Or(c.header, "X-None"), "issues=write")
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		t.Cleanup(server.Close)
		client, err := api.New(api.Options{
			API: server.URL, Repository: "org/repo", Token: "secret", Now: time.Now, Sleep: api.Sleep,
		})
		require.NoError(t, err)
		_, err = client.Issue(t.Context(), 7)
		require.ErrorContains(t, err, c.says, name)
		assert.True(t, c.is(err), name)
	}
}

// elsewhere answers every request with a redirect to another host.
type elsewhere struct{ seen []string }

func (e *elsewhere) RoundTrip(r *http.Request) (*http.Response, error) {
	e.seen = append(e.seen, r.URL.Host+" "+r.Header.Get("Authorization"))
	return &http.Response{
		StatusCode: http.StatusMovedPermanently, Header: http.Header{"Location": {"https://evil.example/steal"}},
		Body: http.NoBody, Request: r,
	}, nil
}

func TestTokenGoesToAPIAlone(t *testing.T) {
	t.Parallel()
	wire := &elsewhere{}
	client, err := api.New(api.Options{Repository: "o/r", Token: token, Transport: wire, Now: time.Now})
	require.NoError(t, err)
	_, err = client.Issue(t.Context(), 1)
	require.Error(t, err)
	for _, seen := range wire.seen {
		assert.Equal(t, "api.github.com Bearer "+token, seen)
	}
}

// broken fails with the token in its error.
type broken struct{}

func (broken) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("proxy says no to\nBearer " + token)
}

func TestTokenIsInNoError(t *testing.T) {
	t.Parallel()
	client, err := api.New(api.Options{
		Repository: "o/r", Token: token, Transport: broken{}, Now: time.Now,
		Sleep: func(context.Context, time.Duration) error { return nil },
	})
	require.NoError(t, err)
	_, err = client.Issue(t.Context(), 1)
	require.ErrorContains(t, err, "proxy says no to Bearer ***")
	assert.Equal(t, 1, strings.Count(err.Error()+"\n", "\n"))
}
