package format_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/format"
)

// TestKeysOfChecks gives every kind of check every key: those that it needs may not
// be missing, and no other may be there.
func TestKeysOfChecks(t *testing.T) {
	t.Parallel()
	values := map[string]string{
		"cmd": `"make"`, "path": `"a"`, "substring": `"x"`, "pattern": `"x"`,
		"expectExitZero": "true",
	}
	kinds := map[format.CheckKind]struct{ needs, takes string }{
		format.CommandCheck: {"cmd", "expectExitZero"}, format.TestSuiteCheck: {"cmd", ""},
		format.FileExists:   {"path", ""},
		format.FileContains: {"path substring", ""}, format.FileNotContains: {"path substring", ""},
		format.RegexMatch: {"path pattern", ""}, format.DiffContains: {"substring", ""},
	}
	check := func(kind format.CheckKind, keys ...string) []string {
		text := fmt.Sprintf(`"kind": %q`, kind)
		for _, key := range keys {
			text += fmt.Sprintf(", %q: %s", key, values[key])
		}
		_, problems := parseOne(t, valid+`, "checks": [{`+text+`}]}`)
		return problems
	}
	for kind, c := range kinds {
		needs := strings.Fields(c.needs)
		assert.Empty(t, check(kind, needs...), kind)
		for i, key := range needs {
			assert.Equal(t, []string{"a/task.json:1: checks[0]." + key + ": is missing"},
				check(kind, slices.Delete(slices.Clone(needs), i, i+1)...), kind)
		}
		for key := range values {
			problems := check(kind, append(slices.Clone(needs), key)...)
			switch {
			case slices.Contains(needs, key):
				require.Len(t, problems, 1)
				assert.Contains(t, problems[0], "checks[0]."+key+": is there twice", kind)
			case key == c.takes:
				assert.Empty(t, problems, kind)
			default:
				require.Len(t, problems, 1, kind)
				assert.Contains(t, problems[0], "checks[0]."+key+": is no key that is known here", kind)
			}
		}
	}
	assert.Len(t, slices.Collect(maps.Keys(kinds)), 7)
}

// TestBoundsOfTask: the last value that is taken, and the first that is not.
func TestBoundsOfTask(t *testing.T) {
	t.Parallel()
	with := func(key, value string) string {
		text := map[string]string{"id": `"a"`, "title": `"A"`, "fixtureDir": `"fixture"`, "prompt": `"p"`}
		text[key] = value
		var fields []string
		for name, value := range text {
			fields = append(fields, fmt.Sprintf("%q: %s", name, value))
		}
		return "{" + strings.Join(fields, ", ") + "}"
	}
	quoted := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	for name, c := range map[string]struct{ key, value, says string }{
		"one millisecond": {"timeoutMs", "1", ""},
		"a day":           {"timeoutMs", "86400000", ""},
		"a millisecond more": {
			"timeoutMs", "86400001",
			"whole milliseconds, from 1 to 86400000",
		},
		"just below one":           {"timeoutMs", "0.9999999999999999999999999", "timeoutMs: is 0.9999"},
		"all that an id may have":  {"id", `"a.B_c-9"`, ""},
		"an id that is hidden":     {"id", `".a"`, "is no name"},
		"an id like an option":     {"id", `"-a"`, "is no name"},
		"an id with an accent":     {"id", `"é"`, "is no name"},
		"an agent with a slash":    {"agent", `"a/b"`, "agent: \"a/b\" is no name"},
		"the whole suite":          {"fixtureDir", `".."`, ""},
		"the task's own directory": {"fixtureDir", `"."`, "there is no directory \"a\""},
		"above the suite":          {"fixtureDir", `"../.."`, "leads out of the suite"},
		"out and in again":         {"fixtureDir", `"../../a/fixture"`, "leads out of the suite"},
		"a zero byte":              {"fixtureDir", `"fix\u0000ture"`, "has a NUL character in it"},
		"a weight of all":          {"judgeRubric", `{"criteria": "c", "weight": 1.0}`, ""},
		"a weight below nothing": {
			"judgeRubric", `{"criteria": "c", "weight": -1e-30}`,
			"judgeRubric.weight: is -1e-30; it must",
		},
		"a hair more than all": {
			"judgeRubric", `{"criteria": "c", "weight": 1.00000000000000000000001}`,
			"judgeRubric.weight: is 1.000",
		},
		"a kind in other letters": {"checks", `[{"kind": "Command", "cmd": "x"}]`, "checks[0].kind: must be one of"},
		"a longer pattern": {
			"checks",
			`[{"kind": "regexMatch", "path": "a", "pattern": ` + quoted(8<<10+1) + `}]`,
			"checks[0].pattern: has more than",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			isDir := func(path string) bool { return path == "." || path == "a/fixture" }
			_, problems := format.Parse([]format.File{{Path: "a/task.json", Data: []byte(with(c.key, c.value))}}, isDir)
			if c.says == "" {
				assert.Empty(t, problems)
				return
			}
			require.Len(t, problems, 1, "%v", problems)
			assert.Contains(t, problems[0].String(), c.says)
			assert.Equal(t, 1, problems[0].Line)
		})
	}
}

