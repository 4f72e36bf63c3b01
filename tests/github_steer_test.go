package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

func maintainersSteerByComments(t *testing.T, on maker) {
	h := on(t, map[string]string{"value.txt": "10\n"}, "9", "8", "7", "6", "5")
	h.program(onIssue)
	require.Equal(t, "accepted", h.one().Outcome)

	h.say("mallory", "/autoloop undo 1")
	h.say("alice", "/autoloop pause until Monday\n\nThanks!")
	paused := h.one()
	assert.Equal(t, "idle", paused.Outcome)
	assert.Contains(t, paused.Stopped, "paused: until Monday; go on with ")
	assert.Contains(t, h.remembered("p.md"), "| Paused | true |")
	assert.Equal(t, []string{"Paused. `/autoloop resume` goes on."}, h.answers())

	h.say("alice", "/autoloop other: undo 1\n/autoloop p: resume\n/autoloop set target-metric 7\n"+
		"/autoloop try the cache\n/autoloop undo 77")
	second := h.one()
	assert.Equal(t, "accepted", second.Outcome)
	told := h.told(2)
	assert.Contains(t, told, "try the cache")
	assert.Contains(t, told, "Thanks!", "what was said while it was paused is not lost")
	assert.Contains(t, h.remembered("p.md"), "| Target Metric | 7 |")
	answer := h.answers()[1]
	assert.Equal(t, "That was not understood: this is the place of program p; say it on the issue of `other`, or "+
		"leave the name out.\n\n"+
		"It goes on.\n\nThe target is 7 (lower is better), until the program file names another.\n\n"+
		"The agent is told at iteration 2.\n\nThere is no iteration 77: 1 is the last.", answer)

	h.say("alice", "/autoloop undo 1")
	third := h.one()
	require.Equal(t, "accepted", third.Outcome, "%v", third)
	assert.Contains(t, h.answers()[2], "cannot be undone: later ones changed the same lines of `value.txt`")
	assert.Contains(t, third.Stopped, "target reached: 7 with target 7")

	h.say("alice", "/autoloop undo 3\n/autoloop reactivate\n/autoloop set target-metric 1")
	fourth := h.one()
	assert.Equal(t, "accepted", fourth.Outcome)
	log := h.run(h.bare, "git", "log", "--format=%s", "autoloop/p")
	assert.Contains(t, log, "[Autoloop: p] Undo iteration 3")
	there := h.site.look()
	assert.Equal(t, []string{"autoloop-program"}, there.Issue(1).Labels, "it is active again")
	if h.site.reacts() {
		assert.Len(t, there.Reactions, 4)
	}
	assert.Len(t, h.answers(), 4)
}

func aClosedPullRequestWaitsForAPerson(t *testing.T, on maker) {
	h := on(t, map[string]string{"value.txt": "10\n"}, "9", "8", "7")
	h.program(onIssue)
	require.Equal(t, "accepted", h.one().Outcome)
	h.site.closed(h.openPull())
	closed := h.one()
	assert.Equal(t, "idle", closed.Outcome)
	assert.Contains(t, closed.Stopped, "pull request #2 closed")
	assert.Contains(t, h.remembered("p.md"), "| PR | — |")
	h.say("alice", "/autoloop resume")
	assert.Equal(t, "accepted", h.one().Outcome)
	there := h.site.look()
	require.Len(t, there.Pulls, 2, "the next gain opens a new one")
	assert.False(t, there.Issue(there.Pulls[0].Number).Open, "nobody's will is undone")
}

