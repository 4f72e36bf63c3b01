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

func TestSkillApplyRefusesWhatChanged(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *world){
		"another text": func(w *world) { w.write("s/keep", "mine\n") },
		"a new file":   func(w *world) { w.write("s/mine", "mine\n") },
		"a mode":       func(w *world) { require.NoError(w.t, os.Chmod(filepath.Join(w.dir, "s/keep"), 0o755)) },
		"a loss":       func(w *world) { require.NoError(w.t, os.Remove(filepath.Join(w.dir, "s/keep"))) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := improvedWorld(t)
			change(w)
			before := w.state("s")
			a := w.binary("iterate", "apply", ws, "--yes")
			assert.Equal(t, 1, a.code)
			assert.Contains(t, a.stderr, "changed since v0")
			a = w.binary("iterate", "undo", ws, "--yes")
			assert.Equal(t, 1, a.code)
			assert.Contains(t, a.stderr, "in no version of the workspace")
			assert.Equal(t, before, w.state("s"))
		})
	}
}

func TestSkillApplyMerges(t *testing.T) {
	t.Parallel()
	w := improvedWorld(t)
	w.write("s/SKILL.md", "# s, mine\none\ntwo\nthree\nfour\nfive\nsix\n")
	w.write("s/mine", "mine\n")
	require.NoError(t, os.Chmod(filepath.Join(w.dir, "s/keep"), 0o600))
	before := w.state("s")
	a := w.binary("iterate", "apply", ws, "--merge", "--yes")
	require.Zero(t, a.code, a.stderr)
	assert.Equal(t, "# s, mine\none\ntwo\nthree\nfour\nfive\nsix, better\n```\nfenced\n```\n", w.read("s/SKILL.md"))
	assert.Equal(t, "mine\n", w.read("s/mine"))
	w.write("next/SKILL.md", w.read("s/SKILL.md"))
	w.write("next/mine", "mine\n")
	require.NoError(t, os.Chmod(filepath.Join(w.dir, "next/keep"), 0o600))
	assert.Equal(t, w.state("next"), w.state("s"), "everything else is the version's, modes and all")

	require.Zero(t, w.binary("iterate", "skill", "restore", ws+"/before-apply-1", "s").code)
	assert.Equal(t, before, w.state("s"), "what was there is kept")
}

func TestSkillApplyMergeConflict(t *testing.T) {
	t.Parallel()
	w := improvedWorld(t)
	w.write("s/SKILL.md", "# s\none\ntwo\nthree\nfour\nfive\nsix, mine\n")
	before := w.state("s")
	a := w.binary("iterate", "apply", ws, "--merge", "--yes")
	assert.Equal(t, 1, a.code)
	assert.Contains(t, a.stderr, "conflicts in SKILL.md; nothing was applied")
	assert.Equal(t, before, w.state("s"))
}

func TestSkillUndoForced(t *testing.T) {
	t.Parallel()
	w := improvedWorld(t)
	original := w.state("s")
	w.write("s/mine", "mine\n")
	changed := w.state("s")
	a := w.binary("iterate", "undo", ws, "--yes", "--force")
	require.Zero(t, a.code, a.stderr)
	assert.Equal(t, original, w.state("s"))
	require.Zero(t, w.binary("iterate", "skill", "restore", ws+"/before-undo-1", "s").code)
	assert.Equal(t, changed, w.state("s"))
}

func TestSkillUndoAfterMerge(t *testing.T) {
	t.Parallel()
	w := improvedWorld(t)
	w.write("s/mine", "what I wrote\n")
	mine := w.state("s")
	require.Zero(t, w.binary("iterate", "apply", ws, "--merge", "--yes").code)
	merged := w.state("s")
	a := w.binary("iterate", "apply", ws, "--merge", "--yes")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "has v1 merged in already\n")
	assert.Equal(t, merged, w.state("s"))
	a = w.binary("iterate", "undo", ws, "--yes")
	require.Zero(t, a.code, a.stderr)
	assert.Equal(t, mine, w.state("s"), "what was there before the merge is back, also after the same merge once more")
	assert.Contains(t, a.stdout, "-six, better\n", "what changes is shown")
	a = w.binary("iterate", "undo", ws, "--yes")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "as it was already")
	assert.Equal(t, mine, w.state("s"), "undoing once more does not go on to v0")

	w.write("s/mine", "what I wrote later\n")
	later := w.state("s")
	require.Zero(t, w.binary("iterate", "apply", ws, "--merge", "--yes").code)
	require.Zero(t, w.binary("iterate", "skill", "restore", ws+"/before-apply-1", "s").code)
	assert.Equal(t, mine, w.state("s"), "an earlier state is never overwritten")
	require.Zero(t, w.binary("iterate", "skill", "restore", ws+"/before-apply-2", "s").code)
	assert.Equal(t, later, w.state("s"))
}

func TestSkillUndoForcedTwice(t *testing.T) {
	t.Parallel()
	w := improvedWorld(t)
	for i, text := range []string{"first\n", "second\n", "second\n"} {
		w.write("s/mine", text)
		a := w.binary("iterate", "undo", ws, "--yes", "--force")
		require.Zero(t, a.code, a.stderr)
		assert.Contains(t, a.stdout, "-"+text, "what changes is shown")
		assert.NoFileExists(t, filepath.Join(w.dir, "s/mine"), i)
	}
	assert.Equal(t, "first\n", w.read(ws+"/before-undo-1/mine"))
	assert.Equal(t, "second\n", w.read(ws+"/before-undo-2/mine"))
	assert.NoDirExists(t, filepath.Join(w.dir, ws, "before-undo-3"), "the same state is kept once")
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

func TestSkillApplyNothing(t *testing.T) {
	t.Parallel()
	w := improvedWorld(t)
	w.write(ws+"/results.tsv", "iteration\ttimestamp\tscore\tbest_score\taction\tchangelog\n")
	a := w.binary("iterate", "apply", ws, "--yes")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "there is nothing to apply")
	a = w.binary("iterate", "apply", ws, "--yes", "--version", "7")
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.stderr, "no such version was kept; there are v0")
}

