package tests

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

func TestSkillExampleImproves(t *testing.T) {
	long.Only(t, long.Examples)
	t.Parallel()
	w := exampleWorld(t, "skill-release-notes")
	a := w.binary("iterate", "validate", "programs/skill-release-notes/skill")
	require.Zero(t, a.code, a.stdout)
	assert.Contains(t, a.stdout, "case ordinary: 0 expectations, 6 deterministic checks, 1 file\n")
	before := w.checkout()
	got := w.example("skill-release-notes", "10")
	outcomes, bests := []string{}, []string{}
	for _, one := range got {
		outcomes, bests = append(outcomes, one.Outcome), append(bests, text(one.Best))
	}
	assert.Equal(t, []string{"accepted", "rejected", "accepted", "accepted", "accepted"}, outcomes, "%+v", got)
	assert.Equal(t, "1", bests[4])
	assert.Contains(t, got[4].Stopped, "completed: target reached")
	assert.Equal(t, before, w.checkout())
	branch := w.git("show", "autoloop/skill-release-notes:programs/skill-release-notes/skill/SKILL.md")
	assert.Contains(t, branch, "Breaking changes come first")
	assert.NotContains(t, branch, "three most important")
	kept, err := filepath.Glob(filepath.Join(filepath.Dir(w.dir), "gh-aw", "skills", "skill-release-notes", "*",
		"evaluation-*", "eval-*", "grading.json"))
	require.NoError(t, err)
	assert.Len(t, kept, 3*6, "three cases, of the baseline and of five candidates")
}

// TestSkillExampleImprovesAlone runs the command of docs/explain/skills.md.
func TestSkillExampleImprovesAlone(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/explain/skills.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "\niterate skill programs/")
	require.True(t, found)
	line, _, _ := strings.Cut(rest, "\n")
	w := exampleWorld(t, "skill-release-notes")
	args := strings.Split("skill programs/"+line, `"`)
	var words []string
	for i, part := range args {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	a := w.binary("iterate", append(words, "--yes")...)
	require.Zero(t, a.code, a.stderr)
	_, shown, found := strings.Cut(rest, "\n```text test=TestSkillExampleImprovesAlone\n")
	require.True(t, found)
	shown, _, _ = strings.Cut(shown, "```")
	assert.Contains(t, a.stdout, "# release-notes: perfect\n")
	assert.Contains(t, a.stdout, shown)
	assert.Contains(t, a.stdout, "- v5: 1, 3 of 3 right\n")
	assert.Contains(t, w.read("programs/skill-release-notes/skill/SKILL.md"), "Breaking changes come first")
}

// skillProgram is a skill whose only case passes as far as its words are in
// SKILL.md; its agent runs the script improve.
const skillProgram = `---
skill: s
judge: off
agent: command
agent-command: sh "$SIDE/improve"
executor-command: cp "$AUTOLOOP_SKILL/SKILL.md" outputs/out.md
env: [SIDE]
%FRONT%
---
## Goal
Say more.
## Target
- ` + "`s/`" + `
`

func skillWorld(t *testing.T, front, improve string) *world {
	t.Helper()
	check := func(word string) string {
		return `{"type": "file_contains", "file": "out.md", "text": "` + word + `"}`
	}
	w := newWorld(t, map[string]string{
		".autoloop/programs/p.md": strings.Replace(skillProgram, "%FRONT%", front, 1),
		"s/SKILL.md":              "---\nname: s\n---\nalpha\n",
		"s/evals/evals.json": `[{"id": 1, "prompt": "p", "deterministic_checks": [` + check("alpha") + `]},
			{"id": 2, "prompt": "p", "deterministic_checks": [` + check("beta") + `, ` + check("gamma") + `, ` +
			check("delta") + `]}]`,
	})
	require.NoError(t, os.WriteFile(filepath.Join(w.side, "improve"), []byte(improve), 0o600))
	return w
}

func TestSkillMayNotLoseACase(t *testing.T) {
	long.Only(t, long.Suites)
	t.Parallel()
	lose := "printf 'beta gamma delta\\n' > s/SKILL.md" // wins 2, loses 1: a tie at 1/2
	w := skillWorld(t, "no-case-regression: true", lose)
	got := w.one()
	assert.Equal(t, "rejected", got.Outcome, "a tie is no gain")

	evals := `[{"id": 1, "prompt": "p", "deterministic_checks": [{"type": "file_contains", "file": "out.md", "text": "alpha"}]},
		{"id": 2, "prompt": "p", "deterministic_checks": [{"type": "file_contains", "file": "out.md", "text": "beta"}]},
		{"id": 3, "prompt": "p", "deterministic_checks": [{"type": "file_contains", "file": "out.md", "text": "gamma"}]}]`
	for front, want := range map[string]string{
		"no-case-regression: true":  "rejected",
		"no-case-regression: false": "accepted",
	} {
		w := skillWorld(t, front, "printf 'beta gamma\\n' > s/SKILL.md")
		w.write("s/evals/evals.json", evals)
		w.git("commit", "--quiet", "--all", "--message", "three cases")
		got := w.one()
		assert.Equal(t, want, got.Outcome, "%s: %v", front, got.Reasons)
		assert.Contains(t, strings.Join(got.Reasons, "\n"), "regressed-cases: 1", front)
		a := w.binary("iterate", "replay", "p")
		assert.Zero(t, a.code, "%s: %s", front, a.stdout)
	}
}

