package format_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/format"
)

// drawn draws outcomes with everything that one can have.
type drawn struct{ *rand.Rand }

func (d drawn) number(texts ...string) metric.Number {
	text := texts[d.IntN(len(texts))]
	if text == "NaN" {
		return metric.NonFinite()
	}
	return metric.NumberOf(metric.MustValue(text))
}

func (d drawn) maybe(texts ...string) *metric.Number {
	if d.IntN(3) == 0 {
		return nil
	}
	n := d.number(texts...)
	return &n
}

func (d drawn) text() string {
	return []string{"", "a", "two\nlines", `"quoted" \ back`, "ü\u2028", "NaN", "<b>&amp;", "null"}[d.IntN(8)]
}

func (d drawn) run() format.Run {
	counts := []string{"1", "2", "3", "12345678901234567890", "NaN"}
	costs := []string{"0", "7", "0.1", "12345678901234567890.5", "1e-30", "NaN"}
	run := format.Run{
		Objective: format.Objective{Passed: d.number("0", "1", "NaN"), Total: d.number(counts...)},
		Cost: format.Cost{
			Tokens: d.maybe(costs...), ToolCalls: d.maybe(costs...), Steps: d.maybe(costs...),
			WallClockMs: d.maybe(costs...), USD: d.maybe(costs...),
		},
		Composite: d.maybe("0", "0.5", "1", "NaN"), Failure: d.text(), Transcript: d.text(), Diff: d.text(),
	}
	if d.IntN(2) == 0 {
		run.Judge = &format.Judgement{Score: d.number("0", "0.25", "1", "NaN"), Rationale: d.text(), Model: d.text()}
	}
	for range d.IntN(3) {
		run.Checks = append(run.Checks,
			format.CheckResult{
				Kind: format.CheckKind(d.text()), Name: d.text(), Passed: d.IntN(2) == 0,
				Detail: d.text(),
			})
	}
	return run
}

func (d drawn) outcome() format.SuiteOutcome {
	o := format.SuiteOutcome{ConfigLabel: d.text()}
	if d.IntN(2) == 0 {
		o.Stochastic = new(d.IntN(2) == 0)
	}
	for i := range d.IntN(4) {
		s := format.Score{TaskID: fmt.Sprint("t", i, d.text(), ".")}
		if d.IntN(2) == 0 {
			s.JudgeWeight = new(metric.MustValue([]string{"0", "0.2", "1"}[d.IntN(3)]))
		}
		for range 1 + d.IntN(3) {
			s.Runs = append(s.Runs, d.run())
		}
		o.Scores = append(o.Scores, s)
	}
	if o.MayVary() && o.Stochastic != nil {
		*o.Stochastic = true // a contradiction is refused
	}
	return o
}

// TestAnyOutcomeIsRead as it was written, and is written again as it was.
func TestAnyOutcomeIsRead(t *testing.T) {
	t.Parallel()
	d := drawn{rand.New(rand.NewPCG(131, 132))}
	for range 400 {
		o := d.outcome()
		text, err := json.Marshal(o)
		require.NoError(t, err)
		back, problems := format.ParseOutcome("o", text)
		require.Empty(t, problems, string(text))
		require.Equal(t, o, back, string(text))
		again, err := json.Marshal(back)
		require.NoError(t, err)
		require.Equal(t, string(text), string(again))
		require.Equal(t, o.Runs(), back.Runs())
		require.Equal(t, o.MayVary(), back.MayVary())

		indented, err := json.MarshalIndent(o, "\t", "  ")
		require.NoError(t, err)
		parsed, problems := format.ParseOutcome("o", indented)
		require.NoError(t, problems.Err())
		require.Equal(t, o, parsed, "however it is laid out")
	}
}

