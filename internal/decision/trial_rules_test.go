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

// TestWhatTheLastStageSays: the comparisons of samples that let a trial end as it does,
// in eight pairs.
func TestWhatTheLastStageSays(t *testing.T) {
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

func TestAGainIsConfirmedOrNot(t *testing.T) {
	t.Parallel()
	made, _ := play(noisy("5"), sides("5", "6"))
	require.Len(t, made.Reasons, 2)
	assert.Contains(t, made.Reasons[1].String(), "this confirms, in new trees, a difference of +1 (p = 0.0004)")
	assert.Equal(t, []decision.Stage{decision.Pairs, decision.Confirmation},
		[]decision.Stage{made.Evidence[0].Stage, made.Evidence[1].Stage})

	for name, c := range map[string]struct {
		later   func(decision.Step) metric.Measurement // in the confirmation
		verdict decision.Verdict
		says    string
	}{
		"no better": {sides("5", "5"), decision.Neutral, "not confirmed: not better after 3 pairs"},
		"worse":     {series("1 1 10 10 10 10 10 10", "2 2 0 0 0 0 0 0"), decision.Regressed, "not confirmed: worse"},
		"maybe": {
			series("1 2 3 4 5 6 7 12.5", "2.5 4.5 5.5 6.5 7 8 9 10"), decision.Neutral,
			"not confirmed: inconclusive",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made, _ := play(noisy("5"), func(step decision.Step) metric.Measurement {
				if step.Stage == decision.Confirmation {
					return c.later(step)
				}
				return sides("5", "6")(step)
			})
			assert.Equal(t, c.verdict, made.Verdict)
			assert.True(t, strings.HasPrefix(made.Reasons[0].String(), c.says), made.Reasons[0])
			assert.Equal(t, "5", made.Best.String())
			assert.Len(t, made.Evidence, 2)
		})
	}
}

// TestWhatEndsATrialAtOnce: a number that is not finite ends a trial wherever it is measured,
// a warm-up too; the incumbent's is nobody's fault.
func TestWhatEndsATrialAtOnce(t *testing.T) {
	t.Parallel()
	bounded := func(s decision.Standard) decision.Standard { s.Low, s.High = value("0"), value("100"); return s }
	for name, c := range map[string]struct {
		standard decision.Standard
		stage    decision.Stage
		side     decision.Side
		warmUp   bool
		gives    metric.Measurement
		fault    string
		says     string
	}{
		"a warm-up of the candidate": {
			noisy("5"), decision.Pairs, decision.Candidate, true,
			metric.Measurement{RejectedReason: "exit 2"},
			"", "not scored: exit 2",
		},
		"a warm-up of the incumbent": {
			noisy("5"), decision.Pairs, decision.Incumbent, true,
			metric.Measurement{RejectedReason: "exit 2"},
			"the incumbent, measured again, is not scored: exit 2",
			"not scored: exit 2",
		},
		"the confirmation of the candidate": {
			noisy("5"), decision.Confirmation, decision.Candidate, false,
			metric.Measurement{},
			"", "not scored: the evaluation printed null",
		},
		"the incumbent once more": {
			repeatable("5"), decision.Again, decision.Incumbent, false,
			metric.Measurement{},
			"the incumbent, measured again, is not scored: the evaluation printed null",
			"not scored",
		},
		"the candidate once more": {
			repeatable("5"), decision.Again, decision.Candidate, false,
			metric.Measurement{RejectedReason: "x"},
			"", "not scored: x",
		},
		"an implausible candidate": {
			bounded(noisy("5")), decision.Pairs, decision.Candidate, false,
			scored("100.1"), "", "100.1 is implausible: outside metric-range [0, 100]",
		},
		"an implausible incumbent": {
			bounded(noisy("5")), decision.Pairs, decision.Incumbent, false,
			scored("-0.1"), "the incumbent, measured again, is -0.1 is implausible",
			"-0.1 is implausible: outside metric-range [0, 100]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			last := decision.Step{}
			made, _ := play(c.standard, func(step decision.Step) metric.Measurement {
				last = step
				if step.Stage == c.stage && step.Side == c.side && step.WarmUp == c.warmUp {
					return c.gives
				}
				return sides("5", "6")(step)
			})
			assert.Equal(t, c.stage, last.Stage, "nothing is measured afterwards")
			assert.Equal(t, c.side, last.Side)
			assert.Contains(t, made.Reasons[0].String(), c.says)
			assert.Equal(t, "5", made.Best.String())
			if c.fault == "" {
				assert.Equal(t, decision.Regressed, made.Verdict)
				assert.Empty(t, made.Fault)
				return
			}
			assert.Equal(t, decision.Neutral, made.Verdict)
			assert.Contains(t, decision.Text(made.Fault), c.fault)
			assert.Nil(t, made.Metric, "the number is not the candidate's")
		})
	}
}

