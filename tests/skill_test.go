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

// TestSkillExampleImprovesAlone runs the command of docs/explain/skills.md.
func TestSkillExampleImprovesAlone(t *testing.T) {
	t.Parallel()
	text := readText(t, "../docs/explain/skills.md")
	_, rest, found := strings.Cut(text, "\niterate skill programs/")
	require.True(t, found)
	line, _, _ := strings.Cut(rest, "\n")
	w := exampleProject(t, "skill-release-notes")
	args := strings.Split("skill programs/"+line, `"`)
	var words []string
	for i, part := range args {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	a := w.ok("iterate", append(words, "--yes")...)
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

func skillProject(t *testing.T, front, improve string) *project {
	t.Helper()
	check := func(word string) string {
		return `{"type": "file_contains", "file": "out.md", "text": "` + word + `"}`
	}
	w := newProject(t, map[string]string{
		".autoloop/programs/p.md": strings.Replace(skillProgram, "%FRONT%", front, 1),
		"s/SKILL.md":              "---\nname: s\n---\nalpha\n",
		"s/evals/evals.json": `[{"id": 1, "prompt": "p", "deterministic_checks": [` + check("alpha") + `]},
			{"id": 2, "prompt": "p", "deterministic_checks": [` + check("beta") + `, ` + check("gamma") + `, ` +
			check("delta") + `]}]`,
	})
	w.aside("improve", improve)
	return w
}

// settings writes keys of a program into a file beside the repository, for --settings;
// agents see $SIDE unless a line says what they see.
func (w *project) settings(lines ...string) string {
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
func (w *project) skill(more ...string) answer {
	w.t.Helper()
	return w.binary("iterate", append([]string{
		"skill", "s", "--judge", "off", "--settings", w.settings(), "--agent-command", `sh "$SIDE/improve"`,
		"--executor-command", `cp "$AUTOLOOP_SKILL/SKILL.md" outputs/out.md`,
	}, more...)...)
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
			w := skillProject(t, "", `if test "$AUTOLOOP_ITERATION" = 1; then `+exchange+
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
