package score_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/score"
)

// one is a task that was run once, without a model.
func one(id string, passed, total int, more string) string {
	return fmt.Sprintf(`{"taskId": %q, "objective": {"passed": %d, "total": %d}, "cost": {"tokens": 0} %s}`, id, passed,
		total, more)
}

func kinds(reasons []score.Reason) []score.ReasonKind {
	list := []score.ReasonKind{}
	for _, r := range reasons {
		list = append(list, r.Kind)
	}
	return list
}

// repeated builds an outcome of one task a list, each with the composites of
// its runs.
func repeated(tasks ...[]float64) format.SuiteOutcome {
	var o format.SuiteOutcome
	for i, composites := range tasks {
		s := format.Score{TaskID: fmt.Sprintf("t%d", i)}
		for _, c := range composites {
			given := metric.NumberFromFloat(c)
			s.Runs = append(s.Runs, format.Run{Objective: format.Passed(1, 1), Composite: &given})
		}
		o.Scores = append(o.Scores, s)
	}
	return o
}

// checked builds an outcome of one task with that many of four checks passed in
// each run.
func checked(passed ...int) format.SuiteOutcome {
	s := format.Score{TaskID: "a"}
	for _, n := range passed {
		s.Runs = append(s.Runs, format.Run{Objective: format.Passed(n, 4)})
	}
	return format.SuiteOutcome{Scores: []format.Score{s}}
}

func TestHardRules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		baseline, candidate string
		verdict             decision.Verdict
		regressions         []score.ReasonKind
		note                score.ReasonKind
	}{
		"a drop of exactly the threshold": {
			one("a", 1, 1, `, "composite": 0.5`), one("a", 1, 1, `, "composite": 0.45`), decision.Neutral, nil, "",
		},
		"a tenth of a millionth is rounded away": {
			one("a", 1, 1, `, "composite": 0.5`), one("a", 1, 1, `, "composite": 0.5100004`), decision.Neutral, nil, "",
		},
		"an infinity in the baseline's cost": {
			`{"taskId": "a", "objective": {"passed": 0, "total": 1}, "cost": {"tokens": -Infinity}}`, one("a",
				1, 1, ""),
			decision.Regressed,
			[]score.ReasonKind{score.NonFiniteKind},
			"",
		},
		"a NaN in a task of the candidate alone": {
			one("a", 0, 1, ""), one("a", 1, 1, "") + "," + one("b", 1, 1, `, "composite": null`), decision.Regressed,
			[]score.ReasonKind{score.NonFiniteKind},
			score.CandidateOnly,
		},
		"a judge on the baseline's side only hides no drop of the checks": {
			one("a", 2, 2, `, "judge": {"score0to1": 0}`), one("a", 1, 2, ""), decision.Regressed,
			[]score.ReasonKind{score.ObjectiveDrop, score.CompositeDrop},
			score.JudgeOneSided,
		},
		"fewer checks passed of fewer": {
			one("a", 2, 3, ""), one("a", 1, 1, ""), decision.Regressed, []score.ReasonKind{score.ObjectiveDrop}, "",
		},
		"a lower rate of more": {
			one("a", 2, 3, `, "composite": 0.5`), one("a", 3, 6, `, "composite": 0.9`), decision.Regressed,
			[]score.ReasonKind{score.ObjectiveDrop},
			"",
		},
		"a judge on one side overrules given composites": {
			one("a", 1, 2, `, "composite": 0.1`), one("a", 1, 2, `, "composite": 0.9, "judge": {"score0to1": 1}`),
			decision.Neutral, nil, score.JudgeOneSided,
		},
	} {
		got := score.Compare(outcome(t, "["+c.baseline+"]"), outcome(t, "["+c.candidate+"]"), score.DefaultThresholds())
		assert.Equal(t, c.verdict, got.Verdict, "%s: %s", name, got.Summary)
		assert.False(t, got.Promotable, name)
		assert.ElementsMatch(t, c.regressions, kinds(got.Regressions), name)
		if c.note != "" {
			assert.Contains(t, kinds(got.Notes), c.note, name)
		}
	}
}

