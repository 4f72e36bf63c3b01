package evals

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/golden"
)

func anyFile(path string) bool { return path == "evals/files/in.csv" || path == "template.md" }

const goodEvals = `{
  "skill_name": "notes",
  "evals": [
    {"id": 1, "prompt": "Do it", "expected_output": "", "files": ["evals/files/in.csv", "files/in.csv"],
"expectations": ["a", "b"]},
    {"id": "two", "prompt": "Do it", "assertions": [{"text": "c"}, "d"], "files": ["template.md"],
     "deterministic_checks": [
      {"type": "json_valid", "file": "outputs/a.json"},
      {"type": "json_field_equals", "file": "a.json", "path": "x", "value": null},
      {"type": "json_field_count", "file": "a.json", "path": "$", "op": "gte", "count": 2},
      {"type": "file_contains", "path": "a.txt", "literal": " "},
      {"type": "shell_command", "command": "true", "timeout": 0.5, "name": "it runs"}]}
  ]
}`

func TestParseEvals(t *testing.T) {
	t.Parallel()
	data := strings.Replace(goodEvals, `, "files/in.csv"`, "", 1)
	parsed, problems := Parse("evals.json", []byte(data), anyFile)
	require.Empty(t, problems)
	require.Len(t, parsed.Cases, 2)
	assert.Equal(t, "notes", parsed.SkillName)
	first, second := parsed.Cases[0], parsed.Cases[1]
	assert.Equal(t, []StagedFile{{From: "evals/files/in.csv", To: "files/in.csv"}}, first.Files)
	assert.Equal(t, []string{"c", "d"}, second.Expectations)
	assert.Equal(t, 7, second.Total())
	labels := []string{}
	for _, check := range second.Checks {
		labels = append(labels, check.Label())
	}
	assert.Equal(t, []string{
		"json_valid a.json", "json_field_equals a.json $.x null",
		"json_field_count a.json $ gte 2", `file_contains a.txt " "`, "it runs",
	}, labels)

	list, problems := Parse("evals.json", []byte(`[{"id": 1, "prompt": "p", "expectations": ["x"]}]`), anyFile)
	require.Empty(t, problems)
	assert.Len(t, list.Cases, 1)
}