func TestSkillCandidatesMayNotTouchTheirSuite(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	for name, improve := range map[string]string{
		"edits it":       "echo '[]' > s/evals/evals.json",
		"adds to it":     "echo beta gamma delta >> s/SKILL.md; touch s/evals/x",
		"removes it":     "rm -r s/evals",
		"deletes itself": "rm -r s",
		"links out":      "ln -s /etc s/etc; echo beta >> s/SKILL.md",
		"writes a grading": `mkdir s/outputs; echo '{"expectations":[{"text":"x","passed":true}]}' > ` +
			`s/outputs/grading.json`,
		"removes its script": "rm s/SKILL.md",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := skillWorld(t, "", improve)
			got := w.one()
			assert.Equal(t, "rejected", got.Outcome, "%v", got.Reasons)
			assert.Equal(t, "0.5", text(got.Best))
			assert.Empty(t, w.git("branch", "--list", "autoloop/*"))
		})
	}
}

func TestSkillImproverHearsWhatFailed(t *testing.T) {
	long.Only(t, long.Suites)
	t.Parallel()
	w := skillWorld(t, "", `cp "$AUTOLOOP_PROMPT" "$SIDE/prompt-$AUTOLOOP_ITERATION"; test "$AUTOLOOP_ITERATION" = 1 `+
		`&& echo beta >> s/SKILL.md || echo x >> s/SKILL.md`)
	got := w.iterate("-n", "3")
	require.Len(t, got, 3)
	for name, want := range map[string][]string{
		"prompt-1": {"case 2: 0 of 3", "failed: file_contains out.md \"beta\"", "generalise"},
		"prompt-3": {"case 2: 1 of 3", "failed: file_contains out.md \"gamma\""},
	} {
		said, err := os.ReadFile(filepath.Join(w.side, name))
		require.NoError(t, err)
		for _, part := range want {
			assert.Contains(t, string(said), part, name)
		}
	}
	said, err := os.ReadFile(filepath.Join(w.side, "prompt-3"))
	require.NoError(t, err)
	assert.NotContains(t, string(said), `file_contains out.md "beta"`, "what was fixed is not told")
	state := w.ledger()
	assert.Contains(t, state, `"case.2":0.333333333333`)
}

func TestAChangedSuiteIsANewBaseline(t *testing.T) {
	long.Only(t, long.Suites)
	t.Parallel()
	w := skillWorld(t, "", "echo beta >> s/SKILL.md")
	w.one()
	w.write("s/evals/evals.json", `[{"id": 1, "prompt": "p", "deterministic_checks": [{"type": "file_contains", `+
		`"file": "out.md", "text": "omega"}]}]`)
	w.git("commit", "--quiet", "--all", "--message", "another suite")
	w.one()
	assert.Equal(t, 2, strings.Count(w.memory("p.results.tsv"), "\tbaseline\t"))
}

func TestSkillEvalRunsAlone(t *testing.T) {
	t.Parallel()
	w := exampleWorld(t, "skill-release-notes")
	eval := func(more ...string) answer {
		return w.binary("iterate",
			append([]string{"eval", "programs/skill-release-notes/skill", "--judge", "off"}, more...)...)
	}
	script := "sh programs/skill-release-notes/executor.sh"
	a := eval("--agent-command", script, "--json", "--out", "kept")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, `"score": 0.305555555556`)
	assert.Contains(t, a.stdout, "\"triggers\": {\n    \"score\": 1,")
	assert.Contains(t, a.stdout, `"answers": null`)
	assert.FileExists(t, filepath.Join(w.dir, "kept", "eval-ordinary", "grading.json"))
	assert.FileExists(t, filepath.Join(w.dir, "kept", "triggers", "eval-trigger-1", "transcript.md"))
	assert.Equal(t, 2, eval("--agent-command", script, "--out", "kept").code, "what is kept is not overwritten")
	assert.Equal(t, 2, eval().code, "nobody works on the cases")
	before := w.state("programs/skill-release-notes/skill")
	for _, out := range []string{"programs/skill-release-notes/skill/kept", "programs/skill-release-notes/skill/a/b"} {
		a := eval("--agent-command", script, "--out", out)
		assert.Equal(t, 2, a.code)
		assert.Contains(t, a.stderr, "is in the skill, which is never edited")
	}
	assert.Equal(t, before, w.state("programs/skill-release-notes/skill"))
	assert.Contains(t, eval("--agent-command", "exit 4").stdout, "counts 0: crashed: exit code 4")
}

