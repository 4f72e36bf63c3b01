package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
)

// onIssue is a program that an issue holds. Its agent writes line N of the file
// `values` at iteration N, and keeps what it was told; a line `fail` makes it
// fail.
const onIssue = `---
metric: m
metric_direction: lower
target-metric: 2
evaluation-runs: 1
agent: command
agent-command: |
  cp "$AUTOLOOP_PROMPT" "$SIDE/prompt.$AUTOLOOP_ITERATION"
  value=$(sed -n "${AUTOLOOP_ITERATION}p" "$SIDE/values")
  [ "$value" != fail ] || exit 3
  echo "$value" > value.txt
  echo "try $value, says @octocat <b>"
env: [SIDE]
---
## Goal
Move the number.
## Target
- ` + "`value.txt`" + `
## Evaluation
` + "```sh" + `
printf '{"m": %s}\n' "$(cat value.txt)"
` + "```" + `
`

const hubToken = "ghs_0123456789abcdefSECRET"

// hub is a world with a remote, and GitHub beside it.
type hub struct {
	*world
	*githubtest.Server
	bare string
}

// newHub makes a repository on GitHub whose agent tries these values.
func newHub(t *testing.T, files map[string]string, tries ...string) *hub {
	t.Helper()
	w := newWorld(t, files)
	require.NoError(t, os.WriteFile(filepath.Join(w.side, "values"), []byte(strings.Join(tries, "\n")+"\n"), 0o600))
	bare := filepath.Join(w.side, "remote.git")
	w.run("", "git", "init", "--quiet", "--bare", "--initial-branch=main", bare)
	w.git("remote", "add", "origin", bare)
	w.git("push", "--quiet", "origin", "main")
	state := githubtest.NewState("org/repo")
	state.Roles["alice"] = "OWNER"
	h := &hub{world: w, bare: bare, Server: githubtest.New(t, state)}
	h.Change(func(*githubtest.State) {
		h.Token, h.Heads = hubToken, func(branch string) string { return head(t, bare, branch) }
	})
	w.env = append(w.env, "GITHUB_API_URL="+h.URL, "GITHUB_REPOSITORY=org/repo", "GITHUB_TOKEN="+hubToken)
	return h
}

// head is the commit of a branch of a repository, "" when there is none.
func head(t *testing.T, dir, branch string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "--git-dir", dir, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// program opens the issue with the program p.
func (h *hub) program(body string) {
	h.Change(func(s *githubtest.State) { s.OpenIssue("alice", "P", body, time.Now(), "autoloop-program") })
}

func (h *hub) say(author, text string) {
	h.Change(func(s *githubtest.State) { s.Say(author, 1, text, time.Now()) })
}

// merge merges the open pull request as a person does.
func (h *hub) merge() {
	h.t.Helper()
	number := h.openPull()
	clone := filepath.Join(h.t.TempDir(), "clone")
	h.run("", "git", "clone", "--quiet", h.bare, clone)
	h.run(clone, "git", "merge", "--quiet", "--squash", "origin/autoloop/p")
	h.run(clone, "git", "commit", "--quiet", "--message", "Merge it")
	h.run(clone, "git", "push", "--quiet", "origin", "main")
	h.Merge(number, head(h.t, h.bare, "main"))
}

// openPull is the number of the open pull request, 0 when there is none.
func (h *hub) openPull() int {
	number := 0
	h.Change(func(s *githubtest.State) {
		for _, p := range s.Pulls {
			if s.Issue(p.Number).Open && p.HeadOf == s.Repository {
				number = p.Number
			}
		}
	})
	return number
}

// remembered reads a file of the memory branch on the remote.
func (h *hub) remembered(name string) string {
	h.t.Helper()
	return h.run(h.bare, "git", "show", "memory/autoloop:"+name)
}

// told is what the agent was told at an iteration.
func (h *hub) told(iteration int) string {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.side, fmt.Sprintf("prompt.%d", iteration)))
	require.NoError(h.t, err)
	return string(text)
}

