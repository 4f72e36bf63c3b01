package tests

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
)

// emulated is the emulator as a site. People and CI use it as the binaries do,
// over its front.
type emulated struct {
	*front
	address string
}

// onEmulator makes a scene on the emulator. The repository is fetched and
// pushed over HTTP, with a token.
func onEmulator(t *testing.T, files map[string]string, tries ...string) *scene {
	t.Helper()
	emulator := startEmulator(t)
	s := newScene(t, files, tries...)
	f, address := newFront(t, emulator, s.bare)
	f.pushed()
	e := emulated{f, address}
	f.report = e.report
	s.site = e
	for _, login := range []string{"alice", "bob"} { // the emulator says of an owner, too, only what it was told
		e.do(emulatedOwner, "PUT", "collaborators/"+login, map[string]string{"permission": "push"}, nil)
	}
	s.git("remote", "set-url", "origin", address+"/"+emulatedRepository+".git")
	s.env = append(s.env, "GITHUB_API_URL="+address, "GITHUB_SERVER_URL="+address,
		"GITHUB_REPOSITORY="+emulatedRepository,
		"GITHUB_TOKEN="+hubToken)
	t.Cleanup(func() { assert.Zero(t, f.git.refused.Load(), "git asks with the token at once") })
	return s
}

// restError is an answer that is no success.
type restError struct {
	status int
	text   string
}

func (e *restError) Error() string { return fmt.Sprintf("%d: %s", e.status, e.text) }

// rest asks for something below the repository.
func rest(t *testing.T, address, login, method, path string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method,
		address+atRepository+"/"+path,
		bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+tokenOf(login))
	answer, err := (&http.Client{Transport: notKept()}).Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode >= http.StatusMultipleChoices {
		return &restError{answer.StatusCode, string(data)}
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(data, into)
}

// do does what must succeed.
func (e emulated) do(login, method, path string, body, into any) {
	e.t.Helper()
	require.NoError(e.t, rest(e.t, e.address, login, method, path, body, into), "%s %s", method, path)
}

func (e emulated) open(author, title, body string, labels ...string) int {
	var issue struct{ Number int }
	e.do(author, "POST", "issues", map[string]any{"title": title, "body": body}, &issue)
	if len(labels) > 0 { // a stranger's are dropped, so a maintainer sets them
		e.do(emulatedOwner, "POST", fmt.Sprintf("issues/%d/labels", issue.Number),
			map[string]any{"labels": labels}, nil)
	}
	return issue.Number
}

func (e emulated) rewrite(issue int, title, body string) {
	e.do(emulatedOwner, "PATCH", fmt.Sprintf("issues/%d", issue), map[string]any{"title": title, "body": body}, nil)
}

func (e emulated) say(author string, on int, body string) {
	e.do(author, "POST", fmt.Sprintf("issues/%d/comments", on), map[string]any{"body": body}, nil)
}

func (e emulated) review(author string, pull int, path, body string) {
	e.do(author, "POST", fmt.Sprintf("pulls/%d/comments", pull), map[string]any{"path": path, "line": 1, "body": body},
		nil)
}

// report goes past the front, which may be the one who asks.
func (e emulated) report(commit, name, conclusion, text string) {
	run := map[string]any{
		"name": name, "head_sha": commit, "status": "in_progress",
		"output": map[string]any{"summary": text},
	}
	if conclusion != "" {
		run["status"], run["conclusion"] = "completed", conclusion
	}
	if err := e.mirror.call("POST", "check-runs", run, nil); err != nil {
		e.t.Errorf("report on %s: %v", commit, err)
	}
}

func (e emulated) judge(judge func(commit string) string) { e.front.judge = judge }

// merged merges on the emulator, whose own merge commit then gives way to the
// one that was pushed.
func (e emulated) merged(pull int) {
	e.do(emulatedOwner, "PATCH", fmt.Sprintf("pulls/%d", pull), map[string]any{"draft": false}, nil)
	e.do(emulatedOwner, "PUT", fmt.Sprintf("pulls/%d/merge", pull), map[string]any{}, nil)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pushed()
}

func (e emulated) closed(number int) {
	kind := "issues"
	if e.look().Pull(number) != nil {
		kind = "pulls"
	}
	e.do(emulatedOwner, "PATCH", fmt.Sprintf("%s/%d", kind, number), map[string]any{"state": "closed"}, nil)
}

func (e emulated) imitate(author, branch, title string) {
	e.do(author, "POST", "forks", map[string]any{}, nil)
	e.do(author, "POST", "pulls", map[string]any{"title": title, "head": author + ":" + branch, "base": "main"}, nil)
}

func (emulated) reacts() bool { return false }

func (e emulated) requests() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	sent := e.sent
	e.sent = 0
	return sent
}

// thread is an issue, a pull request or a comment as the API shows it.
type thread struct {
	ID                 int64
	Number             int
	Title, Body, State string
	Path               string
	Draft, Merged      bool
	User               struct{ Login string }
	Labels             []struct{ Name string }
	Head, Base         struct {
		Ref, SHA string
		Repo     struct {
			FullName string `json:"full_name"`
		}
	}
	Comments int
	Created  time.Time `json:"created_at"`
	Updated  time.Time `json:"updated_at"`
}

// list reads a list to its end.
func (e emulated) list(path string) []thread {
	e.t.Helper()
	var all []thread
	for page := 1; ; page++ {
		var some []thread
		e.do(emulatedOwner, "GET", fmt.Sprintf("%s?state=all&direction=asc&per_page=100&page=%d", path,
			page), nil, &some)
		if all = append(all, some...); len(some) < 100 {
			return all
		}
	}
}

func (e emulated) look() *githubtest.State {
	state := githubtest.NewState(emulatedRepository)
	for _, found := range e.list("issues") {
		state.Issues = append(state.Issues, issueOf(found))
		if found.Comments > 0 {
			e.talk(state, found.Number)
		}
	}
	for _, found := range e.list("pulls") {
		state.Issues = append(state.Issues, issueOf(found))
		state.Pulls = append(state.Pulls, &githubtest.Pull{
			Number: found.Number, Draft: found.Draft, Merged: found.Merged, Head: found.Head.Ref, Base: found.Base.Ref,
			HeadSHA: found.Head.SHA,
			HeadOf:  found.Head.Repo.FullName,
		})
		e.talk(state, found.Number)
		for _, c := range e.list(fmt.Sprintf("pulls/%d/comments", found.Number)) {
			state.Comments = append(state.Comments, commentOf(c, found.Number))
		}
	}
	slices.SortFunc(state.Comments, func(a, b *githubtest.Comment) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(state.Issues, func(a, b *githubtest.Issue) int { return cmp.Compare(a.Number, b.Number) })
	return state
}

// talk adds the comments on an issue or a pull request.
func (e emulated) talk(state *githubtest.State, on int) {
	for _, found := range e.list(fmt.Sprintf("issues/%d/comments", on)) {
		state.Comments = append(state.Comments, commentOf(found, on))
	}
}

func commentOf(found thread, on int) *githubtest.Comment {
	return &githubtest.Comment{
		ID: found.ID, On: on, Author: found.User.Login, Body: found.Body, Path: found.Path, Created: found.Created,
		Updated: found.Updated,
	}
}

func issueOf(found thread) *githubtest.Issue {
	issue := &githubtest.Issue{
		Number: found.Number, Title: found.Title, Body: found.Body, Open: found.State == "open",
		Author:  found.User.Login,
		Created: found.Created, Updated: found.Updated,
	}
	for _, label := range found.Labels {
		issue.Labels = append(issue.Labels, label.Name)
	}
	return issue
}
