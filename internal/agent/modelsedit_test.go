package agent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/tests/golden"
)

const goodAnswer = "Here is what I would do.\n\nPLAN: use a larger step\nFILE: `a.txt`\n```\n<<<<<<< SEARCH\none\n" +
	"two\n=======\none\n2\n>>>>>>> REPLACE\n```\n" +
	"<<<<<<< SEARCH\nfour\n=======\n>>>>>>> REPLACE\nFILE: new/b.txt\n<<<<<<< WHOLE\n<<<<<<< SEARCH\n=======\n" +
	">>>>>>> REPLACE\n>>>>>>> WHOLE\nThat is all."

func TestReadAnswer(t *testing.T) {
	t.Parallel()
	assert.Equal(t, answer{plan: "use a larger step", edits: []edit{
		{path: "a.txt", search: "one\ntwo\n", replace: "one\n2\n"},
		{path: "a.txt", search: "four\n"},
		{path: "new/b.txt", whole: true, replace: "<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE\n"},
	}}, readAnswer(goodAnswer))
}

func TestAnswersThatCannotBeUnderstood(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE",
		"FILE: a\n<<<<<<< SEARCH\na\n=======\nb\n",
		"FILE: a\n<<<<<<< SEARCH\na\n>>>>>>> REPLACE",
		"FILE: a\n<<<<<<< WHOLE\na\n",
		"FILE: a\n<<<<<<< SEARCH",
		"FILE: \n<<<<<<< WHOLE\n>>>>>>> WHOLE\nFILE: b\nsome words",
	} {
		got := readAnswer(text)
		assert.Empty(t, got.edits, text)
		golden.Row(t, text, strings.Join(got.problems, "; "))
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{ // FILE|SEARCH|REPLACE
		"in the middle":                "a\nb\nc\n|b\n|B\nB\n",
		"at the end without a newline": "a\nb|b\n|c\n",
		"before one without a newline": "a\nb|a\n|c\n",
		"taken out":                    "a\nb\nc\n|b\n|",
		"carriage returns are kept":    "a\r\nb\r\n|b\n|c\nd\n",
		"whole lines only":             "ba\na\n|a\n|x\n",
		"twice":                        "a\nb\na\n|a\n|",
		"overlapping itself":           "a\na\na\n|a\na\n|",
		"within a line":                "ba\nca\n|a\n|",
		"spaces matter":                "  a\n|a\n|",
		"missing":                      "a\n|z\n|",
		"nothing to find":              "a\n|\n|",
	}, func(_ *testing.T, row string) any {
		part := strings.Split(row, "|")
		got, problem := edit{search: part[1], replace: part[2]}.apply([]byte(part[0]))
		return fmt.Sprintf("%q %s", got, problem)
	})
	_, problem := edit{search: "a\n"}.apply(nil)
	golden.Row(t, "no file", problem)
}

func FuzzReadAnswer(f *testing.F) {
	f.Add(goodAnswer, "one\ntwo\nthree\nfour")
	f.Add("FILE: a\n<<<<<<< SEARCH\n\r\n=======", "a\r\nb")
	f.Fuzz(func(t *testing.T, text, file string) {
		for _, e := range readAnswer(text).edits {
			changed, problem := e.apply([]byte(file))
			if problem == "" && e.search == e.replace && !e.whole {
				assert.Equal(t, file, string(changed), "an edit that changes nothing changes nothing")
			}
		}
	})
}
