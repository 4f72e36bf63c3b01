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

// TestLastStage: the comparisons of samples that let a trial end as it does,
// in eight pairs.
func TestLastStage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		incumbent, candidate string
		verdict              decision.Verdict
		says                 string
		evidence             []int // pairs
	}{
		"no better after three pairs": {
			"1 2 3", "3 2 1", decision.Neutral,
			"not better after 3 pairs: median 2 beside 2",
			[]int{3},
		},
		"better at first, worse in the end": {
			"1 1 10 10 10 10 10 10", "2 2 0 0 0 0 0 0", decision.Regressed,
			"worse: median 0 beside 10",
			[]int{8},
		},
		"better at first, then maybe worse": {
			"1 1 1 4 4 4 4 4", "2 2 2 3 3 3 3 3", decision.Neutral,
			"not better: median 3 beside 4",
			[]int{8},
		},
		"better at first, the same at last": {
			"1 1 1 5 5 5 5 5", "2 2 2 5 5 5 5 5", decision.Neutral,
			"not better: median 5 beside 5",
			[]int{8},
		},
		"better for sure": {
			"1 2 3 4 5 6 7 8", "11 12 13 14 15 16 17 18", decision.Improved,
			"better: median 14.5 beside 4.5",
			[]int{8, 8},
		},
		"beyond chance": {
			"1 2 3 4 5 6 7 10.5", "4.5 5.5 6.5 7.5 8 9 10 11", decision.Improved,
			"better: ",
			[]int{8, 8},
		},
		"perhaps chance": {
			"1 2 3 4 5 6 7 12.5", "2.5 4.5 5.5 6.5 7 8 9 10", decision.Neutral,
			"inconclusive: ",
			[]int{8},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made, _ := play(noisy("5"), series(c.incumbent, c.candidate))
			assert.Equal(t, c.verdict, made.Verdict, made.Reasons)
			assert.True(t, strings.HasPrefix(made.Reasons[0].String(), c.says), made.Reasons[0])
			var pairs []int
			for _, e := range made.Evidence {
				pairs = append(pairs, e.Pairs)
				assert.InDelta(t, 0.95, e.Confidence, 0)
			}
			assert.Equal(t, c.evidence, pairs)
			require.NotNil(t, made.Previous)
			assert.Equal(t, made.Metric.Sub(*made.Previous).Signed(), made.Delta, "of the medians of the last stage")
			if c.verdict != decision.Improved {
				assert.Equal(t, "5", made.Best.String(), "the best stays what is on record")
			}
		})
	}
}

func TestConfirmationOfGain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		incumbent, candidate string // in the confirmation
		verdict              decision.Verdict
		says                 string
	}{
		"again":     {"5 5 5 5 5 5 5 5", "6 6 6 6 6 6 6 6", decision.Improved, "better: "},
		"no better": {"5 5 5", "5 5 5", decision.Neutral, "not confirmed: not better after 3 pairs"},
		"worse":     {"1 1 10 10 10 10 10 10", "2 2 0 0 0 0 0 0", decision.Regressed, "not confirmed: worse"},
		"maybe": {
			"1 2 3 4 5 6 7 12.5", "2.5 4.5 5.5 6.5 7 8 9 10", decision.Neutral, "not confirmed: inconclusive",
		},
	} {
		made, _ := play(noisy("5"), func(step decision.Step) metric.Measurement {
			if step.Stage == decision.Confirmation {
				return series(c.incumbent, c.candidate)(step)
			}
			return sides("5", "6")(step)
		})
		assert.Equal(t, c.verdict, made.Verdict, name)
		assert.True(t, strings.HasPrefix(made.Reasons[0].String(), c.says), made.Reasons[0])
		require.Len(t, made.Evidence, 2)
		assert.Equal(t, []decision.Stage{decision.Pairs, decision.Confirmation},
			[]decision.Stage{made.Evidence[0].Stage, made.Evidence[1].Stage})
		if name == "again" {
			assert.Contains(t, made.Reasons[1].String(), "trees, a difference of +1 (p = 0.0004)")
		} else {
			assert.Equal(t, "5", made.Best.String())
		}
	}
}

// TestTrialEndsAtOnce: a number that is not finite ends a trial wherever it is measured, a warm-up too; the
// incumbent's is nobody's fault.
func TestTrialEndsAtOnce(t *testing.T) {
	t.Parallel()
	const none = "the evaluation printed null"
	for name, c := range map[string]struct {
		standard decision.Standard
		stage    decision.Stage
		side     decision.Side
		warmUp   bool
		gives    string // a number, or why nothing was measured
		says     string
	}{
		"at once": {
			repeatable("5"), decision.Once, decision.Candidate, false, "overlap", "not scored: overlap",
		},
		"a candidate's warm-up": {
			noisy("5"), decision.Pairs, decision.Candidate, true, "exit", "not scored: exit",
		},
		"an incumbent's warm-up": {
			noisy("5"), decision.Pairs, decision.Incumbent, true, "exit", "not scored: exit",
		},
		"a candidate's confirmation": {
			noisy("5"), decision.Confirmation, decision.Candidate, false, "", "not scored: " + none,
		},
		"the incumbent once more": {
			repeatable("5"), decision.Again, decision.Incumbent, false, "", "not scored: " + none,
		},
		"the candidate once more": {
			repeatable("5"), decision.Again, decision.Candidate, false, "x", "not scored: x",
		},
		"an implausible candidate": {
			changed(noisy("5"), `{"low":0,"high":100}`), decision.Pairs, decision.Candidate, false, "100.1",
			"100.1 is implausible: ",
		},
		"an implausible incumbent": {
			changed(noisy("5"), `{"low":0,"high":100}`), decision.Pairs, decision.Incumbent, false, "-0.1",
			"-0.1 is implausible: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			last := decision.Step{}
			made, _ := play(c.standard, func(step decision.Step) metric.Measurement {
				last = step
				if step.Stage != c.stage || step.Side != c.side || step.WarmUp != c.warmUp {
					return sides("5", "6")(step)
				}
				number, err := metric.ParseValue(c.gives)
				if err != nil {
					return metric.Measurement{RejectedReason: c.gives}
				}
				return metric.Measurement{Metric: &number}
			})
			assert.Equal(t, c.stage, last.Stage, "nothing is measured afterwards")
			assert.Equal(t, c.side, last.Side)
			assert.Contains(t, made.Reasons[0].String(), c.says)
			assert.Equal(t, "5", made.Best.String())
			if c.side == decision.Candidate {
				assert.Equal(t, decision.Regressed, made.Verdict)
				assert.Empty(t, made.Fault)
				return
			}
			assert.Equal(t, decision.Neutral, made.Verdict)
			assert.Contains(t, decision.Text(made.Fault), "measured again, is "+c.says)
			assert.Nil(t, made.Metric, "the number is not the candidate's")
		})
	}
}

