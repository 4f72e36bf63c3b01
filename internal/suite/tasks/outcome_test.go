package tasks_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/suite/tasks"
	"github.com/org/autoloop/tests/golden"
)

// score is a task of an outcome, with more keys.
func score(id string, passed int, more string) string {
	return fmt.Sprintf(`{"taskId": %q, "objective": {"passed": %d, "total": 9}%s}`, id, passed, more)
}

func outcome(t *testing.T, text string) tasks.SuiteOutcome {
	t.Helper()
	o, err := tasks.ParseOutcome("o", []byte(text))
	require.NoError(t, err)
	return o
}

// whole is a score with all keys, a part of which is given.
const whole = `{"taskId": "a", "judgeWeight": 0.2, "objective": {"passed": 1, "total": 2},
	"judge": {"score0to1": 0.5, "rationale": "r", "model": "m"},
	"cost": {"tokens": 12345678901234567890, "toolCalls": 2, "steps": 3, "wallClockMs": 4, "costUsd": 0.1},
	"composite": 0.4, "checks": [{"kind": "k", "name": "n", "passed": true, "detail": "d"}], "failure": "f",
	"transcript": "t", "diff": "d"}`

// TestNullInAnOutcome: of each key it is said what null, another type and nothing at all
// stand for; unknown keys are nothing.
func TestNullInAnOutcome(t *testing.T) {
	t.Parallel()
	decode := func(text []byte) (value map[string]any) {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		require.NoError(t, decoder.Decode(&value))
		return value
	}
	// parse reads a changed score, and says what is written of it and what was to be.
	parse := func(change func(map[string]any)) (got, want map[string]any, err error) {
		score := decode([]byte(whole))
		score["unknown"] = []int{1}
		change(score)
		text, err := json.Marshal(map[string]any{"scores": []any{score}})
		require.NoError(t, err)
		o, err := tasks.ParseOutcome("o", text)
		if err != nil {
			return nil, nil, err
		}
		delete(score, "unknown")
		if score["cost"] == nil {
			score["cost"] = tasks.Cost{}
		}
		maps.DeleteFunc(score, func(_ string, value any) bool { return value == nil })
		text, err = json.Marshal(map[string]any{"configLabel": "", "scores": []any{score}})
		require.NoError(t, err)
		written, err := json.Marshal(o)
		require.NoError(t, err)
		return decode(written), decode(text), nil
	}
	for key, says := range map[string]string{
		"taskId": "must be a text, not the number 7", "objective": "must be an object", "judge": "must be an object",
		"judgeWeight": "must be a number", "cost": "must be an object", "composite": "must be a number",
		"failure": "must be a text", "transcript": "must be a text", "diff": "must be a text", "checks": "must be a list",
	} {
		needed := key == "taskId" || key == "objective"
		for _, change := range []func(map[string]any){
			func(score map[string]any) { score[key] = nil }, func(score map[string]any) { delete(score, key) },
		} {
			got, want, err := parse(change)
			assert.Equal(t, needed, err != nil, key)
			assert.Equal(t, want, got, key)
		}
		var other any = 7
		if strings.HasSuffix(says, "number") {
			other = "7"
		}
		_, _, err := parse(func(score map[string]any) { score[key] = other })
		require.ErrorContains(t, err, "scores[0]."+key+": "+says)
	}
	for i, part := range []string{"costUsd", "tokens", "toolCalls", "steps", "wallClockMs"} {
		for value, want := range map[string]string{
			"0": "0", "-0.0": "0", "1e-400": "1e-400", "null": "null", "1e999": "null", "-Infinity": "null",
		} {
			o := outcome(t, `{"scores": [`+score("a", 1, fmt.Sprintf(`, "cost": {%q: %s}`, part, value))+`]}`)
			text, err := json.Marshal(tasks.Places(&o.Scores[0].Runs[0].Cost))
			require.NoError(t, err)
			list := strings.Split("null,null,null,null,null", ",")
			list[i] = want
			assert.Equal(t, "["+strings.Join(list, ",")+"]", string(text), "%s: %s", part, value)
		}
		_, err := tasks.ParseOutcome(
			"o",
			[]byte(`{"scores": [`+score("a", 1, `, "cost": {"`+part+`": -1e-30}`)+`]}`),
		)
		require.ErrorContains(t, err, "scores[0].cost."+part+": is -1e-30; it must be 0 or more")
	}
}

