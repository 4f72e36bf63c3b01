package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
	assert.Equal(t, map[string]any{"program": "p", "command": "pause", "answer": "paused; `iterate resume p` goes on"}, said(0, "pause p for a while"))
	assert.Equal(t, map[string]any{"program": "p", "command": "resume", "answer": "resumed"}, said(0, "resume p"))
	assert.Equal(t, map[string]any{"program": "p", "command": "note", "answer": "The agent is told at iteration 4."}, said(0, "note p try less"))

	open := said(0, "apply p")
	want := map[string]any{
		"program": "p", "branch": "autoloop/p", "commit": strings.TrimSpace(s.git("rev-parse", "autoloop/p")), "commits": 2.0,
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

func TestInitAsJSON(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.commit()
	said := func(args ...string) (changed bool, steps map[string]string) {
		t.Helper()
		a := s.iterate(append([]string{"init", "--json"}, args...)...)
		require.Zero(t, a.code, a.errors)
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
	changed, steps := said()
	assert.False(t, changed, "there is no terminal to ask on")
	assert.Equal(t, "create", steps[workflow])
	assert.NoFileExists(t, filepath.Join(s.root, workflow))
	changed, _ = said("--yes")
	assert.True(t, changed)
	text, err := os.ReadFile(filepath.Join(s.root, workflow))
	require.NoError(t, err)
	assert.NotEmpty(t, text)
	changed, steps = said("--yes")
	assert.False(t, changed, "there is nothing to do")
	assert.Equal(t, "keep", steps[workflow])
}
