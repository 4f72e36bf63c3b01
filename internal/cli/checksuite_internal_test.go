package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/actions"
	"github.com/org/autoloop/internal/suite"
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
		"a suite": {"SKILL.md": front, suite.EvalFile: one("")},
		"fields of others": {
			"SKILL.md": front, suite.EvalFile: `{"version": 2, "skill_name": "other", "config": {"a": [1e999]}, "evals": ` +
				one(`, "tags": ["x"], "weight": 2`) + `}`,
		},
		"all suites": {
			"SKILL.md": front, "in.txt": "x", suite.EvalFile: one(
				`, "files": ["in.txt"], "deterministic_checks": [{"type": "file_exists", "file": "a"}]`),
			suite.TriggerFile: `[{"query": "a", "should_trigger": true}]`,
			suite.AnswerFile:  "<evaluation><qa_pair><question>q</question><answer>a</answer></qa_pair></evaluation>",
		},
		"no suite":          {"SKILL.md": front},
		"a task":            {"a/task.json": task("claude"), "a/in.txt": "x"},
		"a task for nobody": {"a/task.json": task("nobody"), "a/in.txt": "x"},
		"no task":           {"in.txt": "x"},
		"no skill":          {suite.EvalFile: one("")},
		"cut off":           {"SKILL.md": front, suite.EvalFile: one("")[:20]},
		"every file": {
			suite.EvalFile:    "[\n\n{\"id\": \"a b\", \"prompt\": \"p\"}]",
			suite.TriggerFile: "[\n{}]", suite.AnswerFile: "<evaluation>\n<pair/></evaluation>",
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
