package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/actions"
	"github.com/org/autoloop/internal/suite/evals"
	"github.com/org/autoloop/tests/golden"
	"github.com/org/autoloop/tests/testdir"
)

func TestValidateSaysWhatSuitesHave(t *testing.T) {
	t.Parallel()
	one := func(more string) string {
		return "[\n{\"id\": 1, \"prompt\": \"p\", \"expectations\": [\"x\"]" + more + "}]"
	}
	task := func(agent string) string {
		return `{"id": "t", "title": "Do it", "fixtureDir": ".", "prompt": "p", "agent": "` + agent + `",
			"checks": [{"kind": "testSuite", "cmd": "true"}], "judgeRubric": {"criteria": "c"}}`
	}
	const front = "---\nname: s\ndescription: says things\n---\n"
	for name, list := range map[string]testdir.Files{
		"a suite": {"SKILL.md": front, evals.File: one("")},
		"fields of others": {
			"SKILL.md": front, evals.File: `{"version": 2, "skill_name": "other", "config": {"a": [1e999]}, "evals": ` +
				one(`, "tags": ["x"], "weight": 2`) + `}`,
		},
		"all suites": {
			"SKILL.md": front, "in.txt": "x", evals.File: one(
				`, "files": ["in.txt"], "deterministic_checks": [{"type": "file_exists", "file": "a"}]`),
			evals.TriggerFile: `[{"query": "a", "should_trigger": true}]`,
			evals.AnswerFile:  "<evaluation><qa_pair><question>q</question><answer>a</answer></qa_pair></evaluation>",
		},
		"no suite":          {"SKILL.md": front},
		"a task":            {"a/task.json": task("claude"), "a/in.txt": "x"},
		"a task for nobody": {"a/task.json": task("nobody"), "a/in.txt": "x"},
		"no task":           {"in.txt": "x"},
		"no skill":          {evals.File: one("")},
		"cut off":           {"SKILL.md": front, evals.File: one("")[:20]},
		"every file": {
			evals.File:        "[\n\n{\"id\": \"a b\", \"prompt\": \"p\"}]",
			evals.TriggerFile: "[\n{}]", evals.AnswerFile: "<evaluation>\n<pair/></evaluation>",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := testdir.New(t, nil)
			testdir.Put(t, filepath.Join(base, "s"), list)
			found, text, err := (&App{Env: Env{Step: actions.Step{Getenv: os.Getenv}}}).checkSuite(t.Context(), filepath.Join(base, "s"))
			require.NoError(t, err)
			golden.Line(t, strings.ReplaceAll(text, base, "BASE"))
			assert.Equal(t, found.OK, len(found.Errors) == 0)
			if found.checkedSkill == nil {
				assert.Equal(t, found.OK, len(found.Tasks) == 1)
				assert.NotNil(t, found.Tasks)
				return
			}
			assert.Equal(t, found.OK, len(found.Cases) == 1)
			assert.NotNil(t, found.Cases)
			assert.Nil(t, found.Tasks)
		})
	}
}