func TestSingleRunPromotesOnlyWhatCannotVary(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		baseline, candidate, fields string // of four checks one passes, and then two
		promotable                  bool
	}{
		"no model ran":          {"", "", `"cost": {"tokens": 0}`, true},
		"a model ran":           {"", "", `"cost": {"tokens": 900}`, false},
		"money was spent":       {"", "", `"cost": {"tokens": 0, "costUsd": 0.1}`, false},
		"nothing says so":       {"", "", `"cost": {"wallClockMs": 20}`, false},
		"a judge on both sides": {"", "", `"cost": {"tokens": 0}, "judge": {"score0to1": 0.5}`, false},
		"declared":              {`"stochastic": false,`, `"stochastic": false,`, `"cost": {}`, true},
		"declared on one side":  {`"stochastic": false,`, `"stochastic": true,`, `"cost": {}`, false},
	} {
		side := func(truth string, passed int) format.SuiteOutcome {
			o, problems := format.ParseOutcome("f", fmt.Appendf(nil, `{%s "scores": [{"taskId": "a",
				"objective": {"passed": %d, "total": 4}, %s}]}`, truth, passed, c.fields))
			require.NoError(t, problems.Err())
			return o
		}
		got := score.Compare(side(c.baseline, 1), side(c.candidate, 2), score.DefaultThresholds())
		assert.Equal(t, decision.Improved, got.Verdict, name)
		assert.Equal(t, c.promotable, got.Promotable, name)
		assert.Contains(t, kinds(got.Notes), score.Unrepeated, name)
	}
	timed := func(passed, ms int) format.SuiteOutcome {
		return outcome(t, fmt.Sprintf(`[{"taskId": "a", "objective": {"passed": %d, "total": 9},
			"cost": {"tokens": 0, "wallClockMs": %d}}]`, passed, ms))
	}
	got := score.Compare(timed(1, 1000), timed(1, 500), score.DefaultThresholds())
	assert.Equal(t, decision.Improved, got.Verdict)
	assert.False(t, got.Promotable, "it is only faster; the next run may take longer again")
	assert.True(t, score.Compare(timed(1, 1000), timed(2, 900), score.DefaultThresholds()).Promotable)
}

func TestRepeats(t *testing.T) {
	t.Parallel()
	low, high := []float64{.50, .51, .49, .50, .52}, []float64{.80, .81, .79, .82, .80}
	bounced, risen := []float64{.9, .2, .9, .2, .6}, []float64{.9, .9, .9, .2, .6}
	type side = [][]float64
	for name, c := range map[string]struct {
		baseline, candidate side
		verdict             decision.Verdict
		promotable          bool
		kind                score.ReasonKind
	}{
		"a clear gain":              {side{low}, side{high}, decision.Improved, true, ""},
		"a clear drop":              {side{high}, side{low}, decision.Regressed, false, score.CompositeDrop},
		"a gain that may be chance": {side{bounced}, side{risen}, decision.Neutral, false, score.NotSignificant},
		"a drop that may be chance": {side{risen}, side{bounced}, decision.Neutral, false, score.NotSignificant},
		"one run beside five":       {side{low[:1]}, side{high}, decision.Neutral, false, score.NotSignificant},
		"a clear gain beside a clear drop": {
			side{low, low, high}, side{high, high, low}, decision.Regressed, false, score.CompositeDrop,
		},
		"a drop among thirty tasks": {
			append(thirty(bounced), high), append(thirty(bounced), low), decision.Regressed, false, score.CompositeDrop,
		},
		"a run of the candidate without the task": {
			side{low, low}, side{high, high[:4]}, decision.Regressed, false, score.TaskMissing,
		},
		"a run of the baseline without the task": {
			side{low, low[:4]}, side{high, high}, decision.Regressed, false, score.TaskMissing,
		},
	} {
		got := score.Compare(repeated(c.baseline...), repeated(c.candidate...), score.DefaultThresholds())
		assert.Equal(t, c.verdict, got.Verdict, "%s: %s", name, got.Summary)
		assert.Equal(t, c.promotable, got.Promotable, name)
		if c.kind != "" {
			assert.Contains(t, append(kinds(got.Regressions), kinds(got.Notes)...), c.kind, name)
		}
	}
}