// TestKeysNobodyKnows may be anywhere in an outcome of another program. None changes what
// is read; a number in one that is not finite is named.
func TestKeysNobodyKnows(t *testing.T) {
	t.Parallel()
	d := drawn{rand.New(rand.NewPCG(133, 134))}
	plain := format.SuiteOutcome{}
	for len(plain.Scores) == 0 || plain.Runs() < 2 || plain.Scores[0].Runs[0].Judge == nil ||
		plain.Scores[0].Runs[0].Checks == nil {
		plain = d.outcome()
	}
	text, err := json.Marshal(plain)
	require.NoError(t, err)
	// objects counts the objects of the text; with puts another key into one of them.
	objects := strings.Count(string(text), "{")
	with := func(n int, more string) string {
		parts := strings.SplitAfter(string(text), "{")
		if strings.HasPrefix(parts[n+1], "}") {
			more = strings.TrimSuffix(more, ",")
		}
		parts[n] += more
		return strings.Join(parts, "")
	}
	require.NotContains(t, strings.Join(strings.Split(string(text), `"`), ""), "{}")
	for n := range objects {
		o, problems := format.ParseOutcome("o", []byte(with(n, `"later": {"a": [null, 1, "x"], "b": {}},`)))
		require.NoError(t, problems.Err())
		require.Equal(t, plain, o, "object %d", n)
		for _, number := range []string{"NaN", "Infinity", "-Infinity", "1e999"} {
			o, problems := format.ParseOutcome("o", []byte(with(n, `"later": {"a": [0, {"b": `+number+`}]},`)))
			require.NoError(t, problems.Err())
			require.True(t, strings.HasSuffix(o.NonFiniteAt, "later.a[1].b"), "object %d: %q", n, o.NonFiniteAt)
			o.NonFiniteAt = ""
			require.Equal(t, plain, o)
		}
	}
}

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
		null    func(s *format.Score) // what null changes; nil is a problem
		missing func(s *format.Score)
		other   string // a value of another type
		says    string
	}{
		"taskId":    {nil, nil, "7", "scores[0].taskId: must be a text, not the number 7"},
		"objective": {nil, nil, "[1, 2]", "scores[0].objective: must be an object, not a list"},
		"judge": {
			func(s *format.Score) { s.Runs[0].Judge = nil },
			func(s *format.Score) { s.Runs[0].Judge = nil }, "0.5",
			"scores[0].judge: must be an object, not the number 0.5",
		},
		"judgeWeight": {
			func(s *format.Score) { s.JudgeWeight = nil }, func(s *format.Score) { s.JudgeWeight = nil },
			`"0.2"`, "scores[0].judgeWeight: must be a number",
		},
		"cost": {
			func(s *format.Score) { s.Runs[0].Cost = format.Cost{} },
			func(s *format.Score) { s.Runs[0].Cost = format.Cost{} }, "5", "scores[0].cost: must be an object",
		},
		"composite": {
			func(s *format.Score) { s.Runs[0].Composite = new(metric.NonFinite()) },
			func(s *format.Score) { s.Runs[0].Composite = nil }, "true", "scores[0].composite: must be a number",
		},
		"failure": {
			func(s *format.Score) { s.Runs[0].Failure = "" },
			func(s *format.Score) { s.Runs[0].Failure = "" }, "false", "scores[0].failure: must be a text",
		},
		"transcript": {
			func(s *format.Score) { s.Runs[0].Transcript = "" },
			func(s *format.Score) { s.Runs[0].Transcript = "" }, "{}", "scores[0].transcript: must be a text",
		},
		"diff": {
			func(s *format.Score) { s.Runs[0].Diff = "" }, func(s *format.Score) { s.Runs[0].Diff = "" },
			"[]", "scores[0].diff: must be a text",
		},
		"checks": {
			func(s *format.Score) { s.Runs[0].Checks = nil },
			func(s *format.Score) { s.Runs[0].Checks = nil }, "{}", "scores[0].checks: must be a list",
		},
	} {
		for value, change := range map[string]func(*format.Score){"null": c.null, "": c.missing} {
			got, err := parse(key, value)
			if change == nil {
				require.Error(t, err, "%s: %q", key, value)
				continue
			}
			require.NoError(t, err, "%s: %q", key, value)
			want := whole
			want.Runs = slices.Clone(whole.Runs)
			change(&want)
			assert.Equal(t, want, got, "%s: %q", key, value)
		}
		_, err := parse(key, c.other)
		require.ErrorContains(t, err, c.says, key)
	}
	for part, at := range map[string]func(format.Run) *metric.Number{
		"tokens":      func(r format.Run) *metric.Number { return r.Cost.Tokens },
		"toolCalls":   func(r format.Run) *metric.Number { return r.Cost.ToolCalls },
		"steps":       func(r format.Run) *metric.Number { return r.Cost.Steps },
		"wallClockMs": func(r format.Run) *metric.Number { return r.Cost.WallClockMs },
		"costUsd":     func(r format.Run) *metric.Number { return r.Cost.USD },
	} {
		for value, want := range map[string]string{
			"0": "0", "-0.0": "0", "1e-400": "1e-400", "null": "nil",
			"1e999": "1e999", "-Infinity": "1e999",
		} {
			got, err := parse("cost", fmt.Sprintf(`{%q: %s}`, part, value))
			require.NoError(t, err, "%s: %s", part, value)
			text := "nil"
			if n := at(got.Runs[0]); n != nil {
				data, err := json.Marshal(n)
				require.NoError(t, err)
				text = string(data)
			}
			assert.Equal(t, want, text, "%s: %s", part, value)
			known := 0
			for _, n := range got.Runs[0].Cost.Signals() {
				if n != nil {
					known++
				}
			}
			assert.Equal(t, value != "null", known == 1, "%s: %s", part, value)
		}
		_, err := parse("cost", fmt.Sprintf(`{%q: -1e-30}`, part))
		require.ErrorContains(t, err, "scores[0].cost."+part+
			": is -1e-30; it must be 0 or more, and null when it is not known")
	}
}

