package evals

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAnswersOfOthers has what a question and its answer may be written like.
func TestAnswersOfOthers(t *testing.T) {
	t.Parallel()
	pair := func(text string) string { return "<evaluation><qa_pair>" + text + "</qa_pair></evaluation>" }
	for name, c := range map[string]struct {
		text string
		want string // the question and the answer
		says string
	}{
		"plain":            {pair("<question>q</question><answer>a</answer>"), "q=a", ""},
		"lines and blanks": {pair("\n <question>\n q \n</question>\n<answer>\ta\n</answer>\n"), "q=a", ""},
		"markup as data": {
			pair("<question><![CDATA[a < b & c]]></question><answer>&lt;b&gt; &#65;</answer>"),
			"a < b & c=<b> A", "",
		},
		"comments":   {pair("<question>q<!-- what? -->r</question><!-- x --><answer>a</answer>"), "qr=a", ""},
		"attributes": {pair(`<question id="1" lang="en">q</question><answer exact="yes">a</answer>`), "q=a", ""},
		"a namespace": {
			`<e:evaluation ` +
				`xmlns:e="x"><e:qa_pair><e:question>q</e:question><e:answer>a</e:answer></e:qa_pair></e:evaluation>`, "q=a",
			"",
		},
		"a question twice": {
			pair("<question>q</question><question>r</question><answer>a</answer>"), "",
			"qa_pair[0].question: is there twice;",
		},
		"an instruction":   {`<?style x?>` + pair("<question>q</question><answer>a</answer>"), "q=a", ""},
		"a pair in a pair": {pair("<qa_pair><question>q</question></qa_pair>"), "", "qa_pair: does not belong here"},
		"too many questions": {
			"<evaluation>" + strings.Repeat("<qa_pair><question>q</question><answer>a</answer></qa_pair>", 501) +
				"</evaluation>", "", "evaluation: has more than 500 questions",
		},
		"an empty answer": {pair("<question>q</question><answer/>"), "q=", ""},
		"no answer":       {pair("\n<question>q</question>\n\n"), "", "x:1: qa_pair[0].answer: is missing"},
		"the line of a pair": {
			"<evaluation>\n<qa_pair><question>q</question></qa_pair></evaluation>", "",
			"x:2: qa_pair[0].answer: is missing",
		},
		"nothing": {"", "", "evaluation: has no `qa_pair`"},
		"markup in it": {
			pair("<question>q <b>r</b></question><answer>a</answer>"), "",
			"b: does not belong here",
		},
		"another root": {
			"<evaluations><qa_pair><question>q</question><answer>a</answer></qa_pair></evaluations>",
			"", "evaluations: does not belong here",
		},
		"an answer alone": {"<evaluation><answer>a</answer></evaluation>", "", "answer: does not belong here"},
		"never closed":    {"<evaluation><qa_pair><question>q</question>", "", "is not XML"},
		"an entity": {`<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>` +
			pair("<question>&e;</question><answer>a</answer>"), "", "is not XML"},
		"too large": {
			pair("<question>" + strings.Repeat("q", 4<<20) + "</question><answer>a</answer>"), "",
			"has more than 4096 KiB",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, problems := ParseAnswers("x", []byte(c.text))
			if c.says != "" {
				require.ErrorContains(t, problems.Err(), c.says)
				assert.Empty(t, found)
				return
			}
			require.NoError(t, problems.Err())
			require.Len(t, found, 1)
			assert.Equal(t, c.want, found[0].Question+"="+found[0].Answer)
		})
	}
}