// TestSkillApplyKilled kills applications and what undoes them.
func TestSkillApplyKilled(t *testing.T) {
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
	assert.Equal(t, []any{"s", "iterations", 1, false, "improving"}, []any{end.Name, end.Ended, end.BestVersion, end.Applied, end.Report.Class})
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

// TestSkillChecksHaveNoNoiseOfAGrader lets a candidate win, and the next lose, one
// check of 24: nobody's opinion is in that.
func TestSkillChecksHaveNoNoiseOfAGrader(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", `test "$AUTOLOOP_ITERATION" = 1 && echo beta >> SKILL.md || sed -i.bak -e /beta/d SKILL.md; rm -f SKILL.md.bak; echo "step $AUTOLOOP_ITERATION"`)
	check := func(word string) string {
		return `{"type": "file_contains", "file": "out.md", "text": "` + word + `"}`
	}
	list := []string{check("alpha"), check("beta")}
	for i := range 22 {
		list = append(list, check("never-"+string(rune('a'+i))))
	}
	w.write("s/evals/evals.json", `[{"id": 1, "prompt": "p", "deterministic_checks": [`+strings.Join(list, ",")+`]}]`)
	a := w.skill("-n", "2")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "iteration 1: kept, 0.08333: step 1 — unverified: measured once\n")
	assert.Contains(t, a.stdout, "iteration 2: reverted, 0.04167: step 2 — 0.04167 is worse than the best 0.08333 (higher is better)\n")
	a = w.binary("iterate", "log", ws)
	assert.NotContains(t, a.stdout, "noise")
}

func TestSkillRunSaysWhatItGoesOnFrom(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", `echo beta >> SKILL.md`)
	a := w.skill("-n", "1", "--yes")
	require.Zero(t, a.code, a.stderr)
	assert.NotContains(t, a.stderr, "warning")
	a = w.skill("-n", "1")
	assert.NotContains(t, a.stderr, "changed since v0", "what was applied is no change by hand")
	w.write("s/mine", "mine\n")
	a = w.skill("-n", "1")
	assert.Contains(t, a.stderr, "begin with the skill as it is with --fresh")

	w.write("other/SKILL.md", "other\n")
	w.write("other/evals/evals.json", w.read("s/evals/evals.json"))
	a = w.binary("iterate", "skill", "other", "--workspace", ws, "--agent-command", "true", "--judge", "off")
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.stderr, "is the workspace of ")
	require.NoError(t, os.Rename(filepath.Join(w.dir, "s"), filepath.Join(w.dir, "moved")))
	a = w.binary("iterate", "skill", "moved", "--workspace", ws, "--agent-command", "true", "--judge", "off", "-n", "1")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, w.read(ws+"/manifest.json"), `"../moved"`)

	w.write("precious/candidate/file", "mine\n")
	a = w.binary("iterate", "skill", "moved", "--workspace", "precious", "--agent-command", "true", "--judge", "off")
	assert.Equal(t, 1, a.code)
	assert.Contains(t, a.stderr, "is no workspace and has \"candidate\" in it")
	assert.Equal(t, "mine\n", w.read("precious/candidate/file"))
}

func TestSkillRunsOneAtATime(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", `test -e "$SIDE/second" || { touch "$SIDE/second"; "$ITERATE" skill "$SKILL" --agent-command true --judge off > "$SIDE/out" 2>&1; echo $? >> "$SIDE/out"; }; echo beta >> SKILL.md`)
	w.env = append(w.env, "ITERATE="+filepath.Join(binaries, "iterate"), "SKILL="+filepath.Join(w.dir, "s"))
	a := w.skill("-n", "1", "--settings", w.settings("env: [SIDE, ITERATE, SKILL]", "isolation: off"))
	require.Zero(t, a.code, a.stderr)
	out, err := os.ReadFile(filepath.Join(w.side, "out"))
	require.NoError(t, err)
	assert.Contains(t, string(out), "another run works in ")
	assert.True(t, strings.HasSuffix(string(out), "\n1\n"), string(out))
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

func TestSkillReportOfABrokenImprover(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", "exit 3")
	a := w.skill()
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "Note: the last 3 candidates were not measured at all")
	a = w.binary("iterate", "skill", "score", ws, "2")
	assert.Equal(t, 1, a.code)
	assert.Contains(t, a.stderr, "iteration 2 was not measured: the improver failed: crashed: exit code 3")
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

// TestSkillThatRanToItsMaximumIsAPlateau: what stopped rising and had all its
// iterations is no skill that its reverts ended.
func TestSkillThatRanToItsMaximumIsAPlateau(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", `test "$AUTOLOOP_ITERATION" = 1 && echo beta >> SKILL.md || echo nothing >> SKILL.md`)
	end := w.skillEnd("-n", "5", "--settings", w.settings("stop-after-reverts: off"))
	assert.Equal(t, []any{"iterations", "plateau"}, []any{end.Ended, end.Report.Class})
	end = w.skillEnd("-n", "5")
	assert.Equal(t, []any{"stuck", "stuck"}, []any{end.Ended, end.Report.Class}, "three more reverts ended this run")
}