// TestTheBoundsOfAnOutcome: the last value that is taken, and the first that is not.
func TestTheBoundsOfAnOutcome(t *testing.T) {
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
		"a long label": {`{"scores": [], "configLabel": ` + quoted(200) + "}", ""},
		"a longer label": {
			`{"scores": [], "configLabel": ` + quoted(201) + "}",
			"configLabel: has more than 200 bytes",
		},
		"a label of nothing":   {`{"scores": [], "configLabel": ""}`, ""},
		"a label of null":      {`{"scores": [], "configLabel": null}`, ""},
		"a long id":            {strings.Replace(score(""), `"a"`, quoted(200), 1), ""},
		"a longer id":          {strings.Replace(score(""), `"a"`, quoted(201), 1), "taskId: has more than 200 bytes"},
		"a blank id":           {strings.Replace(score(""), `"a"`, `" "`, 1), "taskId: is empty"},
		"an id that is a path": {strings.Replace(score(""), `"a"`, `"../a b"`, 1), ""},
		"a long rationale":     {score(`, "judge": {"score0to1": 1, "rationale": ` + quoted(64<<10) + "}"), ""},
		"a longer rationale": {
			score(`, "judge": {"score0to1": 1, "rationale": ` + quoted(64<<10+1) + "}"),
			"judge.rationale: has more than 65536 bytes",
		},
		"a longer model": {
			score(`, "judge": {"score0to1": 1, "model": ` + quoted(201) + "}"),
			"judge.model: has more than 200 bytes",
		},
		"a longer failure": {score(`, "failure": ` + quoted(64<<10+1)), "failure: has more than 65536 bytes"},
		"a longer path":    {score(`, "diff": ` + quoted(10_000)), "diff: has more than"},
		"many checks":      {score(`, "checks": [` + strings.Repeat(check, 199) + `{"passed": true}]`), ""},
		"a check more": {
			score(`, "checks": [` + strings.Repeat(check, 200) + `{"passed": true}]`),
			"checks: has 201 entries; 200 is the most",
		},
		"a check of nothing": {score(`, "checks": [{}]`), "checks[0].passed: is missing"},
		"a longer check": {
			score(`, "checks": [{"passed": true, "name": ` + quoted(64<<10+1) + "}]"),
			"checks[0].name: has more than",
		},
		"many tasks":           {tasks(1000), ""},
		"a task more":          {tasks(1001), "scores: has 1001 entries; 1000 is the most"},
		"many runs":            {`{"runs": [` + strings.Repeat(`{"scores": []},`, 99) + `{"scores": []}]}`, ""},
		"runs of runs":         {`{"runs": [{"runs": [{"scores": []}]}]}`, "runs[0].scores: is missing"},
		"runs that are scores": {`{"runs": {"scores": []}}`, "runs: must be a list"},
		"a run that is a list": {`{"runs": [[]]}`, "runs[0]: must be an object"},
		"a count beyond ints":  {strings.Replace(score(""), `"total": 0`, `"total": 99999999999999999999999`, 1), ""},
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

// TestTheOrderOfFilesDecidesNothing: a suite is in the order of its paths, and its faults
// too, in whatever order its files are found.
func TestTheOrderOfFilesDecidesNothing(t *testing.T) {
	t.Parallel()
	task := func(id, more string) []byte {
		return []byte(fmt.Sprintf(`{"id": %q, "title": "T", "fixtureDir": "fixture", "prompt": "p"%s}`, id, more))
	}
	chance := rand.New(rand.NewPCG(135, 136))
	for name, files := range map[string][]format.File{
		"a good suite": {
			{Path: "a/task.json", Data: task("one", "")},
			{Path: "a-b/task.json", Data: task("two", "")},
			{Path: "a/z/task.json", Data: task("three", "")},
			{Path: "B/task.json", Data: task("four", "")},
		},
		"with faults": {
			{Path: "a/task.json", Data: task("Same", "")},
			{Path: "b/task.json", Data: task("same", "")},
			{Path: "c/task.json", Data: task("sAme", `, "timeoutMs": 0`)},
			{Path: "d/task.json", Data: []byte("{")},
			{Path: "e/task.json", Data: []byte(`{"id": "", "title": 1}`)},
		},
	} {
		var first, said string
		for range 20 {
			shuffled := slices.Clone(files)
			chance.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			before := fmt.Sprint(shuffled)
			tasks, problems := format.Parse(shuffled, dirs)
			require.Equal(t, before, fmt.Sprint(shuffled), "the files stay in their order")
			var paths, lines []string
			for _, task := range tasks {
				paths = append(paths, task.File)
			}
			for _, problem := range problems {
				lines = append(lines, problem.String())
			}
			require.True(t, slices.IsSorted(paths), name)
			all := fmt.Sprint(paths, lines)
			first = firstOf(first, all)
			require.Equal(t, first, all, name)
			said = strings.Join(lines, "\n")
		}
		if name == "with faults" {
			assert.Contains(t, said, `b/task.json:1: id: "same" is the id of a/task.json too`)
			assert.Contains(t, said, `c/task.json:1: id: "sAme" is the id of`)
			assert.NotContains(t, said, `e/task.json:1: id: "" is the id`)
		} else {
			assert.Empty(t, said)
		}
	}
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// TestSoManyTasks: a thousand are a suite, and one more is named.
func TestSoManyTasks(t *testing.T) {
	t.Parallel()
	suite := func(n int) []format.File {
		var files []format.File
		for i := range n {
			files = append(files, format.File{
				Path: fmt.Sprintf("%04d/task.json", i),
				Data: []byte(fmt.Sprintf(`{"id": "t%d", "title": "T", "fixtureDir": "fixture", "prompt": "p"}`, i)),
			})
		}
		return files
	}
	tasks, problems := format.Parse(suite(1000), dirs)
	require.NoError(t, problems.Err())
	assert.Len(t, tasks, 1000)
	tasks, problems = format.Parse(suite(1001), dirs)
	require.EqualError(t, problems.Err(), "1000/task.json: is one task too many; a suite has at most 1000")
	assert.Empty(t, tasks)
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
