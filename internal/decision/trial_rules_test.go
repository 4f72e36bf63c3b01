package decision_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/golden"
)

// series measures the numbers of each side one after the other, and begins anew with
// each stage. Warm-ups take none.
func series(incumbent, candidate string) func(decision.Step) metric.Measurement {
	return func(step decision.Step) metric.Measurement {
		list := numbers(incumbent)
		if step.Side == decision.Candidate {
			list = numbers(candidate)
		}
		return metric.Measurement{Metric: &list[max(step.Number-1, 0)]}
	}
}

// TestLastStage: the comparisons of samples that let a trial end as it does, in eight pairs; the last of them in the
// confirmation of a gain.
func TestLastStage(t *testing.T) {
	t.Parallel()
	const confirmation = " // confirmation"
	golden.Table(t, map[string]string{
		"no better after three pairs":       "1 2 3 // 3 2 1",
		"better at first, worse in the end": "1 1 10 10 10 10 10 10 // 2 2 0 0 0 0 0 0",
		"better at first, then maybe worse": "1 1 1 4 4 4 4 4 // 2 2 2 3 3 3 3 3",
		"better at first, the same at last": "1 1 1 5 5 5 5 5 // 2 2 2 5 5 5 5 5",
		"better for sure":                   "1 2 3 4 5 6 7 8 // 11 12 13 14 15 16 17 18",
		"beyond chance":                     "1 2 3 4 5 6 7 10.5 // 4.5 5.5 6.5 7.5 8 9 10 11",
		"perhaps chance":                    "1 2 3 4 5 6 7 12.5 // 2.5 4.5 5.5 6.5 7 8 9 10",
		"confirmed":                         "5 5 5 5 5 5 5 5 // 6 6 6 6 6 6 6 6" + confirmation,
		"confirmed as no better":            "5 5 5 // 5 5 5" + confirmation,
		"confirmed as worse":                "1 1 10 10 10 10 10 10 // 2 2 0 0 0 0 0 0" + confirmation,
		"confirmed as maybe better":         "1 2 3 4 5 6 7 12.5 // 2.5 4.5 5.5 6.5 7 8 9 10" + confirmation,
	}, func(_ *testing.T, row string) any {
		parts := strings.Split(row, " // ")
		made, _ := play(noisy("5"), func(step decision.Step) metric.Measurement {
			if len(parts) > 2 && step.Stage != decision.Confirmation {
				return sides("5", "6")(step)
			}
			return series(parts[0], parts[1])(step)
		})
		return told(made)
	})
}

// TestTrialEndsAtOnce: a number that is not finite ends a trial wherever it is measured, a warm-up too; the
// incumbent's is nobody's fault.
func TestTrialEndsAtOnce(t *testing.T) {
	t.Parallel()
	const once, bounded = ` // {"regime":"repeatable"}`, ` // {"low":0,"high":100}`
	golden.Table(t, map[string]string{ // where it is measured, the number or why it is missing, and the rule
		"at once":                    "once candidate // overlap" + once,
		"a candidate's warm-up":      "pairs candidate warm-up // exit // {}",
		"an incumbent's warm-up":     "pairs incumbent warm-up // exit // {}",
		"a candidate's confirmation": "confirmation candidate //  // {}",
		"the incumbent once more":    "again incumbent // " + once,
		"the candidate once more":    "again candidate // x" + once,
		"an implausible candidate":   "pairs candidate // 100.1" + bounded,
		"an implausible incumbent":   "pairs incumbent // -0.1" + bounded,
	}, func(t *testing.T, row string) any {
		parts, last := strings.Split(row, " // "), ""
		made, _ := play(changed(noisy("5"), parts[2]), func(step decision.Step) metric.Measurement {
			last = fmt.Sprint(step.Stage, " ", step.Side)
			if step.WarmUp {
				last += " warm-up"
			}
			if last != parts[0] {
				return sides("5", "6")(step)
			}
			number, err := metric.ParseValue(parts[1])
			if err != nil {
				return metric.Measurement{RejectedReason: parts[1]}
			}
			return metric.Measurement{Metric: &number}
		})
		words := strings.Fields(parts[0])
		assert.Equal(t, words[:2], strings.Fields(last)[:2], "nothing is measured afterwards")
		return told(made)
	})
}