func TestTheEndsOfTheRangeArePlausible(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		low, high *metric.Value
		number    string
		says      string
	}{
		"the least":    {value("0"), value("100"), "0", ""},
		"the greatest": {value("0"), value("100"), "100.0", ""},
		"a hair below": {value("0"), value("100"), "-1e-300", "outside metric-range [0, 100]"},
		"a hair above": {
			value("0"), value("100"), "100.0000000000000000000001",
			"outside metric-range [0, 100]",
		},
		"below, nothing above":    {value("0"), nil, "-1", "outside metric-range [0, …]"},
		"above, nothing below":    {nil, value("-2"), "-1", "outside metric-range […, -2]"},
		"no range":                {nil, nil, "-1e300", ""},
		"a range of one number":   {value("7"), value("7"), "7", ""},
		"beside the only number":  {value("7"), value("7"), "8", "outside metric-range [7, 7]"},
		"far below an open range": {nil, value("0"), "-1e300", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := decision.Rule{Low: c.low, High: c.high}.Implausible(metric.MustValue(c.number))
			if c.says == "" {
				assert.Empty(t, said)
				return
			}
			assert.Contains(t, decision.Text(said), c.says)
		})
	}
}

func TestATrialThatDoesNotEnd(t *testing.T) {
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
	assert.Equal(t, "not better after 3 pairs: median 5 beside 5", made.Reasons[0].String())
	_, more := trial.Next()
	assert.False(t, more)
}

func TestTheRegimeOfATrial(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		best   *metric.Value
		again  string // the incumbent, once more
		regime decision.Regime
	}{
		"it repeats":               {value("5"), "5.0", decision.Repeatable},
		"it does not":              {value("5"), "5.1", decision.Noisy},
		"nothing is on record yet": {nil, "5.1", decision.Repeatable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			standard := repeatable("5")
			standard.Best = c.best
			trial := decision.NewTrial(standard)
			made, err := trial.Run(func(step decision.Step) (metric.Measurement, error) {
				if step.Stage == decision.Again && step.Side == decision.Incumbent {
					return scored(c.again), nil
				}
				return sides("5", "6")(step), nil
			})
			require.NoError(t, err)
			assert.Equal(t, c.regime, trial.Regime())
			assert.Equal(t, decision.Improved, made.Verdict)
			assert.Equal(t, c.regime == decision.Repeatable, made.Reasons[len(made.Reasons)-1].Is(decision.Repeated),
				made.Reasons)
		})
	}
}