func TestParseEvalsSaysAllThatIsWrong(t *testing.T) {
	t.Parallel()
	_, problems := Parse("e.json", []byte(goodEvals), anyFile)
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0].String(), `evals[0].files[1]: "files/in.csv" is`)

	bad := `[
{"id": "../x", "prompt": " ", "expectations": ["a", "a", 3, ""], "files": ["../../etc/passwd", "gone.csv"]},
{"id": 1, "prompt": "p", "deterministic_checks": [
 {"type": "nope"},
 {"type": "file_contains", "file": "a", "text": ""},
 {"type": "file_exists", "file": "../a"},
 {"type": "json_field_exists", "file": "a.json", "path": ""},
 {"type": "json_field_exists", "file": "a.json", "path": "a..b"},
 {"type": "json_field_count", "file": "a.json", "path": "a", "value": -1, "operator": "like"},
 {"type": "regex_match", "file": "a", "pattern": "("},
 {"type": "shell_command", "command": "  ", "timeout": 0},
 {"type": "json_valid", "file": "a", "pattern": "x"},
 {"type": "file_exists", "file": "a", "path": "b"},
 {"type": "file_exists", "file": "outputs"},
 {"type": "file_exists", "file": "./"},
 {"type": "file_exists", "file": "/etc/passwd"},
 {"type": "file_exists", "file": "outputs/../../a"},
 {"type": "regex_match", "file": "a", "pattern": ""},
 {"type": "regex_match", "file": "a", "pattern": "` + strings.Repeat("a", 8193) + `"},
 {"type": "json_field_matches", "file": "a", "path": "a", "pattern": "[a-"},
 {"type": "shell_command", "command": "true", "timeout": 1e9},
 {"type": "json_field_exists", "file": "a", "path": "a[-1]"}
]},
{"id": 1, "prompt": "p", "expectations": ["x"]},
{"id": 3, "prompt": "p"},
{"id": 4, "prompt": "p", "expectations": [], "deterministic_checks": []},
{"id": 5, "prompt": "p", "assertions": [{"name": "x"}, {"text": 1}], "files": ["evals.json",
	"evals/trigger-eval.json", "x/../evals/evaluation.xml"]}]`
	suites := func(path string) bool {
		return anyFile(path) || strings.HasPrefix(path, "evals/e") || strings.HasPrefix(path, "evals/t")
	}
	_, problems = Parse("e.json", []byte(bad), suites)
	var lines []string
	for _, problem := range problems {
		lines = append(lines, problem.String())
	}
	text := strings.Join(lines, "\n")
	for _, want := range []string{
		"e.json:2: [0].id:", "[0].prompt: is empty", "[0].expectations[1]: \"a\" is there twice",
		"[0].expectations[2]: must be a text", "[0].expectations[3]: is empty",
		"[0].files[0]: \"../../etc/passwd\" leads out", "[0].files[1]: there is no file",
		"[1].deterministic_checks[0].type: must", "[1].deterministic_checks[1].text: is empty",
		`checks[2].file: "../a" is no path below`, "checks[3].path: is empty",
		"checks[4].path: cannot be read at",
		"checks[5].value: must be a whole number", `checks[5].operator: "like" is not one`,
		"checks[6].pattern: is no regular expression",
		"checks[7].command: is empty", "checks[7].timeout: is 0; give seconds",
		"checks[8].pattern: is no key that is", "checks[9].path: is another name of",
		`checks[10].file: "outputs" is no path`, "checks[11].file: \"./\" is no path below",
		`checks[12].file: "/etc/passwd" is no`,
		`checks[13].file: "outputs/../../a" is`, "checks[14].pattern: is empty",
		"checks[15].pattern: has more than 8192",
		"checks[16].pattern: is no regular expression", "checks[17].timeout: is 1e9; give seconds",
		"checks[18].path: cannot be read at", "[2].id: \"1\" is there twice",
		"e.json:25: [3]: has nothing to check", "e.json:26: [4]: has nothing to check",
		"[5].assertions[0]: has no `text`", "[5].assertions[1].text: must be a text",
		`[5].files[0]: "evals.json" is what the`, `[5].files[1]: "evals/trigger-eval.json" is what`,
		`[5].files[2]: "x/../evals/evaluation.xml" is what`,
	} {
		assert.Contains(t, text, want)
	}
	assert.NotContains(t, text, "[0]: has nothing to check", "what cannot be read is there all the same")
	_, problems = Parse("e.json", []byte(`{"skill_name": 3, "evals": []}`), anyFile)
	require.Len(t, problems, 2, "%v", problems)
	_, problems = Parse("e.json", []byte(
		"[{\"id\": 1, \"id\": 2,\n\"prompt\": \"\", \"deterministic_checks\": [{\"type\": \"json_valid\",\n"+
			"\"file\": \"a\", \"file\": \"b\"}]}]"), anyFile)
	require.Len(t, problems, 3, "a key that is there twice hides nothing")
	golden.Row(t, "e.json:1: [0].id: is there", problems[0].String())
	golden.Row(t, "e.json:3: [0].deterministic_checks[0].file: is there", problems[1].String())
	_, problems = Parse("e.json", []byte("["+strings.Repeat(`{"prompt": "p"},`, 400)+"1]"), anyFile)
	require.Len(t, problems, 201)
	golden.Row(t, "e.json: has more than", problems[200].String())

	for name, data := range map[string]string{
		"nothing to check": `[{"id": 1, "prompt": "p"}]`, "no case": `{"evals": []}`, "not JSON": `{`, "a text": `"x"`,
		"no evals": `{}`,
	} {
		_, problems := Parse("e.json", []byte(data), anyFile)
		assert.NotEmpty(t, problems, name)
	}
}

func TestParseTriggers(t *testing.T) {
	t.Parallel()
	triggers, problems := ParseTriggers("t.json",
		[]byte(`[{"query": "a", "should_trigger": true}, {"query": "b", "should_trigger": false}]`))
	require.Empty(t, problems)
	assert.Equal(t, []Trigger{{"a", true}, {"b", false}}, triggers)
	_, problems = ParseTriggers("t.json", []byte("[{\"query\": \"a\"},\n{\"query\": \"a\", \"should_trigger\": 1}]"))
	require.Len(t, problems, 3)
	_, problems = ParseTriggers("t.json", []byte("[]"))
	require.Len(t, problems, 1)
	assert.Equal(t, "t.json:1: has no query", problems[0].String())
}

