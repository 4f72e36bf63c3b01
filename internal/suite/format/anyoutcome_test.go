package format_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/format"
)

// TestNullInAnOutcome: of each key it is said what null, another type and nothing at all
// stand for.
func TestNullInAnOutcome(t *testing.T) {
	t.Parallel()
	base := map[string]string{
		"taskId": `"a"`, "objective": `{"passed": 1, "total": 2}`,
		"judge": `{"score0to1": 0.5, "rationale": "r", "model": "m"}`, "judgeWeight": "0.2",
		"cost": `{"tokens": 1, "toolCalls": 2, "steps": 3, "wallClockMs": 4, "costUsd": 5}`, "composite": "0.4",
		"failure": `"f"`, "transcript": `"t"`, "diff": `"d"`,
		"checks": `[{"kind": "k", "name": "n", "passed": true, "detail": "d"}]`,
	}
	parse := func(key, value string) (format.Score, error) {
		var fields []string
		for name, text := range base {
			if name == key {
				text = value
			}
			if text != "" {
				fields = append(fields, fmt.Sprintf("%q: %s", name, text))
			}
		}
		o, problems := format.ParseOutcome("o", []byte(`{"scores": [{`+strings.Join(fields, ", ")+`}]}`))
		if err := problems.Err(); err != nil {
			return format.Score{}, err
		}
		return o.Scores[0], nil
	}
	whole, err := parse("", "")
	require.NoError(t, err)
	for key, c := range map[string]struct {
		without func(s *format.Score, r *format.Run) // what it is without the key; nil is a problem
		other   string                               // a value of another type
		says    string
	}{
		"taskId":    {nil, "7", "taskId: must be a text, not the number 7"},
		"objective": {nil, "[1, 2]", "objective: must be an object, not a list"},
		"judge":     {func(_ *format.Score, r *format.Run) { r.Judge = nil }, "0.5", "judge: must be an object"},
		"judgeWeight": {
			func(s *format.Score, _ *format.Run) { s.JudgeWeight = nil }, `"2"`, "judgeWeight: must be a number",
		},
		"cost": {
			func(_ *format.Score, r *format.Run) { r.Cost = format.Cost{} }, "5", "cost: must be an object",
		},
		"composite": {
			func(_ *format.Score, r *format.Run) { r.Composite = nil }, "true", "composite: must be a number",
		},
		"failure":    {func(_ *format.Score, r *format.Run) { r.Failure = "" }, "false", "failure: must be a text"},
		"transcript": {func(_ *format.Score, r *format.Run) { r.Transcript = "" }, "{}", "transcript: must be a text"},
		"diff":       {func(_ *format.Score, r *format.Run) { r.Diff = "" }, "[]", "diff: must be a text"},
		"checks":     {func(_ *format.Score, r *format.Run) { r.Checks = nil }, "{}", "checks: must be a list"},
	} {
		for _, value := range []string{"null", ""} {
			got, err := parse(key, value)
			if c.without == nil {
				require.Error(t, err, "%s: %q", key, value)
				continue
			}
			require.NoError(t, err, "%s: %q", key, value)
			want := whole
			want.Runs = slices.Clone(whole.Runs)
			if c.without(&want, &want.Runs[0]); key+value == "compositenull" {
				want.Runs[0].Composite = new(metric.NonFinite())
			}
			assert.Equal(t, want, got, "%s: %q", key, value)
		}
		_, err := parse(key, c.other)
		require.ErrorContains(t, err, "scores[0]."+c.says, key)
	}
	for i, part := range []string{"costUsd", "tokens", "toolCalls", "steps", "wallClockMs"} {
		for value, want := range map[string]string{
			"0": "0", "-0.0": "0", "1e-400": "1e-400", "null": "", "1e999": "1e999", "-Infinity": "1e999",
		} {
			got, err := parse("cost", fmt.Sprintf(`{%q: %s}`, part, value))
			require.NoError(t, err, "%s: %s", part, value)
			for k, n := range got.Runs[0].Cost.Signals() {
				if k != i || want == "" {
					assert.Nil(t, n, "%s: %s", part, value)
					continue
				}
				text, err := json.Marshal(n)
				require.NoError(t, err)
				assert.Equal(t, want, string(text), "%s: %s", part, value)
			}
		}
		_, err := parse("cost", fmt.Sprintf(`{%q: -1e-30}`, part))
		require.ErrorContains(t, err, "scores[0].cost."+part+": is -1e-30; it must be 0 or more")
	}
}