func TestEndsOfRangeArePlausible(t *testing.T) {
	t.Parallel()
	for _, row := range []string{
		`{"low":0,"high":100} 0`, `{"low":0,"high":100} 100.0`, `{"low":0,"high":100} -1e-300`,
		`{"low":0,"high":100} 100.0000000000000000000001`, `{"low":0} -1`, `{"high":-2} -1`, `{"high":0} -1e300`,
		`{} -1e300`,
	} {
		rule, number, _ := strings.Cut(row, " ")
		golden.Row(t, row, decision.Text(changed(decision.Standard{}, rule).Implausible(metric.MustValue(number))))
	}
}

func TestEndlessTrial(t *testing.T) {
	t.Parallel()
	broken := errors.New("no machine")
	trial, taken := decision.NewTrial(noisy("5")), 0
	made, err := trial.Run(func(decision.Step) (metric.Measurement, error) {
		if taken++; taken == 5 {
			return metric.Measurement{}, broken
		}
		return scored("5"), nil
	})
	require.ErrorIs(t, err, broken)
	assert.Empty(t, made)
	assert.Equal(t, 5, taken)
	unfinished := trial.Decision()
	assert.Equal(t, decision.Neutral, unfinished.Verdict)
	assert.Equal(t, []string{"the trial was not finished"}, decision.Texts(unfinished.Reasons))
	assert.Equal(t, "5", unfinished.Best.String())

	made, err = trial.Run(func(decision.Step) (metric.Measurement, error) { return scored("5"), nil })
	require.NoError(t, err, "it goes on where it was")
	golden.Row(t, "not better after 3", made.Reasons[0].String())
	_, more := trial.Next()
	assert.False(t, more)
}

func TestRegimeOfTrial(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		best, again string // of the incumbent on record, and once more
		regime      decision.Regime
	}{
		{"5", "5.0", decision.Repeatable}, {"5", "5.1", decision.Noisy}, {"null", "5.1", decision.Repeatable},
	} {
		trial := decision.NewTrial(changed(repeatable("5"), `{"best":`+c.best+`}`))
		made, err := trial.Run(func(step decision.Step) (metric.Measurement, error) {
			if step.Stage == decision.Again && step.Side == decision.Incumbent {
				return scored(c.again), nil
			}
			return sides("5", "6")(step), nil
		})
		require.NoError(t, err)
		assert.Equal(t, c.regime, trial.Regime())
		assert.Equal(t, decision.Improved, made.Verdict)
		assert.Equal(t, c.regime == decision.Repeatable, made.Reasons[len(made.Reasons)-1].Is(decision.Repeated))
	}
}

// TestStepsCount: what a step says of itself is what people see as progress.
func TestStepsCount(t *testing.T) {
	t.Parallel()
	var steps []string
	_, _ = play(changed(noisy("5"), `{"pairs":4}`), func(step decision.Step) metric.Measurement {
		if step.Stage == decision.Pairs {
			steps = append(steps, fmt.Sprintf("%s %d/%d %t", step.Side, step.Number, step.Of, step.WarmUp))
		}
		return sides("5", "6")(step)
	})
	assert.Equal(t, []string{
		"candidate 0/4 true", "incumbent 0/4 true", "candidate 1/4 false", "candidate 2/4 false", "candidate 3/4 false",
		"candidate 4/4 false",
		"incumbent 1/4 false", "incumbent 2/4 false", "incumbent 3/4 false", "incumbent 4/4 false",
	}, steps)
}

// TestRunsThatAreAnnounced: those of a candidate that is kept, how many environments they need, and those that hold a
// gain.
func TestRunsThatAreAnnounced(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string][4]int{
		`{}`: {}, `{"regime":"single"}`: {1, 1}, `{"regime":"single","check_too_good":true}`: {1, 1, 2, 2},
		`{"regime":"repeatable","check_too_good":true}`:      {4, 3, 2, 2},
		`{"regime":"noisy","pairs":8,"check_too_good":true}`: {36, 4, 3, 2},
	} {
		standard := changed(decision.Standard{}, rule)
		kept, environments := standard.KeptRuns()
		held, more := standard.HeldRuns()
		assert.Equal(t, want, [4]int{kept, environments, held, more}, rule)
	}
	for _, standard := range []decision.Standard{repeatable("1000"), noisy("1000")} {
		standard.CheckTooGood, standard.Direction = true, metric.Lower
		kept, _ := standard.KeptRuns()
		held, _ := standard.HeldRuns()
		trial, runs := decision.NewTrial(standard), 0
		assert.Nil(t, trial.Held())
		_, err := trial.Run(func(step decision.Step) (metric.Measurement, error) {
			runs++
			if step.Side == decision.Candidate {
				return scored("0"), nil
			}
			return scored("1000"), nil
		})
		require.NoError(t, err)
		assert.NotNil(t, trial.Held(), "a drop to zero")
		assert.LessOrEqual(t, runs, kept+held)
	}
}

