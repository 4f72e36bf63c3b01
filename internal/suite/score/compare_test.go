package score_test

import (
	"encoding/json"
	"fmt"
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

func TestHardRules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		baseline, candidate string
		thresholds          func(*score.Thresholds)
		verdict             decision.Verdict
		regressions, notes  []score.ReasonKind
	}{
		"identical runs are no gain, even with a minimum gain of 0": {
			"[" + one("a", 1, 2, "") + "]", "[" + one("a", 1, 2, "") + "]",
			func(t *score.Thresholds) { t.MinCompositeGain = metric.Value{} }, decision.Neutral, nil, nil,
		},
		"a gain of exactly the threshold": {
			"[" + one("a", 1, 1, `, "composite": 0.5`) + "]", "[" + one("a", 1, 1, `, "composite": 0.51`) + "]", nil,
			decision.Neutral, nil, nil,
		},
		"a drop of exactly the threshold": {
			"[" + one("a", 1, 1, `, "composite": 0.5`) + "]", "[" + one("a", 1, 1, `, "composite": 0.45`) + "]", nil,
			decision.Neutral, nil, nil,
		},
		"a tenth of a millionth is rounded away": {
			"[" + one("a", 1, 1, `, "composite": 0.5`) + "]", "[" + one("a", 1, 1, `, "composite": 0.5100004`) + "]",
			nil, decision.Neutral, nil, nil,
		},
		"NaN in a cost": {
			"[" + one("a", 0, 1, "") + "]",
			`[{"taskId": "a", "objective": {"passed": 1, "total": 1}, "cost": {"tokens": NaN}}]`,
			nil, decision.Regressed,
			[]score.ReasonKind{score.NonFiniteKind},
			nil,
		},
		"an infinity in the baseline's cost": {
			`[{"taskId": "a", "objective": {"passed": 0, "total": 1}, "cost": {"tokens": -Infinity}}]`,
			"[" + one("a", 1, 1, "") + "]",
			nil, decision.Regressed,
			[]score.ReasonKind{score.NonFiniteKind},
			nil,
		},
		"a judge's score of null": {
			"[" + one("a", 0, 1, `, "judge": {"score0to1": 0.5}`) + "]",
			"[" + one("a", 1, 1, `, "judge": {"score0to1": null}`) + "]",
			nil, decision.Regressed,
			[]score.ReasonKind{score.NonFiniteKind},
			nil,
		},
		"a total beyond all numbers": {
			"[" + one("a", 0, 1, "") + "]",
			`[{"taskId": "a", "objective": {"passed": 1, "total": 1e400}, "cost": {"tokens": 0}}]`,
			nil, decision.Regressed,
			[]score.ReasonKind{score.NonFiniteKind},
			nil,
		},
		"a composite of null": {
			"[" + one("a", 0, 1, "") + "]", "[" + one("a", 1, 1, `, "composite": null`) + "]",
			nil, decision.Regressed,
			[]score.ReasonKind{score.NonFiniteKind},
			nil,
		},
		"a NaN in a task of the candidate alone": {
			"[" + one("a", 0, 1, "") + "]",
			"[" + one("a", 1, 1, "") + "," + one("b", 1, 1, `, "composite": null`) + "]",
			nil, decision.Regressed,
			[]score.ReasonKind{score.NonFiniteKind},
			[]score.ReasonKind{score.CandidateOnly},
		},
		"a judge on the candidate's side only": {
			"[" + one("a", 1, 2, "") + "," + one("b", 0, 1, "") + "]",
			"[" + one("a", 1, 2, `, "judge": {"score0to1": 1}`) + "," + one("b", 1, 1, "") + "]",
			nil, decision.Neutral, nil,
			[]score.ReasonKind{score.JudgeOneSided},
		},
		"a judge on the baseline's side only hides no drop of the checks": {
			"[" + one("a", 2, 2, `, "judge": {"score0to1": 0}`) + "]", "[" + one("a", 1, 2, "") + "]",
			nil, decision.Regressed,
			[]score.ReasonKind{score.ObjectiveDrop, score.CompositeDrop},
			[]score.ReasonKind{score.JudgeOneSided},
		},
		"two judges": {
			"[" + one("a", 1, 2, `, "judge": {"score0to1": 0, "model": "x"}`) + "]",
			"[" + one("a", 2, 2, `, "judge": {"score0to1": 1, "model": "y"}`) + "]",
			nil, decision.Neutral, nil,
			[]score.ReasonKind{score.JudgeDiffers},
		},
		"a lost task, whatever else rose": {
			"[" + one("a", 0, 9, "") + "," + one("b", 0, 1, "") + "]", "[" + one("a", 9, 9, "") + "]",
			func(t *score.Thresholds) { t.ObjectiveDropIsRegression = false }, decision.Regressed,
			[]score.ReasonKind{score.TaskMissing},
			nil,
		},
		"an empty candidate": {
			"[" + one("a", 0, 1, "") + "]", "[]", nil, decision.Regressed, []score.ReasonKind{score.TaskMissing}, nil,
		},
		"fewer checks passed of fewer": {
			"[" + one("a", 2, 3, "") + "]", "[" + one("a", 1, 1, "") + "]", nil, decision.Regressed,
			[]score.ReasonKind{score.ObjectiveDrop},
			nil,
		},
		"a lower rate of more": {
			"[" + one("a", 2, 3, `, "composite": 0.5`) + "]", "[" + one("a", 3, 6, `, "composite": 0.9`) + "]", nil,
			decision.Regressed,
			[]score.ReasonKind{score.ObjectiveDrop},
			nil,
		},
		"a NaN in totals that nobody reads": {
			"[" + one("a", 0, 1, "") + "]", "[" + one("a", 1, 1, `, "totals": {"all": [1, NaN]}`) + "]",
			nil, decision.Regressed,
			[]score.ReasonKind{score.NonFiniteKind},
			nil,
		},
		"a candidate without its checks": {
			"[" + one("a", 0, 4, "") + "]", "[" + one("a", 0, 0, "") + "]", nil, decision.Neutral, nil,
			[]score.ReasonKind{score.ChecksOneSided},
		},
		"new tasks count for nothing": {
			"[" + one("a", 1, 2, "") + "]", "[" + one("a", 1, 2, "") + "," + one("b", 1, 1, "") + "]", nil,
			decision.Neutral, nil,
			[]score.ReasonKind{score.CandidateOnly},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := score.DefaultThresholds()
			if c.thresholds != nil {
				c.thresholds(&set)
			}
			got := score.Compare(outcome(t, c.baseline), outcome(t, c.candidate), set)
			assert.Equal(t, c.verdict, got.Verdict, got.Summary)
			assert.False(t, got.Promotable)
			assert.ElementsMatch(t, c.regressions, kinds(got.Regressions))
			for _, kind := range c.notes {
				assert.Contains(t, kinds(got.Notes), kind)
			}
		})
	}
}

