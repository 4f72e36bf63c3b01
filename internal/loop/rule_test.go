package loop

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/metric"
)

// TestRuleOfProgram, before anything is known of its evaluation.
func TestRuleOfProgram(t *testing.T) {
	t.Parallel()
	usual := func(change func(*decision.Rule)) decision.Rule {
		rule := decision.Rule{
			Version: decision.RuleVersion, Regime: decision.Repeatable, Pairs: 8, Confidence: 0.95,
			CheckTooGood: true,
		}
		change(&rule)
		return rule
	}
	for name, c := range map[string]struct {
		front string
		want  decision.Rule
	}{
		"one run": {"evaluation-runs: 1", usual(func(r *decision.Rule) { r.Regime = decision.Single })},
		"a guardrail": {
			"guardrails:\n  - metric: size\n    direction: lower\n    max-regression: 5%",
			usual(func(r *decision.Rule) {
				r.Guardrails = []decision.Guardrail{{
					Metric: "size", Direction: metric.Lower,
					MaxRegression: decision.Allowance{Value: metric.MustValue("5"), Percent: true},
				}}
			}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := AskedRule(programOf(t, c.front))
			assert.Equal(t, c.want, got)
			if got.Regime == decision.Repeatable {
				assert.True(t, statistics.Reachable(got.Pairs, got.Pairs, got.Confidence),
					"as many pairs can show a difference")
			}
		})
	}
}

// TestRuleOfKnownNoise: a program that leaves it open is noisy from when two runs
// differed, and gets as many pairs again where its time has room for them.
func TestRuleOfKnownNoise(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		front    string
		sum      history.Summary
		regime   decision.Regime
		pairs    int
		maxPairs int
	}{
		"noisy":                            {"", history.Summary{Noisy: true, Seconds: 1}, decision.Noisy, 8, 16},
		"noisy, and so many are asked for": {"evaluation-runs: 5", history.Summary{Noisy: true}, decision.Noisy, 5, 0},
		"as long as there is time": {
			"timeout-minutes: 71",
			history.Summary{Seconds: 60},
			decision.Repeatable, 8,
			16,
		},
		"a second more": {
			"timeout-minutes: 71",
			history.Summary{Seconds: 60.1},
			decision.Repeatable, 8,
			0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := journalOf(t, c.front)
			j.records.Summary = c.sum
			got := j.rule()
			assert.Equal(t, []any{c.regime, c.pairs, c.maxPairs}, []any{got.Regime, got.Pairs, got.MaxPairs})
		})
	}
}

// TestRepeatsThatDoNotFit: the reason names the time that is needed, and with that time
// they do fit.
func TestRepeatsThatDoNotFit(t *testing.T) {
	t.Parallel()
	advised := regexp.MustCompile("`timeout-minutes: ([0-9]+)`")
	for _, c := range []struct{ seconds, prepare float64 }{{60, 0}, {61.5, 30}, {300, 1}, {3, 2000}, {16.2, 0}} {
		j := journalOf(t, "evaluation-runs: 8\ntimeout-minutes: 10")
		problem := j.exceedsTimeLimit(c.seconds, c.prepare)
		require.NotEmpty(t, problem, "%v", c)
		assert.Contains(t, problem.String(), "8 pairs of runs")
		assert.Contains(t, decision.Text(problem), "more than timeout-minutes 10:")
		minutes, err := strconv.Atoi(advised.FindStringSubmatch(problem.String())[1])
		require.NoError(t, err)
		j.Program.Timeout = time.Duration(minutes) * time.Minute
		assert.Empty(t, j.exceedsTimeLimit(c.seconds, c.prepare))
		assert.Empty(t, j.exceedsTimeLimit(c.seconds*1.2, c.prepare*1.2), "with some to spare")
	}
	j := journalOf(t, "timeout-minutes: 10")
	exactly := 600.0 / 39
	assert.Empty(t, j.exceedsTimeLimit(math.Floor(exactly), 0),
		"whatever the program asks for, noisy is what it would be")
	assert.NotEmpty(t, j.exceedsTimeLimit(math.Ceil(exactly), 0))
	assert.Empty(t, j.exceedsTimeLimit(0, 0))
}