func TestAllowanceOfAReference(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{`{"value":5}`, "1000", "5"},
		{`{"value":5,"percent":true}`, "1000", "50"},
		{`{"value":5,"percent":true}`, "-1000", "50"},
		{`{"value":5,"percent":true}`, "0", "0"},
		{`{"value":0.5,"percent":true}`, "1e-300", "5e-303"},
		{`{"value":33.3,"percent":true}`, "0.3", "0.0999"},
	} {
		got := changed(decision.Standard{}, `{"min_improvement":`+c[0]+`}`).MinImprovement.Of(metric.MustValue(c[1]))
		assert.Zero(t, metric.MustValue(c[2]).Cmp(got), "%v is %s", c, got)
	}
}

// TestGuardrailsAreOfEveryRun: each run of the candidate that counts has to print each guardrail, no number may be
// beyond what is allowed since iteration 0, and the first that is broken is said.
func TestGuardrailsAreOfEveryRun(t *testing.T) {
	t.Parallel()
	const (
		rails = `{"guardrails":[{"metric":"lag","direction":"lower","max_regression":{"value":10}},` +
			`{"metric":"hits","direction":"higher","max_regression":{"value":10,"percent":true}}],` +
			`"initial":{"lag":[100,100,100,100],"hits":[200,200,200,200]}}`
		once     = ` {"regime":"repeatable"}`
		scatters = `{"initial":{"lag":[80,90,95,99,101,105,110,120],"hits":[200]}}`
	)
	golden.Table(t, map[string]string{ // the stage, the run that differs, 0 for all or -1 for the warm-up, and numbers
		"at both limits":             "pairs 0 110 180 {}",
		"beyond one":                 "pairs 0 110.1 180 {}",
		"beyond the other":           "pairs 0 110 179 {}",
		"beyond both":                "pairs 0 111 179 {}",
		"better than ever":           "pairs 0 1 1000 {}",
		"only in the confirmation":   "confirmation 0 111 200 {}",
		"one run beyond":             "pairs 5 1000 0 {}",
		"one run that does not say":  "confirmation 8 - 200 {}",
		"another does not say":       "pairs 1 100 - {}",
		"a warm-up counts for none":  "pairs -1 - - {}",
		"within the scatter":         "pairs 0 115.1 200 " + scatters,
		"beyond, too few for a test": `pairs 0 110.1 200 {"initial":{"lag":[100],"hits":[200]}}`,
		"nothing at iteration 0":     `pairs 0 1 200 {"initial":{"lag":[],"hits":[200]}}`,
		"once, at the limit":         "once 0 110 180" + once,
		"once, beyond it":            "once 0 110.1 180" + once,
		"once, not printed":          "once 0 - 180" + once,
		"once, another time again":   "again 0 90 200" + once,
	}, func(_ *testing.T, row string) any {
		words := strings.Fields(row)
		made, _ := play(changed(changed(noisy("5"), rails), words[4]), func(step decision.Step) metric.Measurement {
			m := sides("5", "6")(step)
			m.Numbers = map[string]metric.Value{"lag": metric.FromInt(100), "hits": metric.FromInt(200)}
			if step.Side != decision.Candidate {
				m.Numbers = nil // only the candidate's count
			} else if string(step.Stage) == words[0] && step.WarmUp == (words[1] == "-1") &&
				(step.WarmUp || words[1] == "0" || fmt.Sprint(step.Number) == words[1]) {
				for i, number := range []string{"lag", "hits"} {
					if delete(m.Numbers, number); words[2+i] != "-" {
						m.Numbers[number] = metric.MustValue(words[2+i])
					}
				}
			}
			return m
		})
		return told(made)
	})
}