// TestProblemsHaveTheirLine writes one key a line, and finds each fault where it is.
func TestProblemsHaveTheirLine(t *testing.T) {
	t.Parallel()
	_, problems := format.ParseOutcome("o.json", []byte(strings.Join([]string{
		`{"configLabel": 7,`,
		`"stochastic": "no",`,
		`"scores": [`,
		`{"taskId": "a",`,
		`"objective": {"passed": 3, "total": 2},`,
		`"judge": {"score0to1": -0.1},`,
		`"judgeWeight": 2,`,
		`"cost": {"tokens": -1, "steps": "x"},`,
		`"checks": [{"name": "n"}],`,
		`"composite": true},`,
		`{"taskId": "a", "objective": {"passed": 0}}`,
		`]}`,
	}, "\n")))
	var lines []string
	for _, problem := range problems {
		lines = append(lines, strings.Join(strings.SplitN(problem.String(), ": ", 3)[:2], " "))
	}
	assert.ElementsMatch(t, []string{
		"o.json:1 configLabel", "o.json:2 stochastic", "o.json:5 scores[0].objective",
		"o.json:6 scores[0].judge.score0to1", "o.json:7 scores[0].judgeWeight",
		"o.json:8 scores[0].cost.tokens", "o.json:8 scores[0].cost.steps", "o.json:9 scores[0].checks[0].passed",
		"o.json:10 scores[0].composite",
		"o.json:11 scores[1].taskId", "o.json:11 scores[1].objective.total",
	}, lines)
}