// TestOutcomes has the last value that is taken, and, with what is said of it in testdata, the
// first that is not.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	one := func(more string) string { return `{"scores": [` + score("a", 1, more) + `]}` }
	counts := func(passed, total string) string {
		return `{"scores": [{"taskId": "../a b", "objective": {"passed": ` + passed + `, "total": ` + total + `}}]}`
	}
	some := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, score(fmt.Sprint(i), 0, ""))
		}
		return `{"scores": [` + strings.Join(list, ",") + "]}"
	}
	checks := func(n int) string {
		return one(`, "checks": [` + strings.TrimSuffix(strings.Repeat(`{"passed": true},`, n), ",") + `]`)
	}
	const most, big = "9007199254740992", "9007199254740993"
	golden.Table(t, map[string]string{
		"half a check":         counts("0.5", "2"),
		"fewer than none":      counts("-1", "2"),
		"more than there are":  counts("3", "2"),
		"a count beyond ints":  counts("0", big),
		"as many as there are": counts(most, most) + "=>",
		"one more than that":   counts(most, most[:15]+"1"),
		"a count of 2.0":       counts("0", "2.0") + "=>",
		"a hair more than 2":   counts("0", "2.00000000000000000000001"),
		"NaN of something":     counts("NaN", "1") + "=>",
		"a judge beyond 1":     one(`, "judge": {"score0to1": 8}`),
		"a composite beyond 1": one(`, "composite": 1.01`),
		"no runs":              `{"runs": []}`,
		"runs beside scores":   `{"runs": [], "scores": []}`,
		"runs of runs":         `{"runs": [{"runs": [{"scores": []}]}]}`,
		"many runs":            `{"runs": [` + strings.Repeat(`{"scores": []},`, 99) + `{"scores": []}]} =>`,
		"twice in one run": `{"runs": [{"scores": []}, {"scores": [` + score("a", 1, "") + "," + score("a", 1, "") +
			`]}]}`,
		"scores of a number": `{"scores": 1}`,
		"a longer label":     `{"scores": [], "configLabel": "` + strings.Repeat("x", 201) + `"}`,
		"a longer rationale": one(
			`, "judge": {"score0to1": 1, "rationale": "` + strings.Repeat("x", 64<<10+1) + `"}`,
		),
		"many checks":  checks(200) + "=>",
		"a check more": checks(201),
		"many tasks":   some(1000) + "=>",
		"a task more":  some(1001),
		"no chance, but a judge": `{"stochastic": false, "scores": [` + score(
			"a",
			1,
			`, "judge": {"score0to1": 1}`,
		) + `]}`,
		"no chance, but tokens": `{"stochastic": false, "scores": [` + score("a", 1, `, "cost": {"tokens": 1}`) + `]}`,
		"no chance, but money": `{"stochastic": false, "scores": [` + score(
			"a",
			1,
			`, "cost": {"costUsd": 0.1}`,
		) + `]}`,
		"a fault in each line": `{"configLabel": 7,
			"stochastic": "no",
			"scores": [
			{"taskId": "a",
			"objective": {"passed": 3, "total": 2},
			"judge": {"score0to1": -0.1},
			"judgeWeight": 2,
			"cost": {"tokens": -1, "steps": "x"},
			"checks": [{"name": "n"}],
			"composite": true},
			{"taskId": "a", "objective": {"passed": 0}}]}`,
	}, func(t *testing.T, text string) any {
		t.Helper()
		_, err := tasks.ParseOutcome("o", []byte(text))
		if err != nil {
			return err
		}
		return ""
	})
}

// TestRunsAreOneOutcome: a task's runs are in the order of the file's, whatever is said
// once of all, or differently in some; and so it is written.
func TestRunsAreOneOutcome(t *testing.T) {
	t.Parallel()
	o := outcome(t, `{"configLabel": "first", "stochastic": false, "runs": [
		{"scores": [`+score("a", 1, `, "judgeWeight": 0.1`)+","+score("b", 2, "")+`]},
		{"configLabel": "later", "stochastic": null, "scores": [`+score("b", 3, "")+","+score("a", 4,
		`, "judgeWeight": 0.9`)+`]},
		{"scores": [`+score("c", 5, "")+`]}]}`)
	var runs []string
	for _, s := range o.Scores {
		for _, run := range s.Runs {
			runs = append(runs, fmt.Sprint(s.TaskID, run.Objective.Passed))
		}
	}
	assert.Equal(t, []string{"a1", "a4", "b2", "b3", "c5"}, runs)
	assert.Equal(t, 3, o.Runs(), "also where a run has none of the tasks of the others")
	assert.Equal(t, "0.1", o.Scores[0].JudgeWeight.String(), "the first weight counts")
	assert.False(t, *o.Stochastic)
	written := func(o tasks.SuiteOutcome) tasks.SuiteOutcome {
		text, err := json.Marshal(o)
		require.NoError(t, err)
		return outcome(t, string(text))
	}
	assert.Equal(t, 3, written(o).Runs())
	assert.Equal(t, 2, outcome(t, `{"runs": [{"scores": [`+score("a", 1, "")+`]}, {"scores": []}]}`).Runs())
	several := tasks.SuiteOutcome{ConfigLabel: "c"}
	for i, runs := range []int{3, 1, 2} {
		s := tasks.Score{TaskID: fmt.Sprint("t", i)}
		for k := range runs {
			s.Runs = append(s.Runs, tasks.Run{Objective: tasks.Objective{Passed: k, Total: 9}})
		}
		several.Scores = append(several.Scores, s)
	}
	assert.Equal(t, several, written(several))
	several.Scores = several.Scores[1:2]
	assert.Equal(t, several, written(several), "of one run")
	assert.True(t, *outcome(t, `{"stochastic": false, "runs": [{"stochastic": true, "scores": []}, `+
		`{"stochastic": false, "scores": []}]}`).Stochastic, "one run in which chance was at work is enough")
	assert.Nil(t, outcome(t, `{"scores": []}`).Stochastic)
	apart := outcome(t, `{"runs": [{"interleaved": false, "scores": []}, {"interleaved": true, "scores": []}]}`)
	assert.False(t, *apart.Interleaved, "one run that was not made in turns is enough")
	assert.Equal(t, "extra.b", outcome(t, `{"scores": [], "extra": {"a": 1, "b": NaN}}`).NonFiniteAt)
	assert.Equal(t, ".extra.b", outcome(t, `{"scores": [], ".extra": {"b": NaN}}`).NonFiniteAt)
}

