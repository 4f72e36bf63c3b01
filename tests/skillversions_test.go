package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/tests/long"
)

// inputsWorld has a skill whose one case is given a file of the skill and one of
// its evals/, and wants to see both as they were written, and not read-only.
func inputsWorld(t *testing.T, improve string) *world {
	t.Helper()
	w := skillWorld(t, "", improve)
	check := func(file, text string) string {
		return `{"type": "file_contains", "file": "` + file + `", "text": "` + text + `"}`
	}
	w.write("s/evals/evals.json",
		`[{"id": 1, "prompt": "p", "files": ["in.txt", "evals/files/x.txt"], "deterministic_checks": [`+
			check("seen", `given\ngiven\n`)+`, `+check("modes",
			`-rw-r--r--\n-rw-r--r--\n-rw-r--r--\n`)+`, `+check("out.md",
			"beta")+`, `+check("out.md", "gamma")+`]}]`)
	w.write("s/in.txt", "given\n")
	w.write("s/evals/files/x.txt", "given\n")
	for _, name := range []string{"SKILL.md", "in.txt", "evals/files/x.txt"} {
		require.NoError(t, os.Chmod(filepath.Join(w.dir, "s", name), 0o644))
	}
	w.git("add", "--all")
	w.git("commit", "--quiet", "--message", "inputs")
	return w
}

const looks = `cat in.txt files/x.txt > outputs/seen; cp "$AUTOLOOP_SKILL/SKILL.md" outputs/out.md
	for f in in.txt files/x.txt "$AUTOLOOP_SKILL/SKILL.md"; do ls -l "$f" | cut -c1-10; done > outputs/modes`

func TestSkillProgramMayNotChangeWhatCasesAreGiven(t *testing.T) {
	long.Only(t, long.Suites)
	t.Parallel()
	w := inputsWorld(t, `echo easier > s/in.txt; echo beta >> s/SKILL.md`)
	program := w.read(".autoloop/programs/p.md")
	w.write(".autoloop/programs/p.md",
		strings.Replace(program, `cp "$AUTOLOOP_SKILL/SKILL.md" outputs/out.md`, `sh "$SIDE/looks"`, 1))
	w.git("commit", "--quiet", "--all", "--message", "look")
	require.NoError(t, os.WriteFile(filepath.Join(w.side, "looks"), []byte(looks), 0o600))
	got := w.one()
	assert.Equal(t, "rejected", got.Outcome)
	assert.Contains(t, strings.Join(got.Reasons, "\n"), `"s/in.txt"`)
	require.NoError(t, os.WriteFile(filepath.Join(w.side, "improve"), []byte("echo beta >> s/SKILL.md"), 0o600))
	assert.Equal(t, "accepted", w.one().Outcome)
	w.write("s/in.txt", "harder\n")
	w.git("commit", "--quiet", "--all", "--message", "another input")
	w.one()
	assert.Equal(t, 2, strings.Count(w.memory("p.results.tsv"), "\tbaseline\t"), "another input is another suite")
}

