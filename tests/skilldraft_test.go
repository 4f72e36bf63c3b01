package tests

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const goodSuite = `{"evals": [
	{"id": 1, "prompt": "one", "deterministic_checks": [{"type": "file_contains", "file": "out.md", "text": "alpha"}]},
	{"id": 2, "prompt": "two", "deterministic_checks": [{"type": "file_contains", "file": "out.md", "text": "beta"}]},
	{"id": 3, "prompt": "three", "deterministic_checks": [{"type": "file_contains", "file": "out.md", "text": "gamma"}]}]}`

func TestSkillDoctorDrafts(t *testing.T) {
	t.Parallel()
	write := `cp "$SIDE/good.json" evals/evals.json`
	for name, c := range map[string]struct {
		suite, script string
		code          int
		says, kept    string
	}{
		"repairs":               {"", write, 0, "the draft: nothing found", goodSuite},
		"drafts what is not":    {"-", write, 0, "the draft: nothing found", goodSuite},
		"repairs what is wrong": {"[{", write, 0, "the draft: nothing found", goodSuite},
		"nothing to do":         {goodSuite, "exit 3", 0, "s: nothing found", ""},
		"still few cases":       {"", `cp evals/evals.json x; mv x evals/evals.json; echo >> evals/evals.json`, 1, "few-cases", "few"},
		"no suite":              {"", "echo '[' > evals/evals.json", 1, "left no suite that can be used", ""},
		"edits the skill":       {"", write + "; echo x >> SKILL.md", 1, "the agent changed SKILL.md beside evals/evals.json", ""},
		"fails":                 {"", "exit 3", 1, "the agent", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := skillWorld(t, "", c.script)
			switch c.suite {
			case "":
			case "-":
				require.NoError(t, os.RemoveAll(filepath.Join(w.dir, "s/evals")))
			default:
				w.write("s/evals/evals.json", c.suite)
			}
			require.NoError(t, os.WriteFile(filepath.Join(w.side, "good.json"), []byte(goodSuite), 0o600))
			before := w.state("s")
			a := w.binary("iterate", "skill", "doctor", "s", "--env", "SIDE", "--agent-command", `sh "$SIDE/improve"`, "--draft", "draft.json")
			assert.Equal(t, c.code, a.code, a.stdout+a.stderr)
			assert.Contains(t, a.stdout+a.stderr, c.says)
			assert.Equal(t, before, w.state("s"), "the skill is never edited")
			if c.kept == "" {
				assert.False(t, w.exists("draft.json"))
				return
			}
			assert.True(t, w.exists("draft.json"))
			if c.kept == goodSuite {
				assert.JSONEq(t, goodSuite, w.read("draft.json"))
			}
		})
	}
}

func TestSkillDoctorDraftsOutsideOfTheSkill(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", "exit 3")
	for _, place := range []string{"s/draft.json", "s/evals/draft.json", "s/SKILL.md", "nowhere/draft.json"} {
		a := w.binary("iterate", "skill", "doctor", "s", "--agent-command", "true", "--draft", place)
		assert.Equal(t, 2, a.code, "%s: %s", place, a.stderr)
	}
}
