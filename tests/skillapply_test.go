package tests

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

const ws = "s-autoresearch"

func (w *world) state(name string) string {
	w.t.Helper()
	return state(w.t, filepath.Join(w.dir, name))
}

func TestSkillApplyAndUndo(t *testing.T) {
	t.Parallel()
	w := improvedWorld(t)
	w.write("s/.git", "gitdir: elsewhere\n")
	before := w.state("s")

	a := w.binary("iterate", "apply", ws)
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "six, better")
	assert.Contains(t, a.stdout, "nothing was changed")
	assert.Contains(t, a.stderr, "there is no terminal to ask on: use --yes")
	assert.Equal(t, before, w.state("s"), "nobody agreed")

	a = w.binary("iterate", "apply", ws, "--yes")
	require.Zero(t, a.code, a.stderr)
	assert.Equal(t, w.state("next"), w.state("s"))
	assert.Equal(t, "gitdir: elsewhere\n", w.read("s/.git"))
	a = w.binary("iterate", "apply", ws, "--yes")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "is v1 already")

	a = w.binary("iterate", "undo", ws, "--yes")
	require.Zero(t, a.code, a.stderr)
	assert.Equal(t, before, w.state("s"))
	a = w.binary("iterate", "undo", ws, "--yes")
	assert.Contains(t, a.stdout, "as it was already")
	assert.DirExists(t, filepath.Join(w.dir, ws, "v1"), "the workspace is kept")
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

// TestSkillApplyKilled kills applications and what undoes them.
func TestSkillApplyKilled(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	w := improvedWorld(t)
	before, after := w.state("s"), w.state("next")
	const kills = 12
	w.killAround(kills, func() string { return w.state("s") },
		leading{after, []string{"apply", ws, "--yes"}}, leading{before, []string{"undo", ws, "--yes"}})
	a := w.binary("iterate", "apply", ws, "--yes")
	require.Zero(t, a.code, a.stderr)
	assert.Equal(t, after, w.state("s"))
	left, err := filepath.Glob(filepath.Join(w.dir, ".s.*"))
	require.NoError(t, err)
	assert.Empty(t, left)
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

func TestSkillRunAsJSON(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", `test "$AUTOLOOP_ITERATION" = 1 && echo beta >> SKILL.md; echo "step $AUTOLOOP_ITERATION"`)
	before := w.state("s")
	end := w.skillEnd("-n", "2")
	assert.Equal(t, []any{"s", "iterations", 1, false, "improving"},
		[]any{end.Name, end.Ended, end.BestVersion, end.Applied, end.Report.Class})
	require.Len(t, end.Iterations, 3, "the baseline too")
	assert.Equal(t, "step 1 — unverified: measured once", end.Iterations[1].Changelog)
	assert.Nil(t, end.Iterations[2].Score)
	assert.Contains(t, end.Report.Diff, "\n+beta\n")
	assert.Equal(t, before, w.state("s"), "nobody agreed")

	end = w.skillEnd("-n", "1", "--yes")
	assert.True(t, end.Applied)
	require.Len(t, end.Iterations, 1, "those of this run")
	assert.Contains(t, w.read("s/SKILL.md"), "beta")
	assert.True(t, w.skillEnd("-n", "1").Applied, "it was already")
	assert.Equal(t, 2, w.skill("--out", "x").code)
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

// foreignWorld is a workspace in the layout of other programs: versions as plain
// directories, without a manifest of anything.
func foreignWorld(t *testing.T) *world {
	t.Helper()
	w := improvedWorld(t)
	for _, name := range []string{"v0", "v1"} {
		place := filepath.Join(w.dir, ws, name)
		w.run("", "chmod", "-R", "u+w", place)
		require.NoError(t, os.Remove(place+".manifest.json"))
	}
	return w
}

func TestSkillWorkspaceOfOthersIsAdopted(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"report":  {"log", ws},
		"apply":   {"apply", ws, "--yes"},
		"undo":    {"undo", ws, "--yes"},
		"score":   {"skill", "score", ws, "1"},
		"restore": {"skill", "restore", ws + "/v1", "s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := foreignWorld(t)
			before := w.state(ws + "/v1")
			a := w.binary("iterate", args...)
			require.Zero(t, a.code, a.stderr)
			assert.Contains(t, a.stderr, "was made by another program")
			assert.Equal(t, before, w.state(ws+"/v1"), "the versions stay as they are")
			if name == "apply" || name == "restore" {
				assert.Contains(t, w.read("s/SKILL.md"), "six, better")
			}
			a = w.binary("iterate", args...)
			require.Zero(t, a.code, a.stderr)
			assert.NotContains(t, a.stderr, "another program", "it is ours now")
			w.write(ws+"/v1/SKILL.md", "altered\n")
			a = w.binary("iterate", "skill", "restore", ws+"/v1", "s")
			assert.Equal(t, 1, a.code, "from now on an altered version is refused")
		})
	}
}