func aPausedProgramHears(t *testing.T, on maker) {
	h := on(t, map[string]string{"value.txt": "10\n"}, "9", "8")
	h.program(onIssue)
	require.Equal(t, "accepted", h.one().Outcome)
	h.say("alice", "/autoloop pause")
	require.Equal(t, "idle", h.one().Outcome)
	events := len(h.ledger())
	outputs := filepath.Join(h.side, "outputs")
	h.env = append(h.env, "GITHUB_OUTPUT="+outputs)

	h.say("mallory", "/autoloop resume")
	a := h.binary("iterate", "job", "steer", "--issue", "1")
	require.Zero(t, a.code, a.stderr)
	assert.Equal(t, "p: up to date\n", a.stdout)
	assert.Len(t, h.ledger(), events, "nothing was asked for by somebody trusted")

	h.say("alice", "/autoloop resume\n/autoloop run")
	a = h.binary("iterate", "job", "steer", "--issue", "1", "--json")
	require.Zero(t, a.code, a.stderr)
	assert.JSONEq(t, `{"program": "p", "run": true}`, a.stdout)
	assert.Contains(t, h.remembered("p.md"), "| Paused | false |")
	assert.NoFileExists(t, filepath.Join(h.side, "prompt.2"), "no iteration ran")
	text, err := os.ReadFile(outputs)
	require.NoError(t, err)
	assert.True(t, strings.HasSuffix(string(text), "has-work=true\nselected=p\n"), string(text))
	before := len(h.answers())
	require.Zero(t, h.binary("iterate", "job", "steer", "--program", "p").code)
	assert.Len(t, h.answers(), before, "it is answered once")

	a = h.binary("iterate", "job", "steer", "--issue", "77")
	require.Zero(t, a.code, a.stderr)
	assert.Equal(t, "#77 belongs to no program\n", a.stdout)
	assert.Equal(t, 2, h.binary("iterate", "job", "steer").code)
	assert.Equal(t, "accepted", h.one().Outcome)
}

func TestCommitsHaveTheIdentityThatIsAskedFor(t *testing.T) {
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "9")
	h.program(onIssue)
	h.env = append(h.env, "AUTOLOOP_GIT_NAME=Robot", "AUTOLOOP_GIT_EMAIL=robot@example.com", "AUTOLOOP_SIGN_OFF=true")
	require.Equal(t, "accepted", h.one().Outcome)
	log := h.run(h.bare, "git", "log", "-1",
		"--format=%an <%ae> %cn%n%(trailers:key=Signed-off-by)%(trailers:key=Autoloop-Iteration)", "autoloop/p")
	assert.Equal(t, "Robot <robot@example.com> Robot\nSigned-off-by: Robot <robot@example.com>\nAutoloop-Iteration: 1",
		strings.TrimSpace(log))
	h.env = append(h.env, "AUTOLOOP_GIT_EMAIL=")
	assert.Equal(t, 2, h.binary("iterate", "--program", "p").code)
}

func titleAndBodyMayBeEdited(t *testing.T, on maker) {
	h := on(t, map[string]string{"value.txt": "10\n"}, "9", "8", "7")
	h.program(onIssue)
	require.Equal(t, "accepted", h.one().Outcome)
	h.site.rewrite(1, "Another title", strings.Replace(onIssue, `{"m": %s}`, `{"m": %s.5}`, 1))
	second := h.one()
	assert.Equal(t, "accepted", second.Outcome)
	assert.Equal(t, "8.5", text(second.Metric), "the body of now counts")
	assert.Contains(t, h.remembered("p.md"), "the program's evaluation changed")
	assert.Empty(t, h.run(h.bare, "git", "for-each-ref", "refs/heads/autoloop/another-title"))
}

func strangersAreNotRun(t *testing.T, on maker) {
	h := on(t, map[string]string{"value.txt": "10\n"}, "9")
	h.site.open("mallory", "P", strings.Replace(onIssue, "metric: m", "metric: m\ntrusted-associations: [NONE]", 1),
		"autoloop-program")
	h.site.imitate("mallory", "autoloop/p", "[Autoloop: p]")
	a := h.binary("iterate", "--program", "p")
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.stderr, "issue #1 is not run: mallory is NONE in this repository")
	assert.NoFileExists(t, filepath.Join(h.side, "prompt.1"))
	there := h.site.look()
	assert.Empty(t, there.Comments)
	assert.Empty(t, there.Reactions)
}

