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
	cases := []struct {
		name, file, search, replace string
		want, problem               string
	}{
		{name: "in the middle", file: "a\nb\nc\n", search: "b\n", replace: "B\nB\n", want: "a\nB\nB\nc\n"},
		{name: "at the end without a newline", file: "a\nb", search: "b\n", replace: "c\n", want: "a\nc"},
		{name: "in the middle of a file without a newline", file: "a\nb", search: "a\n", replace: "c\n", want: "c\nb"},
		{name: "taken out", file: "a\nb\nc\n", search: "b\n", want: "a\nc\n"},
		{
			name: "carriage returns are kept", file: "a\r\nb\r\n", search: "b\n", replace: "c\nd\n",
			want: "a\r\nc\r\nd\r\n",
		},
		{name: "twice", file: "a\nb\na\n", search: "a\n", problem: "more than once"},
		{name: "overlapping itself", file: "a\na\na\n", search: "a\na\n", problem: "more than once"},
		{name: "within a line", file: "ba\nca\n", search: "a\n", problem: "not in the file"},
		{name: "whole lines only", file: "ba\na\n", search: "a\n", replace: "x\n", want: "ba\nx\n"},
		{name: "spaces matter", file: "  a\n", search: "a\n", problem: "not in the file"},
		{name: "missing", file: "a\n", search: "z\n", problem: "not in the file exactly as given: `z`"},
		{name: "nothing to find", file: "a\n", search: "\n", problem: "is empty"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, problem := edit{search: c.search, replace: c.replace}.apply([]byte(c.file))
			if c.problem != "" {
				assert.Contains(t, problem, c.problem)
				return
			}
			assert.Empty(t, problem)
			assert.Equal(t, c.want, string(got))
		})
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
