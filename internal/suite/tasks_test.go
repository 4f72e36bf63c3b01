package suite_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/tests/golden"
)

// isDir is a suite of a task whose directory has only `fixture` in it, beside `elsewhere`.
func isDir(path string) bool { return path == "." || path == "a/fixture" || path == "elsewhere" }

func parse(text string) ([]suite.Task, error) {
	return suite.ParseTasks(map[string][]byte{"a/task.json": []byte(text)}, isDir)
}

// with is a task in which a key has another value, or more of them.
func with(key, value string) string {
	text := ""
	for _, pair := range []string{"id", "title", "fixtureDir", "prompt", key} {
		given := map[string]string{"id": `"a"`, "title": `"A"`, "fixtureDir": `"fixture"`, "prompt": `"p"`, key: value}[pair]
		if !strings.Contains(text, `"`+pair+`":`) && pair != "" {
			text += fmt.Sprintf(", %q: %s", pair, given)
		}
	}
	return "{" + text[2:] + "}"
}

func TestParse(t *testing.T) {
	t.Parallel()
	found, err := parse(`{
  "id": "add-flag", "title": "Add a flag", "agent": "claude", "fixtureDir": "./fixture", "prompt": "Add --verbose.",
  "checks": [
    {"kind": "command", "cmd": "make lint"},
    {"kind": "command", "cmd": "grep -q x y", "expectExitZero": false},
    {"kind": "testSuite", "cmd": "make test"},
    {"kind": "fileExists", "path": "src/../main.go"},
    {"kind": "fileContains", "path": "main.go", "substring": "verbose"},
    {"kind": "fileNotContains", "path": "main.go", "substring": "TODO"},
    {"kind": "regexMatch", "path": "main.go", "pattern": "(?m)^func main"},
    {"kind": "diffContains", "substring": "+"}
  ],
  "judgeRubric": {"criteria": "Is it clear?", "weight": 0.2},
  "timeoutMs": 30000
}`)
	require.NoError(t, err)
	rubric := *found[0].Rubric
	found[0].Rubric = nil
	golden.Row(t, "task", fmt.Sprintf("%+v %+v", found[0], rubric))
	assert.True(t, found[0].Checks[6].Pattern.MatchString("package main\nfunc main() {}"))
	found, err = parse(with("fixtureDir", `"../elsewhere"`))
	require.NoError(t, err)
	assert.Equal(t, "elsewhere", found[0].Fixture)
	assert.Equal(t, suite.DefaultTimeout, found[0].Timeout)
	assert.Nil(t, found[0].Rubric)
	found, err = parse(with("timeoutMs", "86400000"))
	require.NoError(t, err)
	assert.Equal(t, 24*time.Hour, found[0].Timeout)
}

// TestTasks has the last value that is taken, and, with what is said of it in testdata, the
// first that is not.
func TestTasks(t *testing.T) {
	t.Parallel()
	check := func(text string) string { return with("checks", "[{"+text+"}]") }
	golden.Table(t, map[string]string{
		"cut":                      "{\n\"id\": \"a\",",
		"a key twice":              strings.Replace(with("", ""), "}", ",\n\"id\": \"b\"}", 1),
		"an unknown key":           with("fixture", `"x"`),
		"an id with a path":        with("id", `"../a"`),
		"an id with a colour":      with("id", `"\u001b[31m"`),
		"all that an id may have":  with("id", `"a.B_c-9"`) + "=>",
		"an agent with a slash":    with("agent", `"a/b"`),
		"no such fixture":          with("fixtureDir", `"fixtures"`),
		"a drive":                  with("fixtureDir", `"C:/fixture"`),
		"a backslash":              with("fixtureDir", `"..\\fixture"`),
		"the whole suite":          with("fixtureDir", `".."`) + "=>",
		"the task's own directory": with("fixtureDir", `"."`),
		"above the suite":          with("fixtureDir", `"../.."`),
		"out and in again":         with("fixtureDir", `"../../a/fixture"`),
		"a zero byte":              with("fixtureDir", `"fix\u0000ture"`),
		"a check of no kind":       check(`"cmd": "x"`),
		"a kind in other letters":  check(`"kind": "Command", "cmd": "x"`),
		"a check outside":          check(`"kind": "fileExists", "path": "x/../../y"`),
		"a check of everything":    check(`"kind": "fileExists", "path": "."`),
		"many checks":              with("checks", `[`+strings.Repeat(`{"kind": "x"},`, 500)+`{"kind": "x"}]`),
		"a time as text":           with("timeoutMs", `"5s"`),
		"a time without end":       with("timeoutMs", "1e300"),
		"one millisecond":          with("timeoutMs", "1") + "=>",
		"a part of a millisecond":  with("timeoutMs", "0.5") + "=>",
		"no time":                  with("timeoutMs", "0"),
		"a day":                    with("timeoutMs", "86400000") + "=>",
		"a millisecond more":       with("timeoutMs", "86400001"),
		"a weight of all":          with("judgeRubric", `{"criteria": "c", "weight": 1.0}`) + "=>",
		"a weight below nothing":   with("judgeRubric", `{"criteria": "c", "weight": -1e-30}`),
		"a hair more than all":     with("judgeRubric", `{"criteria": "c", "weight": 1.00000000000000000000001}`),
		"a larger file":            with("prompt2", `"`+strings.Repeat("x", 2<<20)+`"`),
	}, func(t *testing.T, text string) any {
		t.Helper()
		_, err := parse(text)
		if err == nil {
			return ""
		}
		assert.NotContains(t, err.Error(), "\x1b")
		return err
	})
}

