package tests

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github"
	"github.com/org/autoloop/internal/ledger"
	"github.com/org/autoloop/internal/post"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/publish"
	"github.com/org/autoloop/internal/score"
	programstate "github.com/org/autoloop/internal/state"
)

const emulated = `tokens:
  owner-token:
    login: octocat
    scopes: [repo]
  stranger-token:
    login: mallory
    scopes: [repo]
github:
  users:
    - login: octocat
    - login: mallory
  repos:
    - owner: octocat
      name: hello
      auto_init: true
`

// emulator is the GitHub emulator of others. It has no reactions, no commit
// statuses, no answers 304, no workflow dispatch, no permissions and no faults;
// those run on our own server alone.
type emulator struct {
	t   *testing.T
	url string
}

// newEmulator starts it. Without node and the packages of npm-emulate the test
// is skipped, unless AUTOLOOP_TEST_REAL=1 says that they must be there.
func newEmulator(t *testing.T) *emulator {
	t.Helper()
	modules, err := filepath.Abs("npm-emulate/node_modules")
	require.NoError(t, err)
	node, server := filepath.Join(modules, "node", "bin", "node"), filepath.Join(modules, "emulate", "dist", "index.js")
	for _, file := range []string{node, server} {
		if _, err := os.Stat(file); err != nil {
			if os.Getenv("AUTOLOOP_TEST_REAL") == "1" {
				t.Fatalf("%s is missing: npm ci --prefix tests/npm-emulate", file)
			}
			t.Skip("the emulator is not installed: npm ci --prefix tests/npm-emulate")
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	seed := filepath.Join(t.TempDir(), "seed.yaml")
	require.NoError(t, os.WriteFile(seed, []byte(emulated), 0o600))
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, node, server, "--service", "github", "--port", port, "--seed", seed)
	cmd.Dir = filepath.Dir(seed)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { stop(); _ = cmd.Wait() })
	e := &emulator{t: t, url: "http://" + address}
	require.Eventually(t, func() bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.url+"/repos/octocat/hello", http.NoBody)
		if err != nil {
			return false
		}
		request.Header.Set("Authorization", "Bearer owner-token")
		answer, err := http.DefaultClient.Do(request)
		return err == nil && answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
	}, 60*time.Second, 50*time.Millisecond, "the emulator does not answer")
	return e
}

func (e *emulator) client(token string) *github.Client {
	e.t.Helper()
	client, err := github.New(github.Options{API: e.url, Repository: "octocat/hello", Token: token})
	require.NoError(e.t, err)
	return client
}

// call sends what a person or CI would, and returns the answer.
func (e *emulator) call(method, path string, body any) map[string]any {
	e.t.Helper()
	text, err := json.Marshal(body)
	require.NoError(e.t, err)
	request, err := http.NewRequestWithContext(e.t.Context(), method, e.url+"/repos/octocat/hello/"+path, bytes.NewReader(text))
	require.NoError(e.t, err)
	request.Header.Set("Authorization", "Bearer owner-token")
	answer, err := http.DefaultClient.Do(request)
	require.NoError(e.t, err)
	defer func() { _ = answer.Body.Close() }()
	data, err := io.ReadAll(answer.Body)
	require.NoError(e.t, err)
	require.Less(e.t, answer.StatusCode, 300, "%s %s: %s", method, path, data)
	var object map[string]any
	_ = json.Unmarshal(data, &object) // some answers are no objects
	return object
}

// commit makes a commit on a branch, and the branch when there is none.
func (e *emulator) commit(branch, parent string, create bool) string {
	e.t.Helper()
	tree, _ := e.call("GET", "git/commits/"+parent, nil)["tree"].(map[string]any)
	made := e.call("POST", "git/commits", map[string]any{"message": "m " + branch, "tree": tree["sha"], "parents": []string{parent}})
	id, _ := made["sha"].(string)
	require.NotEmpty(e.t, id)
	if create {
		e.call("POST", "git/refs", map[string]any{"ref": "refs/heads/" + branch, "sha": id})
	} else {
		e.call("PATCH", "git/refs/heads/"+branch, map[string]any{"sha": id, "force": true})
	}
	return id
}

func (e *emulator) head(branch string) string {
	object, _ := e.call("GET", "git/ref/heads/"+branch, nil)["object"].(map[string]any)
	id, _ := object["sha"].(string)
	return id
}