func TestAProgramsWholeLife(t *testing.T) {
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "8", "9", "fail", "7", "6", "1")
	h.env = append(h.env, "AUTOLOOP_PAUSED=false") // as a workflow hands it on
	h.program(onIssue)

	a := h.binary("scheduler")
	require.Zero(t, a.code, a.stderr)
	a = h.binary("iterate", "--json")
	require.Zero(t, a.code, a.stderr)
	first := h.decode(a.stdout)[0]
	assert.Equal(t, "p", first.Program)
	assert.Equal(t, "accepted", first.Outcome)
	assert.Empty(t, first.Warnings)
	assert.Equal(t, head(t, h.bare, "autoloop/p"), *first.Commit)
	require.NotZero(t, h.openPull())

	h.Calls()
	assert.Equal(t, "rejected", h.one().Outcome)
	assert.LessOrEqual(t, len(h.Calls()), 6)
	assert.Equal(t, "error", h.one().Outcome)

	h.say("alice", "Smaller steps, please.")
	h.say("mallory", "Bigger steps, please.")
	h.say("mallory", "/autoloop pause")
	h.Calls()
	assert.Equal(t, "accepted", h.one().Outcome)
	assert.LessOrEqual(t, len(h.Calls()), 12)
	assert.Contains(t, h.told(4), "Smaller steps, please.")
	assert.NotContains(t, h.told(4), "Bigger")

	h.merge()
	fifth := h.one()
	assert.Equal(t, "accepted", fifth.Outcome)
	assert.NotContains(t, h.told(5), "Smaller", "a comment is told once")
	assert.Equal(t, head(t, h.bare, "main"), h.run(h.bare, "git", "rev-parse", "autoloop/p^"), "it goes on from what was merged")
	sixth := h.one()
	assert.Equal(t, "accepted", sixth.Outcome)
	assert.Contains(t, sixth.Stopped, "target reached")

	var pulls []int
	h.Change(func(s *githubtest.State) {
		for _, p := range s.Pulls {
			pulls = append(pulls, p.Number)
		}
		assert.Equal(t, onIssue, s.Issue(1).Body, "the body is its owner's")
		assert.Equal(t, []string{"autoloop-completed"}, s.Issue(1).Labels)
		require.Len(t, s.Pulls, 2, "one for each merge, and the open one")
		assert.Empty(t, s.Reactions)
		var marks []string
		for _, c := range s.On(1) {
			if c.Author == s.Me {
				first, _, _ := strings.Cut(c.Body, "\n")
				marks = append(marks, first)
				assert.NotContains(t, c.Body, "@octocat")
				assert.NotContains(t, c.Body, "<b>")
			}
		}
		assert.Equal(t, []string{
			"<!-- AUTOLOOP:ITERATION 1 -->", "<!-- AUTOLOOP:STATUS -->", "<!-- AUTOLOOP:ITERATION 2 -->", "<!-- AUTOLOOP:ITERATION 3 -->",
			"<!-- AUTOLOOP:ITERATION 4 -->", "<!-- AUTOLOOP:ITERATION 5 -->", "<!-- AUTOLOOP:ITERATION 6 -->",
		}, marks[:7])
		assert.Contains(t, s.On(1)[len(s.On(1))-1].Body, "is completed")
		assert.Contains(t, s.Issue(s.Pulls[1].Number).Body, "**1**")
	})
	state := h.remembered("p.md")
	assert.Contains(t, state, "| Issue | #1 |")
	for iteration, pull := range map[int]int{1: 0, 4: 0, 5: 1, 6: 1} {
		assert.Contains(t, entryOf(state, iteration), fmt.Sprintf("- **Pull request**: #%d\n", pulls[pull]))
	}
	assert.NotContains(t, entryOf(state, 2), "Pull request", "what was rejected is in none")
	assert.Contains(t, state, fmt.Sprintf("| PR | #%d |", h.openPull()))
	a = h.binary("scheduler")
	require.Zero(t, a.code, a.stderr)
	assert.NotContains(t, a.stdout, "selected")
}

// entryOf is the history of one iteration in a state.
func entryOf(state string, iteration int) string {
	_, rest, _ := strings.Cut(state, fmt.Sprintf("### Iteration %d — ", iteration))
	entry, _, _ := strings.Cut(rest, "\n### ")
	return entry
}

func TestPausedByTheRepositorysVariable(t *testing.T) {
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "8")
	h.program(onIssue)
	require.Zero(t, h.binary("scheduler").code)
	h.Change(func(s *githubtest.State) { s.Variables["AUTOLOOP_PAUSED"] = " True " })
	a := h.binary("iterate", "--program", "p", "--json")
	assert.Zero(t, a.code)
	assert.Contains(t, a.stderr, "variable AUTOLOOP_PAUSED is true")
	assert.JSONEq(t, "[]", a.stdout)
	h.Change(func(s *githubtest.State) { s.Variables["AUTOLOOP_PAUSED"] = "false" })
	assert.Equal(t, "accepted", h.one().Outcome)
}