func thirty(composites []float64) [][]float64 { return slices.Repeat([][]float64{composites}, 29) }

// TestChancesAreCounted: of all ways to label the runs, those that are as far apart.
func TestChancesAreCounted(t *testing.T) {
	t.Parallel()
	type side = [][]float64
	low, high := []float64{.1, .2, .1, .2}, []float64{.8, .9, .8, .9}
	for name, c := range map[string]struct {
		baseline, candidate side
		shared              bool
		gain, drop          float64 // drop is the first task's, 0 where it did not drop
		promotable          bool
	}{
		"four runs":         {side{low}, side{high}, false, 1. / 70, 0, true},
		"three runs":        {side{low[:3]}, side{high[:3]}, false, 1. / 20, 0, false},
		"four beside three": {side{low}, side{high[:3]}, false, 1. / 35, 0, false},
		"two tasks of two":  {side{low[:2], low[:2]}, side{high[:2], high[:2]}, false, 1. / 36, 0, false},
		"three tasks of two": {
			side{low[:2], low[:2], low[:2]}, side{high[:2], high[:2], high[:2]}, false, 1. / 216, 0, true,
		},
		"whole runs":              {side{low[:2], low[:2]}, side{high[:2], high[:2]}, true, 1. / 6, 0, false},
		"one arrangement further": {side{{.1, .4}}, side{{.3, .9}}, false, 2. / 6, 0, false},
		"drops of two tasks":      {side{high[:2], high[:2]}, side{low[:2], low[:2]}, false, 1, 11. / 36, false},
		"drops of whole runs":     {side{high[:2], high[:2]}, side{low[:2], low[:2]}, true, 1, 1. / 6, false},
	} {
		set := score.DefaultThresholds()
		set.Shared = c.shared
		got := score.Compare(repeated(c.baseline...), repeated(c.candidate...), set)
		assert.InDelta(t, c.gain, *got.PValue, 1e-9, name)
		assert.Equal(t, c.promotable, got.Promotable, name)
		if c.drop > 0 {
			assert.InDelta(t, c.drop, *got.Deltas[0].PValue, 1e-9, name)
		}
		if c.gain < 1 && len(c.baseline[0]) == len(c.candidate[0]) && !c.shared {
			assert.Equal(t, c.promotable, score.EnoughRuns(len(c.baseline), len(c.baseline[0])), name)
		}
	}
	assert.False(t, score.EnoughRuns(0, 5))
	assert.False(t, score.EnoughRuns(1000, 0))
}

// TestManyArrangementsAreDrawn beyond what can be counted, the same each time, and a chance is never nothing.
func TestManyArrangementsAreDrawn(t *testing.T) {
	t.Parallel()
	side := func(from float64) []float64 {
		list := make([]float64, 9) // 48,620 arrangements
		for i := range list {
			list[i] = from + float64(i)/100
		}
		return list
	}
	for _, shared := range []bool{false, true} {
		set := score.DefaultThresholds()
		set.Shared = shared
		low, high := repeated(side(0.2), side(0.3)), repeated(side(0.6), side(0.7))
		up, down := score.Compare(low, high, set), score.Compare(high, low, set)
		assert.True(t, up.Promotable, up.Summary)
		assert.Positive(t, *up.PValue)
		assert.Less(t, *up.PValue, 0.001)
		assert.Equal(t, decision.Regressed, down.Verdict)
		assert.InDelta(t, 1, *down.PValue, 0.001)
		for _, d := range down.Deltas {
			assert.Positive(t, *d.PValue)
			assert.Less(t, *d.PValue, 0.01)
		}
		assert.Equal(t, down, score.Compare(high, low, set))
	}
	slight := score.Compare(repeated(side(0.2)), repeated(side(0.215)), score.DefaultThresholds())
	assert.InDelta(t, 0.14, *slight.PValue, 0.02, "as when all are counted")
}

