package agent

import (
	"testing"

	"github.com/stretchr/testify/assert"
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
	cases := map[string]string{
		"<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE":            "no line `FILE: path`",
		"FILE: a\n<<<<<<< SEARCH\na\n=======\nb\n":                  "the line `>>>>>>> REPLACE` is missing",
		"FILE: a\n<<<<<<< SEARCH\na\n>>>>>>> REPLACE":               "no line `=======`",
		"FILE: a\n<<<<<<< WHOLE\na\n":                               "the line `>>>>>>> WHOLE` is missing",
		"FILE: a\n<<<<<<< SEARCH":                                   "is missing",
		"FILE: \n<<<<<<< WHOLE\n>>>>>>> WHOLE\nFILE: b\nsome words": "no line `FILE: path`",
	}
	for text, want := range cases {
		got := readAnswer(text)
		assert.Empty(t, got.edits, text)
		if assert.Len(t, got.problems, 1, text) {
			assert.Contains(t, got.problems[0], want)
		}
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, search, replace, want, problem string }{
		"in the middle":                {"a\nb\nc\n", "b\n", "B\nB\n", "a\nB\nB\nc\n", ""},
		"at the end without a newline": {"a\nb", "b\n", "c\n", "a\nc", ""},
		"before one without a newline": {"a\nb", "a\n", "c\n", "c\nb", ""},
		"taken out":                    {"a\nb\nc\n", "b\n", "", "a\nc\n", ""},
		"carriage returns are kept":    {"a\r\nb\r\n", "b\n", "c\nd\n", "a\r\nc\r\nd\r\n", ""},
		"whole lines only":             {"ba\na\n", "a\n", "x\n", "ba\nx\n", ""},
		"twice":                        {"a\nb\na\n", "a\n", "", "", "more than once"},
		"overlapping itself":           {"a\na\na\n", "a\na\n", "", "", "more than once"},
		"within a line":                {"ba\nca\n", "a\n", "", "", "not in the file"},
		"spaces matter":                {"  a\n", "a\n", "", "", "not in the file"},
		"missing":                      {"a\n", "z\n", "", "", "not in the file exactly as given: `z`"},
		"nothing to find":              {"a\n", "\n", "", "", "is empty"},
	} {
		got, problem := edit{search: c.search, replace: c.replace}.apply([]byte(c.file))
		assert.Contains(t, problem, c.problem, name)
		if c.problem == "" {
			assert.Empty(t, problem, name)
			assert.Equal(t, c.want, string(got), name)
		}
	}
	_, problem := edit{search: "a\n"}.apply(nil)
	assert.Contains(t, problem, "no such file")
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
