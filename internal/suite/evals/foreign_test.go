package evals

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFilesOfOthers has what other programs write into an evals.json.
func TestFilesOfOthers(t *testing.T) {
	t.Parallel()
	const text = "\ufeff" + `{"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "files": null,
		"expectations": [{"description": "It is polite", "check": "read the text", "criteria": "no rude word"},
			{"description": "It is short", "check": {"max": 80, "of": ["words"]}}],
		"deterministic_checks": [
			{"type": "json_field_equals", "file": "a.json", "path": ".a.b", "value": 1},
			{"type": "json_field_exists", "file": "a.json", "path": "."},
			{"type": "json_array_contains", "file": "a.json", "path": ".list", "match": {"id": 2, "in": {"x": true}}},
			{"type": "file_contains", "path": "a.txt", "literal": "hello", "text": "It greets"},
			{"type": "file_contains", "path": "a.txt", "literal": "bye", "label": "It leaves"},
			{"type": "json_field_exists", "file": "a.json", "path": "a.b"},
			{"type": "json_field_absent", "file": "a.json", "path": "a.b"}]}]}`
	suite, problems := Parse("e.json", []byte(text), anyFile)
	require.NoError(t, problems.Err())
	c := suite.Cases[0]
	assert.Equal(t, []string{
		"It is polite (criteria: no rude word) (check: read the text)",
		`It is short (check: {"max":80,"of":["words"]})`,
	}, c.Expectations)
	assert.Equal(t, []string{"It greets", "It leaves"}, []string{c.Checks[3].Label(), c.Checks[4].Label()})
	assert.Equal(t, []string{"hello", "bye"}, []string{c.Checks[3].Text, c.Checks[4].Text})

	for name, test := range map[string]struct {
		check  int
		data   string
		passed bool
		says   string
	}{
		"a leading dot":      {0, `{"a": {"b": 1}}`, true, ".a.b is 1"},
		"the root":           {1, `{}`, true, ". is {}"},
		"a part of an entry": {2, `{"list": [{"id": 1}, {"id": 2, "in": {"x": true, "y": 1}, "z": 0}]}`, true, ""},
		"not that part":      {2, `{"list": [{"id": 2, "in": {"x": false}}, {"id": 3, "in": {"x": true}}]}`, false, ""},
		"null, exists":       {5, `{"a": {"b": null}}`, false, "a.b is null"},
		"null, absent":       {6, `{"a": {"b": null}}`, true, "a.b is null"},
		"false, exists":      {5, `{"a": {"b": false}}`, true, "a.b is false"},
		"false, absent":      {6, `{"a": {"b": false}}`, false, "a.b is there: false"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passed, evidence := c.Checks[test.check].Verdict(Output{Exists: true, Data: []byte(test.data)})
			assert.Equal(t, test.passed, passed, evidence)
			assert.Contains(t, evidence, test.says, "what is shown is what the file says")
		})
	}
	_, problems = Parse("e.json", []byte(
		`[{"id": 1, "prompt": "p", "deterministic_checks": [{"type": "json_array_contains", "file": "a", "path": `+
			`"x"}]}]`), anyFile)
	require.ErrorContains(t, problems.Err(), "or `match` is needed")

	grading, err := ParseGrading([]byte("\ufeff" + `{"expectations": [{"text": "a", "passed": true}]}`))
	require.NoError(t, err)
	assert.Equal(t, 1, grading.Passed())
}

// TestAnswersInOtherEncodings reads what editors and other programs write.
func TestAnswersInOtherEncodings(t *testing.T) {
	t.Parallel()
	document := func(declared, answer string) []byte {
		return []byte(`<?xml version="1.0"` + declared + `?><evaluation><qa_pair><question>Who?</question><answer>` +
			answer + `</answer></qa_pair></evaluation>`)
	}
	for name, c := range map[string]struct {
		data []byte
		want string // the answer, or with a colon what is wrong
	}{
		"UTF-8":               {document(` encoding="utf-8"`, "Zoë"), "Zoë"},
		"UTF-8 with a BOM":    {append([]byte("\ufeff"), document("", "Zoë")...), "Zoë"},
		"Latin 1":             {document(` encoding="ISO-8859-1"`, "Zo\xeb"), ": is not UTF-8; save it so"},
		"declared, but UTF-8": {document(` encoding="ISO-8859-1"`, "Zoë"), "Zoë"},
		"UTF-16":              {[]byte("\xff\xfe<\x00e\x00"), ": is not UTF-8; save it so"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, problems := ParseAnswers("e.xml", c.data)
			if wrong, is := strings.CutPrefix(c.want, ":"); is {
				require.ErrorContains(t, problems.Err(), "e.xml:1:"+wrong)
				return
			}
			require.NoError(t, problems.Err())
			assert.Equal(t, []Answer{{Question: "Who?", Answer: c.want}}, found)
		})
	}
}