// TestSkillCandidateThatIsExchanged has an improver that puts a link to the
// original where its candidate was.
func TestSkillCandidateThatIsExchanged(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	for name, exchange := range map[string]string{
		"for a link to the original": `d=$PWD; cd ..; rm -rf "$d"; ln -s "$SKILL" "$d"`,
		"for a link to a better copy": `d=$PWD; cp -a "$d" "$SIDE/copy"; echo beta >> "$SIDE/copy/SKILL.md"; cd ..; ` +
			`rm -rf "$d"; ln -s "$SIDE/copy" "$d"`,
		"for a file":  `d=$PWD; cd ..; rm -rf "$d"; echo beta > "$d"`,
		"for nothing": `d=$PWD; cd ..; rm -rf "$d"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := skillWorld(t, "", `if test "$AUTOLOOP_ITERATION" = 1; then `+exchange+
				`; else echo beta >> SKILL.md; fi`)
			w.env = append(w.env, "SKILL="+filepath.Join(w.dir, "s"))
			before := w.state("s")
			end := w.skillEnd("-n", "2", "--settings", w.settings("env: [SIDE, SKILL]"))
			require.Len(t, end.Iterations, 3)
			assert.Equal(t, "reverted", end.Iterations[1].Action)
			assert.Nil(t, end.Iterations[1].Score)
			assert.Equal(t, "kept", end.Iterations[2].Action, end.Iterations[2].Changelog)
			assert.Equal(t, before, w.state("s"), "nothing is written through the link")
		})
	}
}

func TestSkillRunRefusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", "echo beta >> SKILL.md")
	before := w.state("s")
	for _, line := range []string{
		"jobs: 0", "jobs: -2", "evaluation-timeout: 0s", "stop-after-reverts: -1",
		"timeout-minutes: 0", "skil: s",
	} {
		assert.Equal(t, 2, w.skill("--settings", w.settings(line)).code, line)
		assert.Equal(t, 2, w.binary("iterate", "eval", "s", "--agent-command", "true", "--settings",
			w.settings(line)).code,
			line)
	}
	assert.Equal(t, 2, w.skill("-n", "0").code)
	assert.Equal(t, 2, w.binary("iterate", "eval", "s", "--agent-command", "true", "--against", "HEAD").code,
		"it is no task suite")
	a := w.skill("--workspace", "s/ws")
	assert.Equal(t, 1, a.code)
	assert.Contains(t, a.stderr, "keep the two apart")
	assert.Equal(t, before, w.state("s"))
}

func TestSkillIsNotAppliedUnderARun(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	w := skillWorld(t, "", `test "$AUTOLOOP_ITERATION" = 1 || for what in apply undo; do "$ITERATE" $what `+
		`"$WORKSPACE" --yes >> "$SIDE/out" 2>&1; echo $? >> "$SIDE/out"; done; echo beta >> SKILL.md`)
	w.env = append(w.env, "ITERATE="+filepath.Join(binaries, "iterate"), "WORKSPACE="+filepath.Join(w.dir, ws))
	before := w.state("s")
	a := w.skill("-n", "2", "--settings", w.settings("env: [SIDE, ITERATE, WORKSPACE]"))
	require.Zero(t, a.code, a.stderr)
	out, err := os.ReadFile(filepath.Join(w.side, "out"))
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(out), "another run works in "), string(out))
	assert.Equal(t, 2, strings.Count(string(out), "\n1\n"), string(out))
	assert.Equal(t, before, w.state("s"))
}

// TestSkillSuiteIsLocked puts another original, with its manifest, in the place of
// the one that the workspace began with.
func TestSkillSuiteIsLocked(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", "echo nothing >> SKILL.md")
	require.Len(t, w.skillEnd("-n", "1").Iterations, 2)
	w.write("easy/SKILL.md", w.read("s/SKILL.md"))
	w.write("easy/evals/evals.json", strings.ReplaceAll(w.read("s/evals/evals.json"), "beta", "alpha "))
	require.Zero(t, w.binary("iterate", "skill", "snapshot", "easy", "kept/v0").code)
	for _, name := range []string{"v0", "v0.manifest.json"} {
		require.NoError(t, files.RemoveAll(filepath.Join(w.dir, ws, name)))
		require.NoError(t, os.Chmod(filepath.Join(w.dir, "kept", name),
			0o755)) //nolint:gosec // A read-only directory does not move.
		require.NoError(t, os.Rename(filepath.Join(w.dir, "kept", name), filepath.Join(w.dir, ws, name)))
	}
	for _, args := range [][]string{
		{"skill", "score", ws, "1"},
		{"log", ws},
		{"skill", "s", "--agent-command", "true", "--judge", "off"},
	} {
		a := w.binary("iterate", args...)
		assert.Equal(t, 1, a.code, args)
		assert.Contains(t, a.stderr, "is not that of manifest.json", args)
	}
}

// TestSkillVersionWithoutARow finds the snapshot of a run that was killed before
// its iteration was recorded.
func TestSkillVersionWithoutARow(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", "echo nothing >> SKILL.md")
	require.Empty(t, w.skillEnd("-n", "1").Iterations[2:])
	require.Zero(t, w.binary("iterate", "skill", "snapshot", "s", ws+"/v2").code)
	w.write(ws+"/.v2.stage-1/file", "x")
	end := w.skillEnd("-n", "1")
	assert.Equal(t, "reverted", end.Iterations[0].Action)
	for _, name := range []string{"v2", "v2.manifest.json", ".v2.stage-1"} {
		assert.False(t, w.exists(ws+"/"+name), name)
	}
}