// TestMetricIsTheMeanBase over the tasks, whatever a file says of composites and costs.
func TestMetricIsTheMeanBase(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ scores, want string }{
		"nothing": {"", ""},
		"a number that is not finite": {
			one("a", 1, 1, "") + `,{"taskId": "b", "objective": {"passed": 1, "total": NaN}}`, "",
		},
		"a judge of none":         {one("a", 1, 2, `, "judge": {"score0to1": NaN}`), ""},
		"a composite of the file": {one("a", 1, 2, `, "composite": 0.9`), "0.5"},
		"a judge and his weight":  {one("a", 1, 3, `, "judge": {"score0to1": 1}, "judgeWeight": 0.2`), "0.5"},
		"a weight without judge":  {one("a", 1, 3, `, "judgeWeight": 0.2`), "0.333333"},
		"tasks weigh alike":       {one("a", 0, 9, "") + "," + one("b", 1, 1, ""), "0.5"},
		"without checks":          {one("a", 0, 0, "") + "," + one("b", 0, 1, ""), "0.5"},
		"added before rounding": {
			one("a", 1, 3, "") + "," + one("b", 1, 3, "") + "," + one("c", 1, 3, "") + "," + one("d", 2, 3, ""),
			"0.416667",
		},
	} {
		o := outcome(t, "["+c.scores+"]")
		got, ok := score.Metric(o)
		assert.Equal(t, c.want != "", ok, name)
		if ok {
			assert.Equal(t, c.want, got.String(), name)
			if base, _ := score.Base(o.Scores[0].Runs[0], o.Scores[0].JudgeWeight); len(o.Scores) == 1 {
				assert.Equal(t, c.want, base.String(), name)
			}
		}
	}
	_, ok := score.Metric(format.SuiteOutcome{Scores: []format.Score{{TaskID: "a"}}})
	assert.False(t, ok, "a task without a run")
}

// TestFlakyChecks: a candidate is held to the worst run of the baseline.
func TestFlakyChecks(t *testing.T) {
	t.Parallel()
	set := score.DefaultThresholds()
	compare := func(a, b format.SuiteOutcome) score.Comparison { return score.Compare(a, b, set) }
	assert.Equal(t, decision.Neutral, compare(checked(4, 4, 4, 4, 4), checked(4, 3, 3, 4, 3)).Verdict,
		"one run as good as the worst")
	assert.Contains(t, kinds(compare(checked(4, 4, 3, 4, 4), checked(2, 2, 1, 2, 2)).Regressions), score.ObjectiveDrop)
	set.RegressionCompositeDrop = metric.FromInt(1)
	flaky := checked(4, 4, 4, 4, 2)
	assert.Equal(t, decision.Neutral, compare(flaky, checked(2, 2, 2, 2, 2)).Verdict, "as good as the worst")
	assert.Equal(t, decision.Regressed, compare(flaky, checked(1, 1, 1, 1, 1)).Verdict)
}

func TestComparisonAsJSON(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(score.Compare(outcome(t, "["+one("a", 0, 1, "")+"]"),
		outcome(t, "["+one("a", 1, 1, `, "composite": null`)+"]"), score.DefaultThresholds()))
	require.NoError(t, err)
	assert.Contains(t, string(data), `"netCompositeGain":null`)
	assert.Contains(t, string(data), `"improvements":[]`, "an empty list, not null")
}
