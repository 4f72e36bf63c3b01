package tests

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
)

// checks are our comments that say whether an issue is a program.
func (h *hub) checks(issue int) []string {
	var list []string
	h.Change(func(s *githubtest.State) {
		for _, c := range s.On(issue) {
			if strings.HasPrefix(c.Body, "<!-- AUTOLOOP:CHECK -->\n") {
				list = append(list, c.Body)
			}
		}
	})
	return list
}

// opened lets an event of Actions be about an issue.
func (h *hub) opened(number int) {
	h.t.Helper()
	event, err := json.Marshal(map[string]any{"action": "opened", "issue": map[string]any{"number": number}})
	require.NoError(h.t, err)
	file := filepath.Join(h.side, "event.json")
	require.NoError(h.t, os.WriteFile(file, event, 0o600))
	h.env = append(h.env, "GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=issues", "GITHUB_EVENT_PATH="+file)
}

func TestNewProgramIssueIsAnswered(t *testing.T) {
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"})
	h.program(strings.Replace(onIssue, "metric_direction: lower", "metric_direction: sideways", 1))
	h.opened(1)
	a := h.binary("iterate", "validate", "--comment")
	require.Zero(t, a.code, a.stderr)
	require.Len(t, h.checks(1), 1)
	assert.Contains(t, h.checks(1)[0], "**`p` does not run yet.**")
	assert.Contains(t, h.checks(1)[0], "metric_direction")

	h.Change(func(s *githubtest.State) { s.Issue(1).Body = onIssue })
	require.Zero(t, h.binary("iterate", "validate", "--comment").code)
	require.Len(t, h.checks(1), 1, "the comment is edited")
	assert.Contains(t, h.checks(1)[0], "**`p` is ready**")
	assert.Contains(t, h.checks(1)[0], "may change  value.txt")
}

func TestStrangersProgramIssueIsAnswered(t *testing.T) {
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"})
	hostile := strings.Replace(onIssue, "metric: m", "metric: m\nx: \"@octocat <b> $(id) ${{ github.token }}\"", 1) +
		"\n````\n@octocat\n````\n```sh\n::set-output name=x::y @octocat\n```\n"
	h.Change(func(s *githubtest.State) {
		s.OpenIssue("mallory", "P @octocat <img> `x`", hostile, time.Now(), "autoloop-program")
	})
	h.opened(1)
	a := h.binary("iterate", "validate", "--comment")
	require.Zero(t, a.code, a.stderr)
	require.Len(t, h.checks(1), 1)
	body := h.checks(1)[0]
	assert.Contains(t, body, "program does not run**: mallory is NONE")
	outside, inside := unfenced(body)
	assert.NotContains(t, outside, "@octocat")
	assert.NotContains(t, outside, "<b>")
	assert.NotContains(t, outside, "<img>")
	assert.Contains(t, inside, "@octocat", "it is quoted, where it pings nobody")

	a = h.binary("iterate", "validate", "--issue", "1", "--json")
	assert.Equal(t, 1, a.code)
	assert.Contains(t, a.stdout, `"untrusted": "mallory is NONE`)
}

// unfenced tells a comment's text from what is behind its fence.
func unfenced(body string) (outside, inside string) {
	fence := ""
	for line := range strings.Lines(body) {
		switch {
		case fence == "" && strings.HasPrefix(line, "```"):
			fence = line[:len(line)-len(strings.TrimLeft(line, "`"))]
		case fence != "" && strings.TrimSpace(line) == fence:
			fence = ""
		case fence != "":
			inside += line
		default:
			outside += line
		}
	}
	return outside, inside
}