func aTokenThatIsPrintedIsMasked(t *testing.T, on maker) {
	h := on(t, map[string]string{"value.txt": "10\n"}, "9", "11")
	require.NoError(t, os.WriteFile(filepath.Join(h.side, "leak"), []byte(hubToken), 0o600))
	body := strings.Replace(onIssue, "printf",
		"cat \"$SIDE/leak\" >&2; cat \"$SIDE/leak\"; echo; env | grep -i token >\"$SIDE/env\" || true\nprintf", 1)
	body = strings.Replace(body, `says @octocat <b>"`, `$(cat "$SIDE/leak")"`, 1)
	h.program(body)
	require.Equal(t, "accepted", h.one().Outcome)
	require.Equal(t, "rejected", h.one().Outcome)
	environ, err := os.ReadFile(filepath.Join(h.side, "env"))
	require.NoError(t, err)
	assert.NotContains(t, string(environ), hubToken, "commands do not have it")
	for _, name := range []string{"p.md", "p.results.tsv"} {
		assert.NotContains(t, h.remembered(name), hubToken, name)
	}
	assert.NotContains(t, h.ledger(), hubToken)
	assert.NotContains(t, h.run(h.bare, "git", "log", "--format=%B", "autoloop/p"), hubToken)
	assert.NotContains(t, h.told(2), hubToken)
	there := h.site.look()
	for _, c := range there.Comments {
		assert.NotContains(t, c.Body, hubToken)
	}
	for _, i := range there.Issues[1:] {
		assert.NotContains(t, i.Body, hubToken)
	}
}

func TestGitHubDownStopsNoIteration(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n", ".autoloop/programs/p.md": onIssue}, "9", "8")
	h.env = append(h.env, "AUTOLOOP_GITHUB_PATIENCE=0s")
	h.Fail(githubtest.Fault{Kind: githubtest.BadGateway, Times: 1000})
	first := h.one()
	assert.Equal(t, "pending-ci", first.Outcome, "whether CI is asked for cannot be known")
	require.NotEmpty(t, first.Warnings)
	assert.Contains(t, first.Warnings[0], "the issue and the pull request were not read")
	h.Mend()
	second := h.one()
	assert.Equal(t, "accepted", second.Outcome)
	assert.Equal(t, 1, second.Iteration)
	assert.Empty(t, second.Warnings)
	assert.Equal(t, "accepted", h.one().Outcome)
	h.Change(func(s *githubtest.State) {
		require.Len(t, s.Issues, 2)
		assert.Equal(t, "[Autoloop: p]", s.Issues[0].Title)
		assert.Contains(t, s.On(1)[0].Body, "AUTOLOOP:ITERATION 1 ", "what was missed is shown")
		assert.Len(t, s.On(1), 3)
	})
}

func TestSigningIsAskedForByName(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "metric_direction: lower", "9")
	w.env = append(w.env, "AUTOLOOP_SIGN=pgp")
	a := w.binary("iterate", "--program", "p")
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.stderr, `AUTOLOOP_SIGN="pgp": use ssh or gpg`)
	w.env = append(w.env, "AUTOLOOP_SIGN=ssh")
	a = w.binary("iterate", "--program", "p")
	assert.Equal(t, 1, a.code, "nothing is kept unsigned")
	assert.Contains(t, a.stderr, "signingkey")

	program := filepath.Join(w.side, "gpg")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho \"$@\" > \"$SIDE/asked\"\nexit 1\n"),
		0o700)) //nolint:gosec // It is run.
	w.git("config", "gpg.program", program)
	w.git("config", "user.signingKey", "robot@example.com")
	w.env = append(w.env, "AUTOLOOP_SIGN=gpg")
	a = w.binary("iterate", "--program", "p")
	assert.Equal(t, 1, a.code, "nor when the key is of no use")
	assert.Contains(t, a.stderr, "gpg failed to sign")
	assert.Contains(t, w.beside("asked"), "-bsau robot@example.com")
}
