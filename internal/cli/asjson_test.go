package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/cli"

	"github.com/org/autoloop/internal/files"
)

// TestJSONIsAllThatIsPrinted: with --json standard output is one object, also of what
// a person is asked about otherwise.
func TestJSONIsAllThatIsPrinted(t *testing.T) {
	t.Parallel()
	s := keptShop(t)
	said := func(code int, line string) map[string]any {
		t.Helper()
		a := s.iterate(append(strings.Fields(line), "--json")...)
		require.Equal(t, code, a.code, "%s: %s", line, a.errors)
		var object map[string]any
		require.NoError(t, json.Unmarshal([]byte(a.out), &object), a.out)
		return object
	}
	assert.Equal(t, map[string]any{"program": "p", "command": "pause", "answer": "paused; `iterate resume p` goes on"},
		said(0, "pause p for a while"))
	assert.Equal(t, map[string]any{"program": "p", "command": "resume", "answer": "resumed"}, said(0, "resume p"))
	assert.Equal(t, map[string]any{"program": "p", "command": "note", "answer": "The agent is told at iteration 4."},
		said(0, "note p try less"))

	open := said(0, "apply p")
	want := map[string]any{
		"program": "p", "branch": "autoloop/p", "commit": strings.TrimSpace(s.git("rev-parse", "autoloop/p")),
		"commits":         2.0,
		"previous_metric": 446.0, "metric": 432.0, "merged": false,
	}
	assert.Equal(t, want, open)
	s.file("value.txt", "1\n")
	blocked := said(1, "apply p --yes")
	assert.Equal(t, []any{"value.txt"}, blocked["conflicts"])
	assert.Equal(t, false, blocked["merged"])
	s.git("checkout", "--quiet", "value.txt")
	assert.Equal(t, true, said(0, "apply p --yes")["merged"])
	assert.Equal(t, "432\n", s.git("show", "HEAD:value.txt"))
	assert.Equal(t, true, said(0, "apply p")["merged"], "before, already")

	undone := said(0, "undo p 3")
	assert.InDelta(t, 3, undone["iteration"], 0)
	assert.Contains(t, undone["answer"], "Iteration 3 is undone by commit ")
}

// TestSkillChangesAsJSON: what became of the skill, also where nobody agreed.
func TestSkillChangesAsJSON(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.file("s/SKILL.md", "---\nname: s\ndescription: Says a word.\n---\none\n")
	s.file("s/evals/evals.json", `[{"id": 1, "prompt": "go", "deterministic_checks": [{"type": "file_contains", `+
		`"file": "out", "text": "two"}]}]`)
	t.Cleanup(func() {
		assert.NoError(t, files.RemoveAll(filepath.Join(s.root, "s-autoresearch")))
	}) // versions are read-only
	s.file("settings.md", "---\nisolation: off\n---\n")
	a := s.iterate("skill", "s", "--settings", "settings.md", "--judge", "off", "--agent-command",
		"echo two >>SKILL.md", "--executor-command", `cp "$AUTOLOOP_SKILL/SKILL.md" outputs/out`)
	require.Zero(t, a.code, a.errors)
	for _, step := range []struct {
		line, to      string
		changed, done bool
	}{
		{"apply", "v1", false, false},
		{"apply --yes", "v1", true, true},
		{"apply", "v1", false, true},
		{"undo", "v0", false, false},
		{"undo --yes", "v0", true, true},
		{"undo", "v0", false, true},
	} {
		a := s.iterate(append(strings.Fields(step.line), "s-autoresearch", "--json")...)
		require.Zero(t, a.code, "%s: %s", step.line, a.errors)
		var said map[string]any
		require.NoError(t, json.Unmarshal([]byte(a.out), &said), a.out)
		want := map[string]any{
			"skill": filepath.Join(s.root, "s"), "workspace": filepath.Join(s.root, "s-autoresearch"), "to": step.to,
			"changed": step.changed, "done": step.done,
		}
		assert.Equal(t, want, said, step.line)
	}
	a = s.iterate("apply", "nowhere", "--json")
	assert.NotZero(t, a.code)
	assert.Empty(t, a.out)
}

func TestInitAsJSON(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.commit()
	said := func(code int, args ...string) (changed bool, steps map[string]string) {
		t.Helper()
		a := s.iterate(append([]string{"init", "--json"}, args...)...)
		require.Equal(t, code, a.code, a.errors)
		var object struct {
			Changed bool
			Steps   []struct{ Action, Name string }
		}
		require.NoError(t, json.Unmarshal([]byte(a.out), &object), a.out)
		steps = map[string]string{}
		for _, step := range object.Steps {
			steps[step.Name] = step.Action
		}
		return object.Changed, steps
	}
	workflow := ".github/workflows/autoloop.yml"
	changed, steps := said(cli.ExitMisuse)
	assert.False(t, changed, "there is no terminal to ask on")
	assert.Equal(t, "create", steps[workflow])
	assert.NoFileExists(t, filepath.Join(s.root, workflow))
	changed, _ = said(cli.ExitOK, "--yes")
	assert.True(t, changed)
	text, err := os.ReadFile(filepath.Join(s.root, workflow))
	require.NoError(t, err)
	assert.NotEmpty(t, text)
	changed, steps = said(cli.ExitOK, "--yes")
	assert.False(t, changed, "there is nothing to do")
	assert.Equal(t, "keep", steps[workflow])
}
