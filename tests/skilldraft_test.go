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

const goodTriggers = `[{"query": "say more", "should_trigger": true}, {"query": "say less", "should_trigger": false}]`

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
		"edits the skill":       {"", write + "; echo x >> SKILL.md", 1, "the agent changed SKILL.md beside evals/evals.json and evals/trigger-eval.json", ""},
		"changes nothing":       {"", "true", 1, "the agent changed no suite", ""},
		"fails":                 {"", "exit 3", 1, "the agent", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := skillWorld(t, "", c.script)
			w.write("s/evals/trigger-eval.json", goodTriggers)
			switch c.suite {
			case "":
			case "-":
				require.NoError(t, os.Remove(filepath.Join(w.dir, "s/evals/evals.json")))
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
		a = w.binary("iterate", "skill", "doctor", "s", "--agent-command", "true", "--draft-triggers", place)
		assert.Equal(t, 2, a.code, "%s: %s", place, a.stderr)
	}
}

func TestSkillDoctorDraftsTriggers(t *testing.T) {
	t.Parallel()
	write := `cp "$SIDE/triggers.json" evals/trigger-eval.json`
	for name, c := range map[string]struct {
		triggers, script string
		code             int
		says             string
		kept             bool
	}{
		"missing":             {"", write, 0, "the draft: nothing found", true},
		"none to leave alone": {`[{"query": "a", "should_trigger": true}]`, write, 0, "none of the 1 trigger queries has `should_trigger: false`", true},
		"there twice":         {`[{"query": "a", "should_trigger": true}, {"query": "a", "should_trigger": true}]`, write, 0, "the query \"a\" is there twice", true},
		"nearly twice":        {`[{"query": "a b", "should_trigger": true}, {"query": "A  b", "should_trigger": false}]`, write, 0, "again: it counts twice", true},
		"nothing to do":       {goodTriggers, "exit 3", 0, "s: nothing found", false},
		"still one-sided":     {"", `echo '[{"query": "a", "should_trigger": true}]' > evals/trigger-eval.json`, 1, "one-sided", true},
		"unusable":            {"", `echo '[{"query": 1}]' > evals/trigger-eval.json`, 1, "left no suite that can be used", false},
		"edits the skill":     {"", write + "; sed -i.bak -e s/alpha/beta/ SKILL.md; rm -f SKILL.md.bak", 1, "the agent changed SKILL.md", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := skillWorld(t, "", c.script)
			w.write("s/evals/evals.json", goodSuite)
			if c.triggers != "" {
				w.write("s/evals/trigger-eval.json", c.triggers)
			}
			require.NoError(t, os.WriteFile(filepath.Join(w.side, "triggers.json"), []byte(goodTriggers), 0o600))
			before := w.state("s")
			if c.says != "s: nothing found" {
				assert.NotZero(t, w.binary("iterate", "skill", "doctor", "s").code, "it is found without an agent")
			}
			a := w.binary("iterate", "skill", "doctor", "s", "--env", "SIDE", "--agent-command", `sh "$SIDE/improve"`)
			assert.Equal(t, c.code, a.code, a.stdout+a.stderr)
			assert.Contains(t, a.stdout+a.stderr, c.says)
			assert.Equal(t, before, w.state("s"), "the skill is never edited")
			assert.False(t, w.exists("s-evals.json"), "what was right has no draft")
			assert.Equal(t, c.kept, w.exists("s-trigger-eval.json"))
			if c.kept && c.code == 0 {
				assert.JSONEq(t, goodTriggers, w.read("s-trigger-eval.json"))
			}
		})
	}
}