func TestEndsOfRangeArePlausible(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rule, number, says string }{
		{`{"low":0,"high":100}`, "0", ""},
		{`{"low":0,"high":100}`, "100.0", ""},
		{`{"low":0,"high":100}`, "-1e-300", "outside metric-range [0, 100]"},
		{`{"low":0,"high":100}`, "100.0000000000000000000001", "outside metric-range [0, 100]"},
		{`{"low":0}`, "-1", "outside metric-range [0, …]"},
		{`{"high":-2}`, "-1", "outside metric-range […, -2]"},
		{`{"high":0}`, "-1e300", ""},
		{`{}`, "-1e300", ""},
	} {
		said := changed(decision.Standard{}, c.rule).Implausible(metric.MustValue(c.number))
		assert.Contains(t, decision.Text(said), c.says)
		assert.Equal(t, c.says == "", said == nil, c.number)
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
		scatters = `{"initial":{"lag":[80,90,95,99,101,105,110,120],"hits":[200]}}`
		missing  = "the evaluation did not print it"
	)
	once, pairs := changed(repeatable("5"), rails), changed(noisy("5"), rails)
	for name, c := range map[string]struct {
		standard  decision.Standard
		stage     decision.Stage
		number    int // the run that differs, 0 for all; a warm-up is -1
		lag, hits string
		says      string // "" when it is kept
	}{
		"at both limits": {pairs, decision.Pairs, 0, "110", "180", ""},
		"beyond one": {
			pairs, decision.Pairs, 0, "110.1", "180",
			"guardrail lag: 110.1 is beyond 110 (100 at iteration 0, lower is better, at most 10 worse)",
		},
		"beyond the other": {
			pairs, decision.Pairs, 0, "110", "179",
			"guardrail hits: 179 is beyond 180 (200 at iteration 0, higher is better, at most 20 worse)",
		},
		"beyond both":               {pairs, decision.Pairs, 0, "111", "179", "guardrail lag: "},
		"better than ever":          {pairs, decision.Pairs, 0, "1", "1000", ""},
		"only in the confirmation":  {pairs, decision.Confirmation, 0, "111", "200", "guardrail lag: 111"},
		"one run beyond":            {pairs, decision.Pairs, 5, "1000", "0", ""},
		"one run that does not say": {pairs, decision.Confirmation, 8, "-", "200", "guardrail lag: " + missing},
		"another does not say":      {pairs, decision.Pairs, 1, "100", "-", "guardrail hits: " + missing},
		"a warm-up counts for none": {pairs, decision.Pairs, -1, "-", "-", ""},
		"within the scatter":        {changed(pairs, scatters), decision.Pairs, 0, "115.1", "200", ""},
		"beyond, too few for a test": {
			changed(pairs, `{"initial":{"lag":[100],"hits":[200]}}`), decision.Pairs, 0, "110.1", "200",
			"guardrail lag: ",
		},
		"nothing at iteration 0": {
			changed(pairs, `{"initial":{"lag":[],"hits":[200]}}`), decision.Pairs, 0, "1", "200", "guardrail lag",
		},
		"once, at the limit":       {once, decision.Once, 0, "110", "180", ""},
		"once, beyond it":          {once, decision.Once, 0, "110.1", "180", "guardrail lag: 110.1"},
		"once, not printed":        {once, decision.Once, 0, "-", "180", "guardrail lag: " + missing},
		"once, another time again": {once, decision.Again, 0, "90", "200", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made, _ := play(c.standard, func(step decision.Step) metric.Measurement {
				m := sides("5", "6")(step)
				m.Numbers = map[string]metric.Value{"lag": metric.FromInt(100), "hits": metric.FromInt(200)}
				if step.Side != decision.Candidate {
					m.Numbers = nil // only the candidate's count
				} else if step.Stage == c.stage && step.WarmUp == (c.number < 0) &&
					(c.number <= 0 || step.Number == c.number) {
					for number, text := range map[string]string{"lag": c.lag, "hits": c.hits} {
						if delete(m.Numbers, number); text != "-" {
							m.Numbers[number] = metric.MustValue(text)
						}
					}
				}
				return m
			})
			if c.says == "" {
				assert.Equal(t, decision.Improved, made.Verdict, made.Reasons)
				return
			}
			assert.Equal(t, decision.Regressed, made.Verdict)
			assert.True(t, strings.HasPrefix(strings.TrimPrefix(made.Reasons[0].String(), "not confirmed: "), c.says),
				made.Reasons[0])
			assert.Equal(t, "5", made.Best.String())
		})
	}
}