// TestStochasticOutcomes: whether another run could come out otherwise, of a run with no token and one
// with these keys.
func TestStochasticOutcomes(t *testing.T) {
	t.Parallel()
	for varies, rows := range map[bool][]string{ // what is said of the outcome, and the run's keys
		true: {
			`null`, `null, "cost": {"tokens": 1}`,
			`null, "cost": {"tokens": 0, "costUsd": 0.01}`, `null, "cost": {"tokens": 0}, "judge": {"score0to1": 0}`,
			`true, "cost": {"tokens": 0}`, `true`,
		},
		false: {
			`null, "cost": {"tokens": 0}`, `false`, `null, "cost": {"tokens": 0, "costUsd": 0}`,
			`null, "cost": {"tokens": 0, "steps": 9, "toolCalls": 9, "wallClockMs": 9}`,
			`null, "cost": {"tokens": 0}, "failure": "crashed"`,
		},
	} {
		for _, row := range rows {
			said, more, _ := strings.Cut(row, ",")
			if more != "" {
				more = "," + more
			}
			o := outcome(t, `{"stochastic": `+said+`, "scores": [`+score("b", 1, `, "cost": {"tokens": 0}`)+","+
				score("a", 1, more)+`]}`)
			assert.Equal(t, varies, o.MayVary(), row)
			if o.Stochastic == nil && varies && more != "" {
				o.Stochastic = new(false)
				assert.True(t, o.MayVary(), "%s: whatever is said", row)
			}
		}
	}
	assert.False(t, tasks.SuiteOutcome{}.MayVary())
}

// TestFirstNonFiniteNumber names it, in the order of the file.
func TestFirstNonFiniteNumber(t *testing.T) {
	t.Parallel()
	text := `{"scores": [{"taskId": "a", "objective": {"passed": NaN, "total": NaN}, "judge": {"score0to1": NaN},
		"composite": NaN, "cost": {"costUsd": NaN, "tokens": NaN, "toolCalls": NaN, "steps": NaN, "wallClockMs": NaN}}]}`
	for name := range strings.FieldsSeq("objective.passed objective.total judge.score0to1 composite cost.costUsd " +
		"cost.tokens cost.toolCalls cost.steps cost.wallClockMs") {
		assert.Equal(t, name, outcome(t, text).Scores[0].Runs[0].NonFinite)
		text = strings.Replace(text, "NaN", "1", 1)
	}
	assert.Empty(t, outcome(t, text).Scores[0].Runs[0].NonFinite)
}

func TestCostsAddWhereBothAreKnown(t *testing.T) {
	t.Parallel()
	read := func(text string) (cost tasks.Cost) {
		require.NoError(t, json.Unmarshal([]byte(text), &cost))
		return cost
	}
	a := read(`{"tokens": 1, "toolCalls": 2, "costUsd": 0.1}`)
	b := read(`{"tokens": 10, "steps": 4, "wallClockMs": 1, "costUsd": 0.2}`)
	for _, sum := range []tasks.Cost{a.Plus(b), b.Plus(a)} {
		text, err := json.Marshal(sum)
		require.NoError(t, err)
		assert.JSONEq(t, `{"tokens": 11, "toolCalls": null, "steps": null, "wallClockMs": null, "costUsd": 0.3}`,
			string(text))
	}
	assert.Equal(t, "1", a.Tokens.String(), "the terms stay as they are")
}

func TestRateOfChecks(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]tasks.Objective{
		"2/3": {Passed: 2, Total: 3}, "1/1": {}, "0/1": {Total: 7},
	} {
		assert.Equal(t, want, o.Rate().String())
	}
}