// TestRunsAreOneOutcome: a task's runs are in the order of the file's, whatever is said
// once of all, or differently in some.
func TestRunsAreOneOutcome(t *testing.T) {
	t.Parallel()
	score := func(id string, passed int, more string) string {
		return fmt.Sprintf(`{"taskId": %q, "objective": {"passed": %d, "total": 9}%s}`, id, passed, more)
	}
	parse := func(text string) format.SuiteOutcome {
		o, problems := format.ParseOutcome("o", []byte(text))
		require.NoError(t, problems.Err())
		return o
	}
	o := parse(`{"configLabel": "first", "stochastic": false, "runs": [
		{"scores": [` + score("a", 1, `, "judgeWeight": 0.1`) + "," + score("b", 2, "") + `]},
		{"configLabel": "later", "stochastic": null, "scores": [` + score("b", 3, "") + "," + score("a", 4,
		`, "judgeWeight": 0.9`) + `]},
		{"scores": [` + score("c", 5, "") + `]}]}`)
	var runs []string
	for _, s := range o.Scores {
		for _, run := range s.Runs {
			runs = append(runs, s.TaskID+run.Objective.Passed.String())
		}
	}
	assert.Equal(t, []string{"a1", "a4", "b2", "b3", "c5"}, runs)
	assert.Equal(t, 3, o.Runs(), "also where a run has none of the tasks of the others")
	assert.Equal(t, 2, parse(`{"runs": [{"scores": [`+score("a", 1, "")+`]}, {"scores": []}]}`).Runs())
	text, err := json.Marshal(o)
	require.NoError(t, err)
	assert.Equal(t, 3, parse(string(text)).Runs(), "and so it is written")
	assert.Equal(t, "0.1", o.Scores[0].JudgeWeight.String(), "the first weight counts")
	assert.False(t, *o.Stochastic)
	assert.True(t, *parse(`{"stochastic": false, "runs": [{"stochastic": true, "scores": []}, {"stochastic": false, ` +
		`"scores": []}]}`).Stochastic, "one run in which chance was at work is enough")
	assert.Nil(t, parse(`{"scores": []}`).Stochastic)
	assert.Equal(t, "extra.b", parse(`{"scores": [], "extra": {"a": 1, "b": NaN}}`).NonFiniteAt)
	_, problems := format.ParseOutcome("o", []byte(`{"runs": [], "scores": []}`))
	require.ErrorContains(t, problems.Err(), "o:1: runs: is beside `scores`")
	for _, contradiction := range []string{
		`"judge": {"score0to1": 1}`, `"cost": {"tokens": 1}`,
		`"cost": {"costUsd": 0.1}`,
	} {
		_, problems := format.ParseOutcome("o",
			[]byte(`{"stochastic": false, "scores": [`+score("a", 1, ", "+contradiction)+`]}`))
		require.ErrorContains(t, problems.Err(), "o:1: stochastic: is false, but", contradiction)
	}
}

func number(text string) *metric.Number {
	n := metric.NonFinite()
	if text != "NaN" {
		n = metric.NumberOf(metric.MustValue(text))
	}
	return &n
}

func TestStochasticOutcomes(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	run := func(change func(*format.Run)) format.SuiteOutcome {
		r := format.Run{Objective: format.Passed(1, 1), Cost: format.Cost{Tokens: number("0")}}
		change(&r)
		return format.SuiteOutcome{Scores: []format.Score{{
			TaskID: "a",
			Runs:   []format.Run{{Cost: format.Cost{Tokens: number("0")}}, r},
		}}}
	}
	for name, c := range map[string]struct {
		said   *bool
		change func(*format.Run)
		varies bool
	}{
		"no model worked":              {nil, func(*format.Run) {}, false},
		"nothing says whether one did": {nil, func(r *format.Run) { r.Cost.Tokens = nil }, true},
		"it is said that none did":     {&no, func(r *format.Run) { r.Cost.Tokens = nil }, false},
		"tokens that nobody counted":   {nil, func(r *format.Run) { r.Cost.Tokens = number("NaN") }, true},
		"tokens, whatever is said":     {&no, func(r *format.Run) { r.Cost.Tokens = number("1") }, true},
		"money, whatever is said":      {&no, func(r *format.Run) { r.Cost.USD = number("0.01") }, true},
		"no money":                     {nil, func(r *format.Run) { r.Cost.USD = number("0") }, false},
		"a judge, whatever is said":    {&no, func(r *format.Run) { r.Judge = &format.Judgement{} }, true},
		"it is said to":                {&yes, func(*format.Run) {}, true},
		"steps and calls and time alone": {nil, func(r *format.Run) {
			r.Cost.Steps, r.Cost.ToolCalls, r.Cost.WallClockMs = number("9"), number("9"), number("9")
		}, false},
		"a failure is nothing that a judge":   {nil, func(r *format.Run) { r.Failure = "crashed" }, false},
		"said to, with nothing that tells so": {&yes, func(r *format.Run) { r.Cost.Tokens = nil }, true},
	} {
		o := run(c.change)
		o.Stochastic = c.said
		assert.Equal(t, c.varies, o.MayVary(), name)
	}
	assert.False(t, format.SuiteOutcome{}.MayVary())
}

