package format_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/suite/format"
)

// dirs is a suite whose tasks all have a directory `fixture`.
func dirs(path string) bool {
	return path == "." || path == "fixture" || strings.HasSuffix(path, "/fixture") || path == "elsewhere"
}

func parseOne(t *testing.T, text string) (format.Task, []string) {
	t.Helper()
	tasks, problems := format.Parse([]format.File{{Path: "a/task.json", Data: []byte(text)}}, dirs)
	var lines []string
	for _, problem := range problems {
		lines = append(lines, problem.String())
	}
	if len(tasks) == 1 {
		return tasks[0], lines
	}
	require.NotEmpty(t, lines, "no task and no problem")
	return format.Task{}, lines
}

func TestParse(t *testing.T) {
	t.Parallel()
	task, problems := parseOne(t, `{
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
	require.Empty(t, problems)
	assert.Equal(t, "add-flag", task.ID)
	assert.Equal(t, "a/fixture", task.Fixture)
	assert.Equal(t, "a/task.json", task.File)
	assert.Equal(t, 30*time.Second, task.Timeout)
	assert.Equal(t, "0.2", task.Rubric.Weight.String())
	require.Len(t, task.Checks, 8)
	assert.True(t, task.Checks[0].ExpectExitZero)
	assert.False(t, task.Checks[1].ExpectExitZero)
	assert.Equal(t, "main.go", task.Checks[3].Path, "paths are clean")
	assert.True(t, task.Checks[6].Pattern.MatchString("package main\nfunc main() {}"))

	task, problems = parseOne(t, `{"id": "a", "title": "A", "fixtureDir": "../elsewhere", "prompt": "p"}`)
	require.Empty(t, problems)
	assert.Equal(t, "elsewhere", task.Fixture)
	assert.Equal(t, format.DefaultTimeout, task.Timeout)
	assert.Nil(t, task.Rubric)
}

const valid = `{"id": "a", "title": "A", "fixtureDir": "fixture", "prompt": "p"`

func TestParseProblems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, says string }{
		"cut":         {"{\n\"id\": \"a\",", "a/task.json:2: ends in the middle"},
		"a key twice": {valid + ",\n\"id\": \"b\"}", "a/task.json:2: id: is there twice"},
		"an unknown key": {
			valid + ",\n\"fixture\": \"x\"}",
			"a/task.json:2: fixture: is no key that",
		},
		"an id with a path":   {strings.Replace(valid, `"a"`, `"../a"`, 1) + "}", "is no name"},
		"an id with a colour": {strings.Replace(valid, `"a"`, `"\u001b[31m"`, 1) + "}", `"" is no name`},
		"no such fixture": {
			strings.Replace(valid, `"fixture"`, `"fixtures"`, 1) + "}",
			`there is no directory "a/fixtures"`,
		},
		"a drive": {
			strings.Replace(valid, `"fixture"`, `"C:/fixture"`, 1) + "}",
			"leads out of the suite",
		},
		"a backslash": {
			strings.Replace(valid, `"fixture"`, `"..\\fixture"`, 1) + "}",
			"leads out of the suite",
		},
		"a check of no kind": {
			valid + `, "checks": [{"cmd": "x"}]}`,
			"checks[0].kind: must be one of command,",
		},
		"a check outside": {
			valid + `, "checks": [{"kind": "fileExists", "path": "x/../../y"}]}`,
			"leads out of the sandbox",
		},
		"a check of everything": {
			valid + `, "checks": [{"kind": "fileExists", "path": "."}]}`,
			"leads out of the sandbox",
		},
		"a bad pattern": {
			valid + `, "checks": [{"kind": "regexMatch", "path": "x", "pattern": "(?<=a)b"}]}`,
			"is no regular expression of Go's syntax",
		},
		"a time as text":     {valid + `, "timeoutMs": "5s"}`, `must be a number, not the text "5s"`},
		"a time without end": {valid + `, "timeoutMs": 1e300}`, "timeoutMs: is 1e300"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := parseOne(t, c.text)
			all := strings.Join(problems, "\n")
			assert.Contains(t, all, c.says)
			assert.Len(t, problems, 1, all)
			assert.NotContains(t, all, "\x1b")
		})
	}
}

func TestParseBounds(t *testing.T) {
	t.Parallel()
	_, problems := parseOne(t, valid+`, "prompt2": "`+strings.Repeat("x", 2<<20)+`"}`)
	assert.Equal(t, []string{"a/task.json: has more than 1024 KiB"}, problems)
	_, problems = parseOne(t, valid+`, "checks": [`+strings.Repeat(`{"kind": "x"},`, 500)+`{"kind": "x"}]}`)
	assert.Equal(t, []string{"a/task.json:1: checks: has 501 entries; 200 is the most"}, problems)
	many := make([]format.File, 1001)
	for i := range many {
		many[i] = format.File{Path: "a/task.json", Data: []byte(valid + "}")}
	}
	_, found := format.Parse(many, dirs)
	assert.Len(t, found, 1)
	tasks, found := format.Parse(nil, dirs)
	assert.Empty(t, tasks)
	assert.Empty(t, found)
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(valid + "}"))
	f.Add([]byte(valid + `, "checks": [{"kind": "regexMatch", "path": "x", "pattern": "("}]}`))
	f.Add([]byte("{\"id\": NaN"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tasks, problems := format.Parse([]format.File{{Path: "a/task.json", Data: data}}, dirs)
		assert.NotEqual(t, len(tasks) == 1, len(problems) > 0, "a task, or problems")
		for _, problem := range problems {
			assert.NotContains(t, problem.String(), "\n")
		}
	})
}

// TestIDsAreThereOnce, in whatever letters.
func TestIDsAreThereOnce(t *testing.T) {
	t.Parallel()
	other := strings.Replace(valid, `"a"`, `"A"`, 1) + "}"
	_, problems := format.Parse([]format.File{
		{Path: "a/task.json", Data: []byte(valid + "}")}, {Path: "b/task.json", Data: []byte(other)},
	}, func(string) bool { return true })
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0].String(), `b/task.json:1: id: "A" is the id of`)
}