func TestSkillDoctor(t *testing.T) {
	t.Parallel()
	w := exampleWorld(t, "skill-release-notes")
	a := w.binary("iterate", "doctor", "programs/skill-release-notes/skill")
	assert.Zero(t, a.code, a.stdout+a.stderr)
	assert.Equal(t, "release-notes: nothing found\n", a.stdout)
	for run := range 3 {
		a = w.binary("iterate", "eval", "programs/skill-release-notes/skill", "--agent-command",
			"sh programs/skill-release-notes/executor.sh", "--judge", "off", "--out",
			"kept/"+strings.Repeat("i", run+1))
		require.Zero(t, a.code, a.stderr)
	}
	a = w.binary("iterate", "doctor", "programs/skill-release-notes/skill", "--history", "kept", "--json")
	assert.Equal(t, 1, a.code)
	assert.Contains(t, a.stdout, `"gradings": 18`)
	assert.Contains(t, a.stdout, `\"the title is the version\" passed in all 3 runs`)
	assert.Contains(t, a.stdout, `\"breaking changes come first\" failed in all 3 runs`)
}

// settings writes keys of a program into a file beside the repository, for --settings;
// agents see $SIDE unless a line says what they see.
func (w *world) settings(lines ...string) string {
	w.t.Helper()
	text := "---\n" + strings.Join(lines, "\n") + "\n"
	if !strings.Contains(text, "\nenv:") {
		text += "env: [SIDE]\n"
	}
	sum := sha256.Sum256([]byte(text))
	file := filepath.Join(w.side, fmt.Sprintf("settings-%x.md", sum[:4]))
	require.NoError(w.t, os.WriteFile(file, []byte(text+"---\n"), 0o600))
	return file
}

// skill improves a skill outside of any program.
func (w *world) skill(more ...string) answer {
	w.t.Helper()
	return w.binary("iterate", append([]string{
		"skill", "s", "--judge", "off", "--settings", w.settings(), "--agent-command", `sh "$SIDE/improve"`,
		"--executor-command", `cp "$AUTOLOOP_SKILL/SKILL.md" outputs/out.md`,
	}, more...)...)
}

func TestSkillImprovesAlone(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", `cp "$AUTOLOOP_PROMPT" "$SIDE/prompt-$AUTOLOOP_ITERATION"
		case $AUTOLOOP_ITERATION in 1) echo beta >> SKILL.md;; 2) echo nothing >> SKILL.md;; 3) echo '[]' > evals/evals.json;; 4) echo gamma >> SKILL.md;; 5) echo delta >> SKILL.md;; esac
		echo "step $AUTOLOOP_ITERATION"`)
	a := w.skill("-n", "2")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout,
		"iteration 0: baseline, 0.5: Initial evaluation\niteration 1: kept, 0.667: step 1 — unverified: measured "+
			"once\niteration 2: reverted, 0.667: step 2 — ")
	a = w.skill()
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "iteration 3: reverted, not measured: step 3 — it changed the eval suite")
	assert.Contains(t, a.stdout, "s: perfect; the best is v5 in ")
	assert.Equal(t, "---\nname: s\n---\nalpha\n", w.read("s/SKILL.md"), "the skill itself is not changed")
	assert.Contains(t, w.read("s-autoresearch/v5/SKILL.md"), "alpha\nbeta\ngamma\ndelta\n")
	assert.Equal(t, 7, strings.Count(w.read("s-autoresearch/results.tsv"), "\n"))
	scored := w.binary("iterate", "skill", "score", "s-autoresearch", "4")
	require.Zero(t, scored.code, scored.stderr)
	assert.Contains(t, scored.stdout, "score 0.833")
	said, err := os.ReadFile(filepath.Join(w.side, "prompt-3"))
	require.NoError(t, err)
	assert.Contains(t, string(said), "case 2: 1 of 3")
	a = w.skill()
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "s: perfect; the best is v5")
}

// many is how many files a candidate adds: more than one command line of touch
// has, and with time enough more than a repository has.
func many() string {
	if long.Asked() {
		return "20000"
	}
	return "2000"
}

func TestSkillCandidatesWithOddFiles(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	odd := `touch "s/a b" 's/q"' "$(printf 's/n\nl')" "$(printf 's/\377')"`
	for name, c := range map[string]struct{ improve, outcome, best string }{
		"names":     {odd + "; echo beta >> s/SKILL.md", "accepted", "0.666666666667"},
		"mode only": {"chmod +x s/SKILL.md", "rejected", "0.5"},
		"many files": {
			"(cd s && seq " + many() + " | xargs touch) && echo beta >> s/SKILL.md", "accepted",
			"0.666666666667",
		},
		"a pipe":        {"mkfifo s/pipe; echo beta >> s/SKILL.md", "rejected", "0.5"},
		"a link inside": {"ln -s SKILL.md s/AGENTS.md; echo beta >> s/SKILL.md", "accepted", "0.666666666667"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := skillWorld(t, "", c.improve).one()
			assert.Equal(t, c.outcome, got.Outcome, "%v", got.Reasons)
			assert.Equal(t, c.best, text(got.Best))
		})
	}
}
