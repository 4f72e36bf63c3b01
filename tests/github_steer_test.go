package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

func TestAPausedProgramHears(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "9", "8")
	h.program(onIssue)
	require.Equal(t, "accepted", h.one().Outcome)
	h.say("alice", "/autoloop pause")
	require.Equal(t, "idle", h.one().Outcome)
	events := len(h.ledger())
	h.env = append(h.env, "GITHUB_OUTPUT="+filepath.Join(h.side, "outputs"))
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
	assert.Contains(t, h.beside("outputs"), "has-work=true\nselected=p")
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

func TestATokenThatIsPrintedIsMasked(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "9", "11")
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
