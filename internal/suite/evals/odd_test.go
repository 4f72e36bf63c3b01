package evals

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// one is a suite of one case with that besides its id and prompt.
func one(more string) string { return `[{"id": 1, "prompt": "p", ` + more + `}]` }

// TestSuitesOfOthers has what a suite may be written like, and what is told of one that
// cannot be read.
func TestSuitesOfOthers(t *testing.T) {
	t.Parallel()
	files := func(path string) bool {
		return map[string]bool{
			"in.csv": true, "evals/in.csv": true, "evals/data/in.csv": true, "notes": true,
			"evals/notes/in.csv": true, "evals/outputs/x": true, "outputs-2/x": true, ".env": true, "evals/.env": true,
			"IN.csv": true, "evals/evals.json": true, "EVALS/EVALS.JSON": true,
		}[path]
	}
	for name, c := range map[string]struct {
		text  string
		says  []string // the problems begin so
		holds func(t *testing.T, s EvalSuite)
	}{
		"unknown fields everywhere": {
			`{"$schema": "x", "version": 1e999, "evals": [{"id": 1, "prompt": "p", ` +
				`"category": {"a": [null]}, "assertions": [{"text": "a", "type": "llm", "weight": 2}]}]}`, nil,
			func(t *testing.T, s EvalSuite) {
				t.Helper()
				assert.Equal(t, []string{"a"}, s.Cases[0].Expectations)
			},
		},
		"both names of a list": {
			one(`"expectations": ["a"], "assertions": ["b"]`), nil,
			func(t *testing.T, s EvalSuite) {
				t.Helper()
				assert.Equal(t, []string{"a", "b"}, s.Cases[0].Expectations)
			},
		},
		"the same under both": {
			one(`"expectations": ["a"], "assertions": [" a "]`),
			[]string{`[0].assertions[0]: "a" is there twice; remove one`},
			nil,
		},
		"checks of another key": {
			one(`"checks": [1], "tags": ["x"], "rubric": "good"`),
			[]string{"[0]: has nothing to check; give `expectations` or `deterministic_checks`; not read: " +
				"\"checks\", \"tags\""},
			nil,
		},
		"ids in another case": {
			`[{"id": "Case", "prompt": "p", "expectations": ["a"]}, {"id": "cASE", "prompt": "p", "expectations": ["a"]}]`,
			[]string{`[1].id: "cASE" is there twice`},
			nil,
		},
		"a check that is a text": {
			one(`"deterministic_checks": ["file_exists a"]`),
			[]string{"[0].deterministic_checks[0]: must be an object"},
			nil,
		},
		"files of both places": {
			one(`"expectations": ["a"], "files": ["in.csv", "data/in.csv"]`), nil,
			func(t *testing.T, s EvalSuite) {
				t.Helper()
				assert.Equal(t, []StagedFile{
					{From: "in.csv", To: "in.csv"},
					{From: "evals/data/in.csv", To: "data/in.csv"},
				}, s.Cases[0].Files)
			},
		},
		"the same in another case": {
			one(`"expectations": ["a"], "files": ["in.csv", "IN.csv"]`),
			[]string{`[0].files[1]: "IN.csv" is there twice`},
			nil,
		},
		"a file where one has others": {
			one(`"expectations": ["a"], "files": ["notes", "notes/in.csv"]`),
			[]string{`[0].files[1]: "notes/in.csv" and "notes" would be a file and a directory of one name; rename one`},
			nil,
		},
		"a file among the results": {
			one(`"expectations": ["a"], "files": ["outputs/x"]`),
			[]string{`[0].files[0]: "outputs/x" would stand at "outputs/x", where results or settings belong`},
			nil,
		},
		"a hidden file": {
			one(`"expectations": ["a"], "files": [".env"]`),
			[]string{`[0].files[0]: ".env" would stand at ".env"`},
			nil,
		},
		"the suite itself": {
			one(`"expectations": ["a"], "files": ["evals/./evals.json"]`),
			[]string{`[0].files[0]: "evals/./evals.json" is what the case is graded by`},
			nil,
		},
		"paths of Windows": {
			one(`"expectations": ["a"], "files": ["..\\in.csv", "C:/in.csv", "/in.csv", "."]`),
			[]string{
				`[0].files[0]: `, `[0].files[1]: "C:/in.csv" leads out of the skill`,
				`[0].files[2]: "/in.csv" leads out`, `[0].files[3]: "." leads out`,
			},
			nil,
		},
		"a short time": {one(`"deterministic_checks": [{"type": "shell_command", "command": "true", "timeout": 1e-12}]`), nil, func(t *testing.T, s EvalSuite) {
			t.Helper()
			assert.Positive(t, s.Cases[0].Checks[0].Timeout, "no time is no bound to whoever runs it")
		}},
		"a day": {one(`"deterministic_checks": [{"type": "shell_command", "command": "true", "timeout_seconds": 86400}]`), nil, func(t *testing.T, s EvalSuite) {
			t.Helper()
			assert.Equal(t, 24*time.Hour, s.Cases[0].Checks[0].Timeout)
		}},
		"times out of bounds": {one(`"deterministic_checks": [{"type": "shell_command", "command": "a", "timeout": ` +
			`-1}, {"type": "shell_command", "command": "b", "timeout": 86400.5}, {"type": "shell_command", ` +
			`"command": "c", "timeout": 1e999}, {"type": "shell_command", "command": "d", "timeout": "10"}]`), []string{
			"[0].deterministic_checks[0].timeout: is -1; give seconds, more than 0 and at most 86400",
			"[0].deterministic_checks[1].timeout: is 86400.5",
			"[0].deterministic_checks[2].timeout: is 1e999",
			`[0].deterministic_checks[3].timeout: must be a number, not the text "10"`,
		}, nil},
		"two checks alike": {one(
			`"deterministic_checks": [{"type": "file_exists", "file": "a"}, {"type": "file_exists", "path": ` +
				`"outputs/a"}]`), []string{`[0].deterministic_checks[1]: "file_exists a" is there twice; remove one, ` +
			`or give each a ` + "`description`"}, nil},
		"type under two names": {
			one(
				`"deterministic_checks": [{"type": "file_exists", "kind": "file_contains", "file": "a", "text": "x"}]`),
			[]string{
				"[0].deterministic_checks[0].kind: is another name of `type`, which is there too",
				"[0].deterministic_checks[0].kind: is no key that is known here",
			},
			nil,
		},
		"a value and a part of one": {one(
			`"deterministic_checks": [{"type": "json_array_contains", "file": "a", "path": "x", "value": 1, "match": {}}]`), []string{"[0].deterministic_checks[0].value: or `match` is needed, and not both"}, nil},
		"a count with a fraction": {
			one(
				`"deterministic_checks": [{"type": "json_field_count", "file": "a", "path": "x", "count": 1.0}]`),
			[]string{"[0].deterministic_checks[0].value: must be a whole number"},
			nil,
		},
		"too many cases": {
			`[` + strings.Repeat(`{},`, 500) + `{}]`,
			[]string{"has 501 entries; 500 is the most"},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite, problems := Parse("e.json", []byte(c.text), files)
			var said []string
			for _, problem := range problems {
				line := strings.TrimPrefix(problem.String(), "e.json:")
				said = append(said, strings.TrimPrefix(strings.TrimPrefix(line, "1:"), " "))
			}
			require.Len(t, said, len(c.says), "%q", said)
			for i, want := range c.says {
				assert.True(t, strings.HasPrefix(said[i], want), "%q is not %q", said[i], want)
			}
			if c.holds != nil {
				c.holds(t, suite)
			}
		})
	}
}
