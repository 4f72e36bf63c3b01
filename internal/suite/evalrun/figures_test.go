package evalrun_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/suite/evalrun"
)

func TestTriggersAndAnswersAreFiguresOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := newFixture(t, `[{"id": 1, "prompt": "p", "deterministic_checks": [{"type": "file_exists", "file": "x"}]}]`)
	w.write("skill/evals/trigger-eval.json",
		`[{"query": "notes please", "should_trigger": true}, {"query": "what time is it", "should_trigger": false}, `+
			`{"query": "notes on chess", "should_trigger": false}]`)
	w.write("skill/evals/evaluation.xml",
		`<evaluation><qa_pair><question>How `+
			`many?</question><answer>7.</answer></qa_pair><qa_pair><question>Who?</question><answer>Ada</answer></qa_pair></evaluation>`)
	skill, err := evalrun.Load(w.root, "skill", "")
	require.NoError(t, err)
	script := `case $(cat "$AUTOLOOP_PROMPT") in
		notes*) cat "$AUTOLOOP_SKILL/SKILL.md" > /dev/null; echo "read .claude/skills/notes/SKILL.md";;
		How*) echo 7. > outputs/answer.txt;;
		Who*) echo "It was Ada" > outputs/answer.txt;;
	esac`
	triggers, err := evalrun.Run(t.Context(), skill.TriggerSuite(), w.at("triggers"), w.options(script))
	require.NoError(t, err)
	assert.Equal(t, "2/3", triggers.Rate.RatString())
	assert.Equal(t, "the skill is left alone", triggers.Cases[2].Failed[0].Text)
	assert.NotContains(t, w.read("triggers/eval-trigger-1/transcript.md"), "installed at")
	answers, err := evalrun.Run(t.Context(), skill.AnswerSuite(), w.at("answers"), w.options(script))
	require.NoError(t, err)
	assert.Equal(t, "1/2", answers.Rate.RatString())
	bare, err := evalrun.Load(newFixture(t, `[{"id": 1, "prompt": "p", "expectations": ["x"]}]`).root, "skill", "")
	require.NoError(t, err)
	assert.Nil(t, bare.TriggerSuite())
	assert.Nil(t, bare.AnswerSuite())
}