// TestBoundsOfOutcome: the last value that is taken, and the first that is not.
func TestBoundsOfOutcome(t *testing.T) {
	t.Parallel()
	quoted := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	score := func(more string) string {
		return `{"scores": [{"taskId": "a", "objective": {"passed": 0, "total": 0}` + more + `}]}`
	}
	check := `{"passed": true},`
	tasks := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`{"taskId": "%d", "objective": {"passed": 0, "total": 0}}`, i))
		}
		return `{"scores": [` + strings.Join(list, ",") + "]}"
	}
	for name, c := range map[string]struct{ text, says string }{
		"a longer label": {
			`{"scores": [], "configLabel": ` + quoted(201) + "}",
			"configLabel: has more than 200 bytes",
		},
		"an id that is a path": {strings.Replace(score(""), `"a"`, `"../a b"`, 1), ""},
		"a longer rationale": {
			score(`, "judge": {"score0to1": 1, "rationale": ` + quoted(64<<10+1) + "}"),
			"judge.rationale: has more than 65536",
		},
		"many checks": {score(`, "checks": [` + strings.Repeat(check, 199) + `{"passed": true}]`), ""},
		"a check more": {
			score(`, "checks": [` + strings.Repeat(check, 200) + `{"passed": true}]`),
			"checks: has 201 entries; 200 is the",
		},
		"many tasks":          {tasks(1000), ""},
		"a task more":         {tasks(1001), "scores: has 1001 entries; 1000 is the"},
		"many runs":           {`{"runs": [` + strings.Repeat(`{"scores": []},`, 99) + `{"scores": []}]}`, ""},
		"runs of runs":        {`{"runs": [{"runs": [{"scores": []}]}]}`, "runs[0].scores: is missing"},
		"a count beyond ints": {strings.Replace(score(""), `"total": 0`, `"total": 99999999999999999999999`, 1), ""},
		"as many as there are": {strings.Replace(score(""), `{"passed": 0, "total": 0}`,
			`{"passed": 99999999999999999999999, "total": 99999999999999999999999}`, 1), ""},
		"one more than that": {
			strings.Replace(score(""), `{"passed": 0, "total": 0}`,
				`{"passed": 99999999999999999999999, "total": 99999999999999999999998}`, 1),
			"has 9.9999999999999999999999e22 passed of 9.9999999999999999999998e22",
		},
		"a count of 2.0": {strings.Replace(score(""), `"total": 0`, `"total": 2.0`, 1), ""},
		"a hair more than 2": {
			strings.Replace(score(""), `"total": 0`, `"total": 2.00000000000000000000001`, 1),
			"total: is 2.000",
		},
		"NaN of something": {strings.Replace(score(""), `{"passed": 0, "total": 0}`,
			`{"passed": NaN, "total": 1}`, 1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, problems := format.ParseOutcome("o", []byte(c.text))
			if c.says == "" {
				require.NoError(t, problems.Err())
				return
			}
			require.Len(t, problems, 1, "%v", problems)
			assert.Contains(t, problems[0].String(), c.says)
			assert.Empty(t, o)
		})
	}
}

// TestWhichDirectoryIsAskedFor: a clean path from the suite's root, whatever the task file
// says, and only one that is in the suite.
func TestWhichDirectoryIsAskedFor(t *testing.T) {
	t.Parallel()
	for said, c := range map[string]struct{ file, asks string }{
		"fixture": {"a/b/task.json", "a/b/fixture"}, "./fixture/": {"a/task.json", "a/fixture"},
		"../common": {"a/task.json", "common"}, "x/../y": {"task.json", "y"},
		".": {"a/task.json", "a"}, "..": {"a/task.json", "."}, "../..": {"a/task.json", ""},
		"../../a": {"a/task.json", ""}, "/a": {"a/task.json", ""}, "a/./b//c": {"task.json", "a/b/c"},
	} {
		var asked []string
		text := fmt.Sprintf(`{"id": "a", "title": "T", "fixtureDir": %q, "prompt": "p"}`, said)
		tasks, problems := format.Parse([]format.File{{Path: c.file, Data: []byte(text)}},
			func(path string) bool { asked = append(asked, path); return true })
		if c.asks == "" {
			require.ErrorContains(t, problems.Err(), "leads out of the suite", said)
			assert.Empty(t, asked, said)
			continue
		}
		require.NoError(t, problems.Err(), said)
		assert.Equal(t, []string{c.asks}, asked, said)
		assert.Equal(t, c.asks, tasks[0].Fixture, said)
	}
}
