package loop

import (
	"math"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/history"
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
			j.records.sum = c.sum
			got := j.rule()
			assert.Equal(t, []any{c.regime, c.pairs, c.maxPairs}, []any{got.Regime, got.Pairs, got.MaxPairs})
			assert.Equal(t, got, j.ruleOf(j.records))
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