// TestKeysOfChecks gives every kind of check every key: those that it needs may not
// be missing, and no other may be there.
func TestKeysOfChecks(t *testing.T) {
	t.Parallel()
	values := map[string]string{
		"cmd": `"make"`, "path": `"a"`, "substring": `"x"`, "pattern": `"x"`, "expectExitZero": "true",
	}
	check := func(kind suite.CheckKind, keys string) string {
		text := fmt.Sprintf(`"kind": %q`, kind)
		for key := range strings.FieldsSeq(keys) {
			text += fmt.Sprintf(", %q: %s", key, values[key])
		}
		if _, err := parse(with("checks", "[{"+text+"}]")); err != nil {
			return err.Error()
		}
		return ""
	}
	for kind, needs := range map[suite.CheckKind]string{
		suite.CommandCheck: "cmd", suite.TestSuiteCheck: "cmd", suite.FileExists: "path",
		suite.FileContains: "path substring", suite.FileNotContains: "path substring",
		suite.RegexMatch: "path pattern", suite.DiffContains: "substring",
	} {
		assert.Empty(t, check(kind, needs), kind)
		for key := range strings.FieldsSeq(needs) {
			assert.Equal(
				t,
				"a/task.json:1: checks[0]."+key+": is missing",
				check(kind, strings.Replace(needs, key, "", 1)),
			)
		}
		for key := range values {
			says := "checks[0]." + key + ": is no key that is known here"
			switch {
			case strings.Contains(needs, key):
				says = "checks[0]." + key + ": is there twice"
			case key == "expectExitZero" && kind == suite.CommandCheck:
				says = ""
			}
			said := check(kind, needs+" "+key)
			assert.Contains(t, said, says, kind)
			assert.Equal(t, says == "", said == "", kind)
			assert.NotContains(t, said, "\n", "one problem")
		}
	}
}

// TestSuitesOfTasks: as many as there may be, and no id twice, in whatever letters.
func TestSuitesOfTasks(t *testing.T) {
	t.Parallel()
	many := map[string][]byte{}
	for i := range 1001 {
		many[fmt.Sprintf("%d/task.json", i)] = nil
	}
	_, err := suite.ParseTasks(many, isDir)
	require.ErrorContains(t, err, "999/task.json: is one task too many")
	found, err := suite.ParseTasks(nil, isDir)
	assert.Empty(t, found)
	require.NoError(t, err)
	_, err = suite.ParseTasks(map[string][]byte{
		"b/task.json": []byte(with("id", `"A"`)), "a/task.json": []byte(with("", "")),
	}, func(string) bool { return true })
	require.ErrorContains(t, err, `b/task.json:1: id: "A" is the id of`)
}

func FuzzParse(f *testing.F) {
	f.Add(with("", ""))
	f.Add(with("checks", `[{"kind": "regexMatch", "path": "x", "pattern": "("}]`))
	f.Add("{\"id\": NaN")
	f.Fuzz(func(t *testing.T, text string) {
		found, err := parse(text)
		if err == nil {
			assert.Len(t, found, 1)
			return
		}
		for line := range strings.Lines(err.Error()) {
			assert.Regexp(t, "^a/task.json: |^a/task.json:[0-9]+: ", line)
		}
	})
}

// TestWhichDirectoryIsAskedFor: a clean path from the suite's root, whatever the task file
// says, and only one that is in the suite.
func TestWhichDirectoryIsAskedFor(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{ // the task file, and its fixtureDir
		"beside it":       "a/b/task.json fixture => a/b/fixture",
		"odd":             "a/task.json ./fixture/ => a/fixture",
		"upwards":         "a/task.json ../common => common",
		"in and out":      "task.json x/../y => y",
		"its own":         "a/task.json . => a",
		"all":             "a/task.json .. => .",
		"odder":           "task.json a/./b//c => a/b/c",
		"further upwards": "a/task.json ../.. => -",
		"and in again":    "a/task.json ../../a => -",
		"the root":        "a/task.json /a => -",
	}, func(t *testing.T, input string) any {
		t.Helper()
		asked, words := "-", strings.Fields(input)
		found, err := suite.ParseTasks(
			map[string][]byte{words[0]: []byte(with("fixtureDir", `"`+words[1]+`"`))},
			func(path string) bool { asked = path; return true },
		)
		if asked == "-" {
			require.ErrorContains(t, err, "leads out of the suite")
			return asked
		}
		require.NoError(t, err)
		assert.Equal(t, asked, found[0].Fixture)
		return asked
	})
}