// TestStepsCount: what a step says of itself is what people see as progress.
func TestStepsCount(t *testing.T) {
	t.Parallel()
	var steps []string
	_, _ = play(decision.Standard{
		Rule: decision.Rule{Regime: decision.Noisy, Pairs: 4, Confidence: 0.95},
		Best: value("5"),
	}, func(step decision.Step) metric.Measurement {
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

func TestWhatACandidateMayTake(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rule       decision.Rule
		kept, held [2]int
	}{
		"nothing said": {decision.Rule{}, [2]int{0, 0}, [2]int{0, 0}},
		"single":       {decision.Rule{Regime: decision.Single, CheckTooGood: true}, [2]int{1, 1}, [2]int{2, 2}},
		"repeatable":   {decision.Rule{Regime: decision.Repeatable, CheckTooGood: true}, [2]int{4, 3}, [2]int{2, 2}},
		"noisy": {
			decision.Rule{Regime: decision.Noisy, Pairs: 8, CheckTooGood: true},
			[2]int{36, 4},
			[2]int{3, 2},
		},
		"not asked for": {decision.Rule{Regime: decision.Single}, [2]int{1, 1}, [2]int{0, 0}},
	} {
		var kept, held [2]int
		kept[0], kept[1] = c.rule.KeptRuns()
		held[0], held[1] = c.rule.HeldRuns()
		assert.Equal(t, c.kept, kept, name)
		assert.Equal(t, c.held, held, name)
	}
}

func TestAllowanceOfAReference(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value     string
		percent   bool
		reference string
		want      string
	}{
		{"5", false, "1000", "5"},
		{"5", true, "1000", "50"},
		{"5", true, "-1000", "50"},
		{"5", true, "0", "0"},
		{"0.5", true, "1e-300", "5e-303"},
		{"33.3", true, "0.3", "0.0999"},
		{"0", true, "7", "0"},
		{"150", true, "2", "3"},
	} {
		got := decision.Allowance{
			Value:   metric.MustValue(c.value),
			Percent: c.percent,
		}.Of(metric.MustValue(c.reference))
		assert.Zero(t, metric.MustValue(c.want).Cmp(got), "%s of %s is %s", c.value, c.reference, got)
	}
}

// TestGuardrailsAreOfEveryRun: each run of the candidate that counts has to print each
// guardrail, and the first that is broken is said.
func TestGuardrailsAreOfEveryRun(t *testing.T) {
	t.Parallel()
	rails := []decision.Guardrail{
		{Metric: "lag", Direction: metric.Lower, MaxRegression: decision.Allowance{Value: metric.FromInt(10)}},
		{
			Metric: "hits", Direction: metric.Higher,
			MaxRegression: decision.Allowance{Value: metric.FromInt(10), Percent: true},
		},
	}
	standard := noisy("5")
	standard.Guardrails, standard.Initial = rails,
		map[string][]metric.Value{"lag": numbers("100 100 100 100"), "hits": numbers("200 200 200 200")}
	for name, c := range map[string]struct {
		stage     decision.Stage
		number    int // the run that differs, 0 for all
		warmUp    bool
		lag, hits string
		says      string // "" when it is kept
	}{
		"at both limits": {decision.Pairs, 0, false, "110", "180", ""},
		"beyond one": {
			decision.Pairs, 0, false, "110.1", "180",
			"guardrail lag: 110.1 is beyond 110 (100 at iteration 0, lower is better, at most 10 worse)",
		},
		"beyond the other": {
			decision.Pairs, 0, false, "110", "179",
			"guardrail hits: 179 is beyond 180 (200 at iteration 0, higher is better, at most 20 worse)",
		},
		"beyond both":              {decision.Pairs, 0, false, "111", "179", "guardrail lag: "},
		"better than ever":         {decision.Pairs, 0, false, "1", "1000", ""},
		"only in the confirmation": {decision.Confirmation, 0, false, "111", "200", "guardrail lag: 111"},
		"one run beyond":           {decision.Pairs, 5, false, "1000", "0", ""},
		"one run that does not say": {
			decision.Confirmation, 8, false, "-", "200",
			"guardrail lag: the evaluation did not print it",
		},
		"a warm-up counts for none": {decision.Pairs, 0, true, "-", "-", ""},
		"another run does not say 2": {
			decision.Pairs, 1, false, "100", "-",
			"guardrail hits: the evaluation did not print it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made, _ := play(standard, func(step decision.Step) metric.Measurement {
				m := sides("5", "6")(step)
				m.Numbers = map[string]metric.Value{"lag": metric.FromInt(100), "hits": metric.FromInt(200)}
				if step.Side != decision.Candidate {
					m.Numbers = nil // only the candidate's count
				} else if step.Stage == c.stage && step.WarmUp == c.warmUp &&
					(c.number == 0 || step.Number == c.number) {
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