func TestSingleRunPromotesOnlyWhatCannotVary(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields     string
		promotable bool
	}{
		"no model ran":          {`"cost": {"tokens": 0}`, true},
		"a model ran":           {`"cost": {"tokens": 900}`, false},
		"money was spent":       {`"cost": {"tokens": 0, "costUsd": 0.1}`, false},
		"nothing says so":       {`"cost": {"wallClockMs": 20}`, false},
		"a judge on both sides": {`"cost": {"tokens": 0}, "judge": {"score0to1": 0.5}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scores := func(passed int) string {
				return fmt.Sprintf(`[{"taskId": "a", "objective": {"passed": %d, "total": 2}, %s}]`, passed, c.fields)
			}
			got := score.Compare(outcome(t, scores(1)), outcome(t, scores(2)), score.DefaultThresholds())
			assert.Equal(t, decision.Improved, got.Verdict)
			assert.Equal(t, c.promotable, got.Promotable)
			assert.Contains(t, kinds(got.Notes), score.Unrepeated)
		})
	}
	t.Run("it is only faster", func(t *testing.T) {
		t.Parallel()
		scores := func(passed, ms int) format.SuiteOutcome {
			return outcome(t, fmt.Sprintf(
				`[{"taskId": "a", "objective": {"passed": %d, "total": 9}, "cost": {"tokens": 0, "wallClockMs": %d}}]`,
				passed, ms))
		}
		got := score.Compare(scores(1, 1000), scores(1, 500), score.DefaultThresholds())
		assert.Equal(t, decision.Improved, got.Verdict)
		assert.False(t, got.Promotable, "the next run may take longer again")
		assert.True(t, score.Compare(scores(1, 1000), scores(2, 900), score.DefaultThresholds()).Promotable)
	})
	t.Run("it is declared", func(t *testing.T) {
		t.Parallel()
		said := func(truth string, passed int) format.SuiteOutcome {
			o, problems := format.ParseOutcome("f",
				fmt.Appendf(nil, `{"stochastic": %s, "scores": [{"taskId": "a", "objective": {"passed": %d, "total": 2}}]}`, truth, passed))
			require.NoError(t, problems.Err())
			return o
		}
		assert.True(t, score.Compare(said("false", 1), said("false", 2), score.DefaultThresholds()).Promotable)
		assert.False(t, score.Compare(said("false", 1), said("true", 2), score.DefaultThresholds()).Promotable)
	})
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

func TestRepeats(t *testing.T) {
	t.Parallel()
	low, high := []float64{.50, .51, .49, .50, .52}, []float64{.80, .81, .79, .82, .80}
	bounced := []float64{.9, .2, .9, .2, .6}
	for name, c := range map[string]struct {
		baseline, candidate format.SuiteOutcome
		verdict             decision.Verdict
		promotable          bool
		kind                score.ReasonKind
	}{
		"a clear gain": {repeated(low), repeated(high), decision.Improved, true, ""},
		"a clear drop": {
			repeated(high), repeated(low), decision.Regressed, false,
			score.CompositeDrop,
		},
		"a gain that may be chance": {
			repeated(bounced), repeated([]float64{.9, .9, .9, .2, .6}),
			decision.Neutral, false, score.NotSignificant,
		},
		"a drop that may be chance": {
			repeated([]float64{.9, .9, .9, .2, .6}), repeated(bounced),
			decision.Neutral, false, score.NotSignificant,
		},
		"two runs can never show it": {
			repeated(low[:2]), repeated(high[:2]), decision.Neutral, false,
			score.NotSignificant,
		},
		"one run beside five": {
			repeated(low[:1]), repeated(high), decision.Neutral, false,
			score.NotSignificant,
		},
		"a clear gain beside a clear drop": {
			repeated(low, low, high), repeated(high, high, low), decision.Regressed,
			false, score.CompositeDrop,
		},
		"a drop among thirty tasks": {
			repeated(append(thirty(bounced), high)...),
			repeated(append(thirty(bounced), low)...), decision.Regressed, false, score.CompositeDrop,
		},
		"a run without the task": {
			repeated(low, low), repeated(high, high[:4]), decision.Regressed, false,
			score.TaskMissing,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := score.Compare(c.baseline, c.candidate, score.DefaultThresholds())
			assert.Equal(t, c.verdict, got.Verdict, got.Summary)
			assert.Equal(t, c.promotable, got.Promotable)
			if c.kind != "" {
				assert.Contains(t, append(kinds(got.Regressions), kinds(got.Notes)...), c.kind)
			}
			assert.Equal(t, got, score.Compare(c.baseline, c.candidate, score.DefaultThresholds()),
				"the same outcomes, the same verdict")
		})
	}
}

func thirty(composites []float64) [][]float64 {
	list := make([][]float64, 29)
	for i := range list {
		list[i] = composites
	}
	return list
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

func TestFlakyChecks(t *testing.T) {
	t.Parallel()
	compare := func(a, b format.SuiteOutcome) score.Comparison { return score.Compare(a, b, score.DefaultThresholds()) }
	assert.Equal(t, decision.Neutral, compare(checked(4, 4, 4, 4, 4), checked(4, 3, 3, 4, 3)).Verdict,
		"one run as good as the worst")
	got := compare(checked(4, 4, 3, 4, 4), checked(2, 2, 1, 2, 2))
	assert.Contains(t, kinds(got.Regressions), score.ObjectiveDrop)
	assert.Equal(t, decision.Improved, compare(checked(2, 2, 1, 2, 2), checked(4, 4, 3, 4, 4)).Verdict)
}

func TestEnoughRuns(t *testing.T) {
	t.Parallel()
	assert.False(t, score.EnoughRuns(1, 3), "1/20")
	assert.True(t, score.EnoughRuns(1, 4), "1/70")
	assert.False(t, score.EnoughRuns(2, 2), "1/36")
	assert.True(t, score.EnoughRuns(3, 2), "1/216")
	assert.False(t, score.EnoughRuns(0, 5))
	assert.False(t, score.EnoughRuns(1000, 0))
}

func TestMetricIsTheMeanBase(t *testing.T) {
	t.Parallel()
	o := outcome(t, "["+one("a", 1, 2, `, "composite": 0.9`)+","+one("b", 1, 1,
		`, "judge": {"score0to1": 0.5}, "judgeWeight": 0.6`)+"]")
	metric, ok := score.Metric(o)
	require.True(t, ok)
	assert.Equal(t, "0.625", metric.String(), "(0.5 + 0.75) / 2, without what the file says of composites")
	_, ok = score.Metric(outcome(t, "[]"))
	assert.False(t, ok)
}

func TestComparisonAsJSON(t *testing.T) {
	t.Parallel()
	got := score.Compare(outcome(t, "["+one("a", 0, 1, "")+"]"),
		outcome(t, "["+one("a", 1, 1, `, "composite": null`)+"]"), score.DefaultThresholds())
	data, err := json.Marshal(got)
	require.NoError(t, err)
	var keys map[string]any
	require.NoError(t, json.Unmarshal(data, &keys))
	for _, key := range []string{
		"verdict", "promotable", "perTaskDeltas", "regressions", "improvements",
		"netCompositeGain", "summary", "totals",
	} {
		assert.Contains(t, keys, key)
	}
	assert.Nil(t, keys["netCompositeGain"])
	assert.Equal(t, []any{}, keys["improvements"], "an empty list, not null")
}