// printed is a run that printed these numbers, of which m is the metric.
func printed(numbers map[string]string) evaluation.Result {
	result := evaluation.Result{
		Duration: 2 * time.Second, Tail: "tail of " + numbers["m"],
		Measurement: metric.Measurement{Numbers: map[string]metric.Value{}},
	}
	for name, text := range numbers {
		result.Measurement.Numbers[name] = metric.MustValue(text)
	}
	if _, is := numbers["m"]; is {
		value := metric.MustValue(numbers["m"])
		result.Measurement.Metric = &value
	}
	return result
}

// sampled are samples of these runs.
func sampled(rails []decision.Guardrail, runs ...evaluation.Result) *samples {
	var s samples
	for _, run := range runs {
		s.add(run, rails)
	}
	return &s
}

// TestSameRunsHaveEqualMetricAndGuardrails: an evaluation repeats itself when the metric and every guardrail do; the
// other numbers may differ.
func TestSameRunsHaveEqualMetricAndGuardrails(t *testing.T) {
	t.Parallel()
	rails := []decision.Guardrail{{Metric: "size"}}
	type run = map[string]string
	for name, c := range map[string]struct {
		runs []run
		want bool
	}{
		"equal, written otherwise": {[]run{{"m": "1"}, {"m": "1.0"}}, true},
		"another metric":           {[]run{{"m": "1"}, {"m": "1.0001"}}, false},
		"a guardrail once":         {[]run{{"m": "1", "size": "3"}, {"m": "1"}}, false},
		"another guardrail":        {[]run{{"m": "1", "size": "3"}, {"m": "1", "size": "4"}}, false},
		"another number":           {[]run{{"m": "1", "other": "3"}, {"m": "1", "other": "4"}}, true},
	} {
		var runs []evaluation.Result
		for _, numbers := range c.runs {
			runs = append(runs, printed(numbers))
		}
		assert.Equal(t, c.want, sampled(rails, runs...).same(), name)
		slices.Reverse(runs)
		assert.Equal(t, c.want, sampled(rails, runs...).same(), "%s, in the other order", name)
	}
}

// TestRecordOfSamples: what is on record of several runs is every metric and guardrail,
// and of the rest the last run's.
func TestRecordOfSamples(t *testing.T) {
	t.Parallel()
	rails := []decision.Guardrail{
		{Metric: "size", Direction: metric.Higher}, {Metric: "size", Direction: metric.Lower},
	}
	s := sampled(rails, printed(map[string]string{"m": "1", "size": "5", "other": "7"}),
		printed(map[string]string{"m": "3", "size": "6"}))
	e := &s.Measured
	assert.Equal(t, "2", e.Metric.String())
	assert.Equal(t, []any{numbers("1", "3"), map[string][]metric.Value{"size": numbers("5", "6")}},
		[]any{e.Samples, e.GuardrailSamples})
	assert.Len(t, e.Numbers, 2)
	assert.InDelta(t, 2, e.Seconds, 0, "the time of one run")
	s.add(evaluation.Result{Problem: "it exits with 1", Tail: "oh", Duration: 4 * time.Second, TimedOut: true}, rails)
	assert.Equal(t, []any{"2", "it exits with 1", "oh", 2}, []any{
		e.Metric.String(), e.Problem, e.Output,
		len(e.Samples),
	})
	assert.InDelta(t, 8.0/3, e.Seconds, 1e-9)
	s.add(printed(map[string]string{"m": "3"}), rails)
	assert.Empty(t, e.Problem, "only that of the last run")
}

// TestCasesOfSeveralRuns: one run has no rates of its own, which would say the same as
// its numbers; a case that a run does not have counts 0 in it.
func TestCasesOfSeveralRuns(t *testing.T) {
	t.Parallel()
	a, b := decision.CaseNumber+"a", decision.CaseNumber+"b"
	one, other := printed(map[string]string{"m": "1", a: "0.5", b: "1", "size": "3"}),
		printed(map[string]string{"m": "1", a: "1"})
	assert.Nil(t, sampled(nil, one).CaseSamples)
	assert.Nil(t, sampled(nil, printed(map[string]string{"m": "1"}),
		printed(map[string]string{"m": "1"})).CaseSamples)
	rates := map[string][]string{}
	for name, values := range sampled(nil, one, printed(nil), other).CaseSamples {
		for _, value := range values {
			rates[name] = append(rates[name], value.String())
		}
	}
	assert.Equal(t, map[string][]string{a: {"0.5", "1"}, b: {"1", "0"}}, rates, "a run without a score does not count")
}
