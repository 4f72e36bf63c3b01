package tests

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// plan is what autoloop.json says, as far as these tests look.
type plan struct {
	Selected     *string
	SelectedFile *string `json:"selected_file"`
	Deferred     []string
	Unconfigured []string
	NoPrograms   bool `json:"no_programs"`
	NotDue       bool `json:"not_due"`
	Warnings     []string
	Errors       []struct {
		Name, File, Message string
		Line                int
	}
	Skipped []struct{ Name, Reason string }
	Matrix  struct{ Program []string }
}

func (w *world) plan(args ...string) plan {
	w.t.Helper()
	a := w.binary("scheduler", args...)
	require.Zero(w.t, a.code, a.stderr)
	return w.readPlan()
}

func (w *world) readPlan() plan {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(filepath.Dir(w.side), "gh-aw", "autoloop.json"))
	require.NoError(w.t, err)
	var p plan
	require.NoError(w.t, json.Unmarshal(data, &p))
	return p
}

const goodProgram = "---\nschedule: hourly\n---\n## Goal\nx\n## Target\n`a.txt`\n## Evaluation\n```sh\necho 1\n```\n"

func TestPlaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		".autoloop/programs/b.md": goodProgram, ".autoloop/programs/a/program.md": goodProgram,
		".autoloop/programs/README.md":        "no program",
		".autoloop/programs/x.md/file":        "a directory with the name of a program",
		".autoloop/programs/twice.md":         goodProgram,
		".autoloop/programs/twice/program.md": goodProgram, "program.md": goodProgram,
	})
	p := w.plan("--max", "9")
	assert.Equal(t, []string{"a", "b"}, p.Matrix.Program)
	require.Len(t, p.Errors, 2)
	assert.Equal(t, "twice", p.Errors[0].Name)
	assert.Contains(t, p.Errors[0].Message, "twice")
	assert.Equal(t, "x", p.Errors[1].Name)
	require.NoError(t, os.RemoveAll(filepath.Join(w.dir, ".autoloop")))
	p = w.plan()
	assert.Equal(t, "program.md", *p.SelectedFile)
	require.NoError(t, os.Remove(filepath.Join(w.dir, "program.md")))
	p = w.plan()
	assert.True(t, p.NoPrograms)
	assert.Nil(t, p.Selected)
	w.write("elsewhere/e.md", goodProgram)
	p = w.plan("--programs", "elsewhere")
	assert.Equal(t, "e", *p.Selected)
	assert.Equal(t, 2, w.binary("scheduler", "--programs", "nowhere").code)
}

func TestMisuse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		".autoloop/programs/good.md": goodProgram, ".autoloop/programs/todo.md": "## Goal\nREPLACE THIS with a goal\n",
		".autoloop/programs/bad.md":        "---\nschedule: never\n---\n",
		".autoloop/programs/untargeted.md": "## Goal\nx\n## Evaluation\n```sh\necho 1\n```\n",
	})
	for _, c := range []struct{ binary, args, says string }{
		{"scheduler", "--bogus", "unknown flag"},
		{"scheduler", "bogus", "unknown command"},
		{"scheduler", "--program nobody", "there is no program \"nobody\""},
		{"scheduler", "--program todo", "not configured"},
		{"scheduler", "--program bad", "bad.md:2"},
		{"scheduler", "--now yesterday", "2026-01-31T15:04:05Z"},
		{"scheduler", "--max 0", "at least one"},
		{"iterate", "validate nowhere.md", "does not exist"},
		{"scheduler", "--repo-dir nowhere", "no directory"},
		{"iterate", "--bogus", "unknown flag"},
		{"iterate", "extra", "unknown command"},
		{"iterate", "--dir nowhere", "run `scheduler` first"},
		{"iterate", "--program nobody", "there is no program"},
		{"iterate", "--program todo", "not configured"},
		{"iterate", "--program bad", "bad.md:2"},
		{"iterate", "--program untargeted", "no target"},
		{"iterate", "--program good", "no agent can propose"},
		{"iterate", "--program good --agent claudius", "no agent is called"},
		{"iterate", "--program good --agent command", "agent-command"},
		{"iterate", "--program good -n 0", "at least one"},
	} {
		a := w.binary(c.binary, strings.Fields(c.args)...)
		assert.Equal(t, 2, a.code, "%s %s: %s", c.binary, c.args, a.stderr)
		assert.Contains(t, a.stderr, c.says, c.args)
		assert.Equal(t, 1, strings.Count(a.stderr, "\n"), "one clear line: %s", a.stderr)
		assert.Empty(t, a.stdout, c.args)
	}
	assert.NotNil(t, w.plan().Selected)
}

func TestPausedByEnvironment(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "metric_direction: lower", "9", "8")
	w.env = append(w.env, "AUTOLOOP_PAUSED=true")
	a := w.binary("scheduler", "--program", "p")
	assert.Zero(t, a.code)
	assert.Contains(t, a.stderr, "AUTOLOOP_PAUSED")
	assert.Nil(t, w.readPlan().Selected)
	a = w.binary("iterate", "--program", "p", "--json")
	assert.Zero(t, a.code)
	assert.Contains(t, a.stderr, "AUTOLOOP_PAUSED")
	assert.JSONEq(t, "[]", a.stdout)
}
