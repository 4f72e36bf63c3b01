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

const ws = "s-autoresearch"

func (w *world) state(name string) string {
	w.t.Helper()
	return state(w.t, filepath.Join(w.dir, name))
}

func TestSkillUndoHintIsQuoted(t *testing.T) {
	t.Parallel()
	w := improvedWorld(t)
	const other = "it's a place-autoresearch"
	require.NoError(t, os.Rename(filepath.Join(w.dir, ws), filepath.Join(w.dir, other)))
	a := w.binary("iterate", "apply", other, "--skill", "s", "--yes")
	require.Zero(t, a.code, a.stderr)
	_, hint, found := strings.Cut(a.stdout, "undo it with: iterate")
	require.True(t, found, a.stdout)
	out := w.run("", "sh", "-c", "printf %s "+strings.Replace(hint, "undo ", "", 1))
	assert.Equal(t, filepath.Join(w.dir, other), out, "the hint can be pasted into a shell")
}

func TestSkillRunEndsWithTheQuestion(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", `echo beta >> SKILL.md; echo "say beta"`)
	before := w.state("s")
	a := w.skill("-n", "1")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "# s: rapid\n")
	assert.Contains(t, a.stdout, "\n+beta\n")
	assert.Contains(t, a.stderr, "there is no terminal to ask on: use --yes")
	assert.Equal(t, before, w.state("s"))

	a = w.skill("-n", "1", "--fresh", "--yes")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, w.read("s/SKILL.md"), "beta")
	assert.Contains(t, a.stdout, "undo it with: iterate undo ")
	require.Zero(t, w.binary("iterate", "undo", "s-autoresearch-2", "--yes").code)
	assert.Equal(t, before, w.state("s"))

	w.write("s/mine", "mine\n")
	a = w.skill("-n", "1", "--yes")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stderr, "the skill changed since v0, so nothing is applied")
	assert.NotContains(t, w.read("s/SKILL.md"), "beta")
}

// skillEnd is what --json prints at the end of a run.
type skillEnd struct {
	Name, Ended, Workspace string
	BestVersion            int `json:"best_version"`
	Applied                bool
	Iterations             []struct {
		Iteration         int
		Score             *float64
		Action, Changelog string
	}
	Report struct{ Class, Diff string }
}

func (w *world) skillEnd(more ...string) skillEnd {
	w.t.Helper()
	a := w.skill(append(more, "--json")...)
	require.Zero(w.t, a.code, a.stderr)
	var end skillEnd
	require.NoError(w.t, json.Unmarshal([]byte(a.stdout), &end), a.stdout)
	return end
}

func TestSkillRunThatFoundNothingShowsItsReport(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", "true")
	a := w.skill()
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "# s: stuck\n")
	assert.Contains(t, a.stdout, "recalibrate the evals")
	assert.NotContains(t, a.stderr, "no terminal to ask on", "there is nothing to ask")
}

func TestSkillNamesWhoCouldWork(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", "echo beta >> SKILL.md")
	for _, args := range [][]string{{"skill", "s"}, {"eval", "s"}} {
		a := w.binary("iterate", args...)
		assert.Equal(t, 2, a.code)
		assert.Contains(t, a.stderr, "with --agent, or give a command with --agent-command; ready here: ")
	}
	w.env = append(w.env, "AUTOLOOP_AGENT=nobody")
	assert.Contains(t, w.binary("iterate", "skill", "s").stderr, `no agent is called "nobody"`)
	assert.Zero(t, w.skill("-n", "1").code, "a command that is given wins over the environment")
}

// TestSkillApplyHidesNothing asks about changes that would be seen as others on a
// terminal.
func TestSkillApplyHidesNothing(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", `printf 'beta\nsteal\033[1A\033[2K\r\n' >> SKILL.md`)
	a := w.skill("-n", "1")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "+steal␛[1A␛[2K")
	assert.NotContains(t, a.stdout, "\x1b")
	w.write("s/mine", "mine\n")
	a = w.binary("iterate", "apply", ws, "--merge")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "Joined with what changed")
	assert.NotContains(t, a.stdout, "\x1b")
	a = w.binary("iterate", "log", ws, "--diff")
	assert.Contains(t, a.stdout, "+steal\x1b[1A\x1b[2K", "the patch is as it is")
}