func TestOnAnEmulatorByOthers(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	owner, stranger := e.client("owner-token"), e.client("stranger-token")
	ctx := t.Context()

	for i := range 105 {
		_, err := owner.CreateIssue(ctx, fmt.Sprintf("Program %d", i), "body", []string{"autoloop-program"})
		require.NoError(t, err)
	}
	foreign, err := stranger.CreateIssue(ctx, "[Autoloop: p]", "mine", nil)
	require.NoError(t, err)
	require.NoError(t, owner.AddLabels(ctx, foreign.Number, "autoloop-program"))
	issues, err := owner.Issues(ctx, "autoloop-program", "open")
	require.NoError(t, err)
	require.Len(t, issues, 106, "all pages")
	assert.Equal(t, "OWNER", issues[0].Association)
	assert.Equal(t, "NONE", issues[105].Association)

	p := program.Parse(".autoloop/programs/p.md", []byte(fmt.Sprintf(values, "metric_direction: lower")))
	value := func(text string) *score.Value { v := score.MustValue(text); return &v }
	base := e.head("main")
	account := post.Account{Program: p, State: programstate.New("p").Bytes(), Events: []ledger.Event{
		{Kind: ledger.Started, Run: "r", Iteration: 1, Time: time.Now()},
		{Kind: ledger.Measured, Role: ledger.Baseline, Metric: value("9"), Commit: base},
	}}
	service := &publish.Service{Hub: owner, Program: p, Now: time.Now}
	heard, err := service.Hear(ctx, account)
	require.NoError(t, err)
	assert.NotEqual(t, foreign.Number, heard.Issue, "a stranger's is not adopted")
	_, err = owner.CreateComment(ctx, heard.Issue, "smaller steps\n/autoloop pause")
	require.NoError(t, err)
	_, err = stranger.CreateComment(ctx, heard.Issue, "bigger steps")
	require.NoError(t, err)

	kept := e.commit("autoloop/p", base, true)
	account.Events = append(account.Events,
		ledger.Event{Kind: ledger.Set, Key: ledger.IssueNumber, Value: fmt.Sprint(heard.Issue)},
		ledger.Event{Kind: ledger.Decided, Iteration: 1, Outcome: ledger.Accepted, Metric: value("8"), PreviousBest: value("9"), Best: value("8"), Delta: "-1", Commit: kept, Time: time.Now()},
		ledger.Event{Kind: ledger.Finished, Run: "r", Time: time.Now()})
	for range 2 { // twice is once
		service = &publish.Service{Hub: owner, Program: p, Now: time.Now}
		again, err := service.Hear(ctx, account)
		require.NoError(t, err)
		assert.Equal(t, heard.Issue, again.Issue)
		require.Len(t, again.Comments, 1, "the stranger is not heard")
		assert.Equal(t, "smaller steps", again.Comments[0].Text)
		require.Len(t, again.Comments[0].Commands, 1)
		number, err := service.Promote(ctx, account, "main")
		require.NoError(t, err)
		require.NotZero(t, number)
		require.NoError(t, service.Show(ctx, account))
	}
	comments, err := owner.Comments(ctx, heard.Issue, time.Time{})
	require.NoError(t, err)
	assert.Len(t, comments, 4, "two of people, one on the iteration, one with the status")
	pulls, err := owner.Pulls(ctx, "autoloop/p")
	require.NoError(t, err)
	require.Len(t, pulls, 1)
	assert.True(t, pulls[0].Draft && pulls[0].Open)
	assert.Equal(t, kept, pulls[0].HeadSHA)

	e.call("POST", "check-runs", map[string]any{"name": "build", "head_sha": kept, "status": "completed", "conclusion": "success"})
	_, err = owner.Checks(ctx, kept)
	require.True(t, github.NotFound(err), "it has no commit statuses: %v", err)

	e.call("PATCH", fmt.Sprintf("pulls/%d", pulls[0].Number), map[string]any{"draft": false})
	e.call("PUT", fmt.Sprintf("pulls/%d/merge", pulls[0].Number), map[string]any{})
	pulls, err = owner.Pulls(ctx, "autoloop/p")
	require.NoError(t, err)
	assert.True(t, pulls[0].Merged && !pulls[0].Open)

	account.Events = append(account.Events,
		ledger.Event{Kind: ledger.Set, Key: ledger.PullEnded, Value: fmt.Sprint(pulls[0].Number)},
		ledger.Event{Kind: ledger.Completed, Reason: "target reached", Time: time.Now()})
	service = &publish.Service{Hub: owner, Program: p, Now: time.Now}
	_, err = service.Hear(ctx, account)
	require.NoError(t, err)
	number, err := service.Promote(ctx, account, "main")
	require.NoError(t, err)
	assert.Zero(t, number)
	require.NoError(t, service.Show(ctx, account))
	issue, err := owner.Issue(ctx, heard.Issue)
	require.NoError(t, err)
	assert.Contains(t, issue.Labels, "autoloop-completed")
	assert.NotContains(t, issue.Labels, "autoloop-program")
}