// TestFirstNonFiniteNumber names it, in an order that does not change.
func TestFirstNonFiniteNumber(t *testing.T) {
	t.Parallel()
	run := format.Run{
		Objective: format.Objective{Passed: *number("NaN"), Total: *number("NaN")},
		Judge:     &format.Judgement{Score: *number("NaN")}, Composite: number("NaN"),
		Cost: format.Cost{
			USD: number("NaN"), Tokens: number("NaN"), ToolCalls: number("NaN"), Steps: number("NaN"),
			WallClockMs: number("NaN"),
		},
	}
	for _, repair := range []struct {
		name string
		fix  func()
	}{
		{"objective.passed", func() { run.Objective.Passed = *number("1") }},
		{"objective.total", func() { run.Objective.Total = *number("1") }},
		{"judge.score0to1", func() { run.Judge = nil }},
		{"composite", func() { run.Composite = number("0.5") }},
		{"cost.costUsd", func() { run.Cost.USD = number("1") }},
		{"cost.tokens", func() { run.Cost.Tokens = nil }},
		{"cost.toolCalls", func() { run.Cost.ToolCalls = number("1") }},
		{"cost.steps", func() { run.Cost.Steps = number("1") }},
		{"cost.wallClockMs", func() { run.Cost.WallClockMs = number("1") }},
	} {
		assert.Equal(t, repair.name, run.NonFinite())
		assert.False(t, run.Finite())
		repair.fix()
	}
	assert.Empty(t, run.NonFinite())
	assert.True(t, run.Finite())
}

func TestCostsAddWhereBothAreKnown(t *testing.T) {
	t.Parallel()
	a := format.Cost{
		Tokens: number("1"), ToolCalls: number("2"), Steps: nil, WallClockMs: number("NaN"),
		USD: number("0.1"),
	}
	b := format.Cost{
		Tokens: number("10"), ToolCalls: nil, Steps: number("4"), WallClockMs: number("1"),
		USD: number("0.2"),
	}
	want := format.Cost{Tokens: number("11"), USD: number("0.3")}
	assert.Equal(t, texts(want), texts(a.Plus(b)))
	assert.Equal(t, texts(want), texts(b.Plus(a)))
	assert.Equal(t, "1", a.Tokens.String(), "the terms stay as they are")
}

func texts(c format.Cost) (list [5]string) {
	for i, n := range c.Signals() {
		if n != nil {
			list[i] = n.String()
		}
	}
	return list
}

func TestRateOfChecks(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]format.Objective{
		"2/3": format.Passed(2, 3), "1/1": format.Passed(0, 0),
		"0/1": format.Passed(0, 7),
	} {
		rate, ok := o.Rate()
		require.True(t, ok)
		assert.Equal(t, want, rate.String())
	}
	for _, o := range []format.Objective{
		{Passed: *number("NaN"), Total: *number("1")},
		{Passed: *number("1"), Total: *number("NaN")},
	} {
		_, ok := o.Rate()
		assert.False(t, ok)
	}
}

// TestWrittenOutcomeIsRead: an outcome of which a task was not run as often as others keeps
// the runs of each task.
func TestWrittenOutcomeIsRead(t *testing.T) {
	t.Parallel()
	o := format.SuiteOutcome{ConfigLabel: "c"}
	for i, runs := range []int{3, 1, 2} {
		s := format.Score{TaskID: fmt.Sprint("t", i)}
		for k := range runs {
			s.Runs = append(s.Runs, format.Run{Objective: format.Passed(k, 9)})
		}
		o.Scores = append(o.Scores, s)
	}
	text, err := json.Marshal(o)
	require.NoError(t, err)
	back, problems := format.ParseOutcome("o", text)
	require.Empty(t, problems)
	assert.Equal(t, o, back)
	o.Scores = o.Scores[1:2]
	text, err = json.Marshal(o)
	require.NoError(t, err)
	back, problems = format.ParseOutcome("o", text)
	require.Empty(t, problems)
	assert.Equal(t, o, back, "of one run")
	back, problems = format.ParseOutcome("o", []byte(`{"scores": 1}`))
	require.ErrorContains(t, problems.Err(), "scores: must be a list")
	assert.Empty(t, back, "with a problem nothing is read")
}
