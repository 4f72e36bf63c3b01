package tests

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheEmulatorLacksWhatTheTablesSay asks the emulator itself, past the front,
// so that a later one that has more is noticed.
func TestTheEmulatorLacksWhatTheTablesSay(t *testing.T) {
	t.Parallel()
	s := onEmulator(t, map[string]string{"value.txt": "10\n"}, "9")
	e, is := s.site.(emulated)
	require.True(t, is)
	direct := e.emulator.String()
	commit := e.mirror.refs["refs/heads/main"]
	s.program(onIssue)
	s.say("alice", "Hello.")

	asked := []struct{ method, path string }{
		{http.MethodGet, "commits/" + commit + "/status"},
		{http.MethodGet, "issues/comments"},
		{http.MethodPost, "issues/comments/1/reactions"},
		{http.MethodGet, "actions/variables/AUTOLOOP_PAUSED"},
		{http.MethodGet, "collaborators/mallory/permission"},
		{http.MethodGet, "rules/branches/main"},
	}
	for _, a := range answers() {
		matches := 0
		for _, r := range asked {
			if a.path.MatchString(atRepository + "/" + r.path) {
				matches++
			}
		}
		assert.Equal(t, 1, matches, a.reason)
	}
	for _, a := range absent() {
		matches := 0
		for _, r := range asked {
			if a.method == r.method && a.path.MatchString(atRepository+"/"+r.path) {
				matches++
			}
		}
		assert.Equal(t, 1, matches, a.reason)
	}
	for _, r := range asked {
		var refused *restError
		require.ErrorAs(t, rest(t, direct, emulatedMe, r.method, r.path, map[string]string{"content": "eyes"},
			nil), &refused,
			r.path)
		assert.Equal(t, http.StatusNotFound, refused.status, r.path)
	}

	answer, err := http.Get(direct + atRepository + "/issues/1") //nolint:noctx // it is on this machine
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	assert.Empty(t, answer.Header.Get("Etag"), "it answers 304 to nothing")

	s.run("", "git", "--git-dir", s.bare, "branch", "autoloop/p", "main")
	e.pushed()
	var pull thread
	e.do(emulatedMe, "POST", "pulls", map[string]any{"title": "x", "head": "autoloop/p", "base": "main"}, &pull)
	s.git("commit", "--quiet", "--allow-empty", "--message", "more")
	s.git("push", "--quiet", s.bare, "main:autoloop/p")
	e.pushed()
	path := fmt.Sprintf("pulls/%d", pull.Number)
	require.NoError(t, rest(t, direct, emulatedMe, "GET", path, nil, &pull))
	assert.Equal(t, commit, pull.Head.SHA, "it is read once")
	e.do(emulatedMe, "GET", path, nil, &pull)
	assert.Equal(t, head(t, s.bare, "autoloop/p"), pull.Head.SHA)

	var run struct{ ID int }
	require.NoError(t, rest(t, direct, emulatedMe, "POST", "check-runs",
		map[string]any{"name": "build", "head_sha": commit}, &run))
	path = fmt.Sprintf("check-runs/%d/annotations", run.ID)
	require.NoError(t, rest(t, direct, emulatedMe, "GET", path, nil, &map[string]any{}), "an object")
	e.do(emulatedMe, "GET", path, nil, &[]any{})
}

// TestGitOnTheEmulatorAsksForTheToken has a token that the API takes and git
// does not.
func TestGitOnTheEmulatorAsksForTheToken(t *testing.T) {
	t.Parallel()
	s := onEmulator(t, map[string]string{"value.txt": "10\n"}, "9")
	s.program(onIssue)
	s.env = append(s.env, "GITHUB_TOKEN="+tokenOf(emulatedOwner))
	a := s.binary("iterate", "--program", "p")
	assert.Equal(t, 1, a.code)
	assert.NotContains(t, a.stderr, tokenOf(emulatedOwner))
	e, is := s.site.(emulated)
	require.True(t, is)
	assert.NotZero(t, e.git.refused.Swap(0))
	assert.Zero(t, e.git.allowed.Load())
}

// TestTheMirrorChecksEveryHash has an emulator that makes something else of
// what it is given, and objects that the Git Data API cannot make.
func TestTheMirrorChecksEveryHash(t *testing.T) {
	t.Parallel()
	s := newScene(t, map[string]string{"value.txt": "10\n"})
	m := newMirror(s.bare, func(_, _ string, _, into any) error {
		if made, is := into.(*struct{ SHA string }); is {
			made.SHA = "another"
		}
		return nil
	})
	_, err := m.sync()
	require.ErrorContains(t, err, "the emulator made another of blob ")
	_, _, err = commitOf([]byte("tree 0\ngpgsig x\n y\n\nmessage\n"))
	require.ErrorContains(t, err, `no "gpgsig"`)
	person, err := personOf("A B <a@example.com> 1700000000 +0130")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"name": "A B", "email": "a@example.com", "date": "2023-11-14T23:43:20+01:30"},
		person)
}
