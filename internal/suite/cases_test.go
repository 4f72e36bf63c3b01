package suite

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/golden"
)

// isFile says which files the skill of the tests has.
func isFile(path string) bool {
	return slices.Contains(strings.Fields("in.csv IN.csv evals/in.csv evals/data/in.csv notes evals/notes/in.csv "+
		"evals/outputs/x outputs-2/x .env evals/.env evals/evals.json EVALS/EVALS.JSON evals/files/in.csv template.md "+
		"evals/trigger-eval.json evals/evaluation.xml"), path)
}

// read shows all that a suite has, or what is wrong with it.
func read(text string) string {
	found, err := ParseEvals("e.json", []byte(text), isFile)
	if err != nil {
		return err.Error()
	}
	var lines []string
	for _, c := range found {
		line := fmt.Sprintf("%s: %q %v", c.ID, c.Expectations, c.Files)
		for _, check := range c.Checks {
			if line += "; " + check.Label() + " " + check.Text; check.Kind == ShellCommand {
				line += check.Timeout.String()
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

const goodEvals = `{
  "skill_name": "notes",
  "evals": [
    {"id": 1, "prompt": "Do it", "expected_output": "", "files": ["evals/files/in.csv"], "expectations": ["a", "b"]},
    {"id": "two", "prompt": "Do it", "assertions": [{"text": "c"}, "d"], "files": ["template.md"],
     "deterministic_checks": [
      {"type": "json_valid", "file": "outputs/a.json"},
      {"type": "json_field_equals", "file": "a.json", "path": "x", "value": null},
      {"type": "json_field_count", "file": "a.json", "path": "$", "op": "gte", "count": 2},
      {"type": "file_contains", "path": "a.txt", "literal": " "},
      {"type": "shell_command", "command": "true", "timeout": 0.5, "name": "it runs"}]}
  ]
}`

// TestSuites has what a suite may be written like, and what is told of one that cannot be read.
func TestSuites(t *testing.T) {
	t.Parallel()
	one := func(more string) string { return `[{"id": 1, "prompt": "p", ` + more + `}]` }
	files := func(list string) string { return one(`"expectations": ["a"], "files": [` + list + `]`) }
	checks := func(list string) string { return one(`"deterministic_checks": [` + list + `]`) }
	wrong, err := os.ReadFile("testdata/wrong.json")
	require.NoError(t, err)
	golden.Table(t, map[string]string{
		"an object":                  goodEvals,
		"a list, with a mark":        "\ufeff" + one(`"expectations": ["x"]`),
		"the same file by two paths": files(`"evals/files/in.csv", "files/in.csv"`),
		"all that is wrong":          string(wrong),
		"a long pattern": checks(
			`{"type": "regex_match", "file": "a", "pattern": "` + strings.Repeat("a", 8193) + `"}`),
		"a name, and no case": `{"skill_name": "notes", "evals": []}`,
		"keys twice": "[{\"id\": 1, \"id\": 2,\n\"prompt\": \"\", \"deterministic_checks\": [{\"type\": \"json_valid\",\n" +
			"\"file\": \"a\", \"file\": \"b\"}]}]",
		"no case":  `{"evals": []}`,
		"not JSON": `{`,
		"a text":   `"x"`,
		"no evals": `{}`,

		"unknown fields everywhere": `{"$schema": "x", "version": 1e999, "evals": [{"id": 1, "prompt": "p", ` +
			`"category": {"a": [null]}, "assertions": [{"text": "a", "type": "llm", "weight": 2}]}]}`,
		"expectations with what they mean": one(`"files": null, "expectations": [{"description": "It is polite", ` +
			`"check": "read the text", "criteria": "no rude word"}, {"description": "It is short", ` +
			`"check": {"max": 80, "of": ["words"]}}]`),
		"labels beside literals": checks(`{"type": "file_contains", "path": "a.txt", "literal": "hello", ` +
			`"text": "It greets"}, {"type": "file_contains", "path": "a.txt", "literal": "bye", "label": "It leaves"}`),
		"both names of a list":  one(`"expectations": ["a"], "assertions": ["b"]`),
		"the same under both":   one(`"expectations": ["a"], "assertions": [" a "]`),
		"checks of another key": one(`"checks": [1], "tags": ["x"], "rubric": "good"`),
		"ids in another case": `[{"id": "Case", "prompt": "p", "expectations": ["a"]}, ` +
			`{"id": "cASE", "prompt": "p", "expectations": ["a"]}]`,
		"a check that is a text":      checks(`"file_exists a"`),
		"files of both places":        files(`"in.csv", "data/in.csv"`),
		"the same in another case":    files(`"in.csv", "IN.csv"`),
		"a file where one has others": files(`"notes", "notes/in.csv"`),
		"a file among the results":    files(`"outputs/x"`),
		"a hidden file":               files(`".env"`),
		"the suite itself":            files(`"evals/./evals.json"`),
		"in other letters":            files(`"EVALS/EVALS.JSON"`),
		"paths of Windows":            files(`"..\\in.csv", "C:/in.csv", "/in.csv", "."`),
		"a short time":                checks(`{"type": "shell_command", "command": "true", "timeout": 1e-12}`),
		"a day":                       checks(`{"type": "shell_command", "command": "true", "timeout_seconds": 86400}`),
		"times out of bounds": checks(`{"type": "shell_command", "command": "a", "timeout": -1}, ` +
			`{"type": "shell_command", "command": "b", "timeout": 86400.5}, {"type": "shell_command", ` +
			`"command": "c", "timeout": 1e999}, {"type": "shell_command", "command": "d", "timeout": "10"}`),
		"two checks alike": checks(
			`{"type": "file_exists", "file": "a"}, {"type": "file_exists", "path": "outputs/a"}`),
		"type under two names": checks(`{"type": "file_exists", "kind": "file_contains", "file": "a", "text": "x"}`),
		"a value and a part of one": checks(
			`{"type": "json_array_contains", "file": "a", "path": "x", "value": 1, "match": {}}`),
		"no value":                checks(`{"type": "json_array_contains", "file": "a", "path": "x"}`),
		"a count with a fraction": checks(`{"type": "json_field_count", "file": "a", "path": "x", "count": 1.0}`),
		"too many cases":          `[` + strings.Repeat(`{},`, 500) + `{}]`,
	}, func(_ *testing.T, text string) any { return read(text) })
	faults := strings.Split(read("["+strings.Repeat(`{"prompt": "p"},`, 400)+"1]"), "\n")
	require.Len(t, faults, 201)
	golden.Row(t, "many faults", faults[200])
}

func TestParseTriggers(t *testing.T) {
	t.Parallel()
	triggers, err := ParseTriggers("t.json",
		[]byte(`[{"query": "a", "should_trigger": true}, {"query": "b", "should_trigger": false}]`))
	require.NoError(t, err)
	require.Len(t, triggers, 2)
	for i, c := range triggers {
		assert.Equal(t, []string{"trigger-1 a", "trigger-2 b"}[i], c.ID+" "+c.Prompt)
		assert.Equal(t, i == 0, *c.Trigger)
	}
	_, err = ParseTriggers("t.json", []byte("[{\"query\": \"a\"},\n{\"query\": \"a\", \"should_trigger\": 1}]"))
	require.Len(t, strings.Split(err.Error(), "\n"), 2)
	_, err = ParseTriggers("t.json", []byte(`[{"query": "a", "query": "b"`))
	require.EqualError(t, err, "t.json:1: ends in the middle of its JSON value", "nothing else is certain")
	_, err = ParseTriggers("t.json", []byte("[]"))
	require.EqualError(t, err, "t.json:1: has no query")
}

func FuzzParseEvals(f *testing.F) {
	f.Add([]byte(goodEvals))
	f.Fuzz(func(t *testing.T, data []byte) {
		parsed, err := ParseEvals("e.json", data, isFile)
		if err == nil {
			for _, c := range parsed {
				require.Positive(t, c.Total())
			}
		}
		_, _ = ParseGrading("grading.json", data)
		_, _ = ParseAnswers("e.xml", data)
		_, _ = ParseTriggers("t.json", data)
	})
}

// TestManyFaultyAnswers: so many faults are told as in any other file.
func TestManyFaultyAnswers(t *testing.T) {
	t.Parallel()
	_, err := ParseAnswers("x", []byte("<evaluation>"+strings.Repeat("<qa_pair/>", 150)+"</evaluation>"))
	lines := strings.Split(err.Error(), "\n")
	assert.Equal(t, "x: has more than 200 faults; correct these first", lines[len(lines)-1])
}

// TestAnswers has what a question and its answer may be written like, and what is wrong with others.
func TestAnswers(t *testing.T) {
	t.Parallel()
	pair := func(text string) string { return "<evaluation><qa_pair>" + text + "</qa_pair></evaluation>" }
	encoded := func(name, answer string) string {
		return `<?xml version="1.0"` + name + `?>` + pair("<question>q</question><answer>"+answer+"</answer>")
	}
	const latin = ` encoding="ISO-8859-1"`
	golden.Table(t, map[string]string{
		"plain":            pair("<question>q</question><answer>a</answer>") + "=> q=a",
		"lines and blanks": pair("\n <question>\n q \n</question>\n<answer>\ta\n</answer>\n") + "=> q=a",
		"markup as data": pair("<question><![CDATA[a < b & c]]></question><answer>&lt;b&gt; &#65;</answer>") +
			"=> a < b & c=<b> A",
		"comments":   pair("<question>q<!-- what? -->r</question><!-- x --><answer>a</answer>") + "=> qr=a",
		"attributes": pair(`<question id="1" lang="en">q</question><answer exact="yes">a</answer>`) + "=> q=a",
		"a namespace": `<e:evaluation xmlns:e="x"><e:qa_pair><e:question>q</e:question><e:answer>a</e:answer>` +
			"</e:qa_pair></e:evaluation> => q=a",
		"an instruction":      `<?style x?>` + pair("<question>q</question><answer>a</answer>") + "=> q=a",
		"an empty answer":     pair("<question>q</question><answer/>") + "=> q=",
		"UTF-8":               encoded(` encoding="utf-8"`, "Zoë") + "=> q=Zoë",
		"UTF-8 with a BOM":    "\ufeff" + encoded("", "Zoë") + "=> q=Zoë",
		"declared, but UTF-8": encoded(latin, "Zoë") + "=> q=Zoë",
		"Latin 1":             encoded(latin, "Zo\xeb"),
		"UTF-16":              "\xff\xfe<\x00e\x00",
		"a question twice":    pair("<question>q</question><question>r</question><answer>a</answer>"),
		"a pair in a pair":    pair("<qa_pair><question>q</question></qa_pair>"),
		"too many questions": "<evaluation>" + strings.Repeat(
			"<qa_pair><question>q</question><answer>a</answer></qa_pair>",
			501,
		) + "</evaluation>",
		"no answer":          pair("\n<question>q</question>\n\n"),
		"the line of a pair": "<evaluation>\n<qa_pair><question>q</question></qa_pair></evaluation>",
		"nothing":            "",
		"markup in it":       pair("<question>q <b>r</b></question><answer>a</answer>"),
		"another root":       "<evaluations><qa_pair><question>q</question><answer>a</answer></qa_pair></evaluations>",
		"something behind":   pair("<question>q</question><answer>a</answer>") + "<evaluation/>",
		"an answer alone":    "<evaluation><answer>a</answer></evaluation>",
		"never closed":       "<evaluation><qa_pair><question>q</question>",
		"an entity": `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>` +
			pair("<question>&e;</question><answer>a</answer>"),
		"too large": pair("<question>" + strings.Repeat("q", 4<<20) + "</question><answer>a</answer>"),
	}, func(t *testing.T, text string) any {
		t.Helper()
		found, err := ParseAnswers("x", []byte(text))
		if err != nil {
			return err
		}
		require.Len(t, found, 1)
		question, _, _ := strings.Cut(found[0].Prompt, "\n\nWrite the answer")
		return question + "=" + found[0].Checks[0].Text
	})
}