func TestJSONPath(t *testing.T) {
	t.Parallel()
	value, err := decodeJSON([]byte(`{"a": {"b.c": [1, {"d": null}]}, "x'y\"z": 2, "": 3}`))
	require.NoError(t, err)
	for path, want := range map[string]string{
		`a["b.c"][0]`: "1", `a['b.c'][1].d`: "null", `$.a."b.c"[0]`: "1", `["x'y\"z"]`: "2", `[""]`: "3",
	} {
		parsed, err := ParseJSONPath(path)
		require.NoError(t, err, path)
		found, ok := parsed.Find(value)
		require.True(t, ok, path)
		assert.Equal(t, want, jsonText(found), path)
		again, err := ParseJSONPath(parsed.String())
		require.NoError(t, err, parsed.String())
		assert.Equal(t, parsed, again)
	}
	for _, path := range []string{"a.b", "a[0]", `a["b.c"][2]`, "b", ".b", `a["b.c"][1].e`, "[0]", `a["b.c"][1].d.e`} {
		parsed, err := ParseJSONPath(path)
		require.NoError(t, err, path)
		_, ok := parsed.Find(value)
		assert.False(t, ok, path)
	}
	for _, path := range []string{
		"", " ", "..", ".a.", "a.", "a..b", "a[", "a[]", "a[-1]", "a[+1]", "a[x]", "a]",
		`a["b`, `a["b"`, `a["b"c`, `"a"b`, "$a", "a[0]b", "a[99999999999999999999]", `a["\`,
	} {
		_, err := ParseJSONPath(path)
		assert.Error(t, err, path)
	}
}

func FuzzParseJSONPath(f *testing.F) {
	f.Add(`a["b.c"][0].d`)
	f.Fuzz(func(t *testing.T, text string) {
		path, err := ParseJSONPath(text)
		if err != nil {
			return
		}
		again, err := ParseJSONPath(path.String())
		require.NoError(t, err)
		require.Equal(t, path, again)
	})
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	const doc = `{"n": 1.0, "t": "ab", "z": null, "list": [1, "x", {"k": [2]}], "o": {"p": 1, "q": 2}}`
	for _, c := range []struct {
		check, data string
		passes      bool
	}{
		{`{"type": "json_valid", "file": "f"}`, doc, true},
		{`{"type": "json_valid", "file": "f"}`, doc + "{}", false},
		{`{"type": "json_valid", "file": "f"}`, "", false},
		{`{"type": "json_field_equals", "file": "f", "path": "n", "value": 1}`, doc, true},
		{`{"type": "json_field_equals", "file": "f", "path": "n", "value": "1"}`, doc, false},
		{`{"type": "json_field_equals", "file": "f", "path": "z", "value": null}`, doc, true},
		{`{"type": "json_field_equals", "file": "f", "path": "gone", "value": null}`, doc, false},
		{`{"type": "json_field_equals", "file": "f", "path": "list[2]", "value": {"k": [2.0]}}`, doc, true},
		{`{"type": "json_field_exists", "file": "f", "path": "z"}`, doc, false},
		{`{"type": "json_field_exists", "file": "f", "path": "gone"}`, doc, false},
		{`{"type": "json_field_absent", "file": "f", "path": "z"}`, doc, true},
		{`{"type": "json_field_absent", "file": "f", "path": "gone"}`, doc, true},
		{`{"type": "json_field_absent", "file": "f", "path": "gone"}`, "no JSON", false},
		{`{"type": "json_field_matches", "file": "f", "path": "t", "pattern": "^a"}`, doc, true},
		{`{"type": "json_field_matches", "file": "f", "path": "z", "pattern": ".*"}`, doc, false},
		{`{"type": "json_field_count", "file": "f", "path": "list", "value": 3}`, doc, true},
		{`{"type": "json_field_count", "file": "f", "path": "o", "operator": "lt", "value": 2}`, doc, false},
		{`{"type": "json_field_count", "file": "f", "path": "t", "operator": "gte", "value": 0}`, doc, false},
		{`{"type": "json_array_contains", "file": "f", "path": "list", "value": "x"}`, doc, true},
		{`{"type": "json_array_contains", "file": "f", "path": "$", "value": 2}`, "[1, 2e0]", true},
		{`{"type": "json_array_contains", "file": "f", "path": "$", "match": {"a": 1}}`, `[1, "a", [{"a": 1}]]`, false},
		{`{"type": "json_array_contains", "file": "f", "path": "t", "value": "a"}`, doc, false},
		{`{"type": "file_contains", "file": "f", "text": "ab"}`, "cabd", true},
		{`{"type": "file_not_contains", "file": "f", "text": "ab"}`, "cabd", false},
		{`{"type": "regex_match", "file": "f", "pattern": "(?m)^b$"}`, "a\nb\n", true},
		{`{"type": "regex_match", "file": "f", "pattern": "^b$"}`, "a\nb\n", false},
	} {
		parsed, problems := Parse("e", []byte(`[{"id":1,"prompt":"p","deterministic_checks":[`+c.check+`]}]`), anyFile)
		require.Empty(t, problems, c.check)
		passed, evidence := parsed.Cases[0].Checks[0].Verdict(Output{Exists: true, Data: []byte(c.data)})
		assert.Equal(t, c.passes, passed, "%s: %s", c.check, evidence)
		assert.NotEmpty(t, evidence)
		passed, _ = parsed.Cases[0].Checks[0].Verdict(Output{})
		assert.False(t, passed, "%s passes without its file", c.check)
	}
	for op, want := range map[string][3]bool{
		"eq": {false, true, false}, "ne": {true, false, true}, "gt": {false, false, true}, "gte": {false, true, true},
		"lt": {true, false, false}, "lte": {true, true, false},
	} {
		for i, holds := range want {
			assert.Equal(t, holds, Check{Kind: JSONFieldCount, Operator: op, Count: 2}.holds(make([]any, i+1)),
				"%d %s 2", i+1, op)
		}
	}
	answer := Check{Kind: exactAnswer, File: "f", Text: "Yes"}
	for name, c := range map[string]struct {
		check  Check
		out    Output
		passes bool
	}{
		"not there":             {Check{Kind: OutputNotExists}, Output{}, true},
		"there all the same":    {Check{Kind: OutputNotExists}, Output{Exists: true}, false},
		"no directory any more": {Check{Kind: OutputNotExists}, Output{Problem: "it is no directory"}, false},
		"nothing to look into":  {Check{Kind: OutputExists}, Output{Problem: "it is no directory"}, false},
		"there, unreadable":     {Check{Kind: OutputExists}, Output{Exists: true, Problem: "a link"}, true},
		"unreadable": {
			Check{Kind: OutputNotContains, Text: "x"}, Output{Exists: true, Problem: "a link"}, false,
		},
		"the answer":     {answer, Output{Exists: true, Data: []byte("\ufeff yES\n")}, true},
		"another answer": {answer, Output{Exists: true, Data: []byte("yes, it is")}, false},
		"no answer":      {answer, Output{Exists: true, Data: []byte(" \n")}, false},
	} {
		passed, evidence := c.check.Verdict(c.out)
		assert.Equal(t, c.passes, passed, "%s: %s", name, evidence)
		assert.NotContains(t, evidence, "Yes", "the answer is not told")
	}
}

func FuzzParseEvals(f *testing.F) {
	f.Add([]byte(goodEvals))
	f.Fuzz(func(t *testing.T, data []byte) {
		parsed, problems := Parse("e.json", data, anyFile)
		if len(problems) == 0 {
			for _, c := range parsed.Cases {
				require.Positive(t, c.Total())
			}
		}
		_, _ = ParseGrading(data)
		_, _ = ParseAnswers("e.xml", data)
		_, _ = ParseTriggers("t.json", data)
		require.NotPanics(t, func() { _ = fmt.Sprint(problems) })
	})
}

// TestPatternsThatWouldTakeForever would take minutes without a bound.
func TestPatternsThatWouldTakeForever(t *testing.T) {
	t.Parallel()
	text := `"` + strings.Repeat("a", 4<<20) + `"`
	for _, c := range []string{
		`{"type": "regex_match", "file": "f", "pattern": "[ab]{1000}c"}`,
		`{"type": "regex_match", "file": "f", "pattern": "(?:a*){400}b"}`,
		`{"type": "json_field_matches", "file": "f", "path": "$", "pattern": "[ab]{1000}c"}`,
	} {
		parsed, problems := Parse("e", []byte(`[{"id":1,"prompt":"p","deterministic_checks":[`+c+`]}]`), anyFile)
		require.Empty(t, problems, c)
		passed, evidence := parsed.Cases[0].Checks[0].Verdict(Output{Exists: true, Data: []byte(text)})
		assert.False(t, passed)
		assert.Contains(t, evidence, "too many for a pattern of")
	}
	parsed, problems := Parse("e",
		[]byte(`[{"id":1,"prompt":"p","deterministic_checks":[{"type": "regex_match", "file": "f", "pattern": `+
			`"a{20}\\\"$"}]}]`), anyFile)
	require.Empty(t, problems)
	passed, evidence := parsed.Cases[0].Checks[0].Verdict(Output{Exists: true, Data: []byte(text[3<<20:])})
	assert.True(t, passed, "a large file alone is no fault: %s", evidence)
}
