package decision_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/long"
)

// seeded is a standard with the seed of its order.
func seeded(s decision.Standard, seed string) decision.Standard {
	s.Seed = seed
	return s
}

func TestOrderIsASecretOfTheTrial(t *testing.T) {
	t.Parallel()
	orders, confirmations := map[string]bool{}, map[string]bool{}
	for seed := range 50 {
		_, runs := play(seeded(noisy("5"), fmt.Sprint("seed", seed)), sides("5", "6"))
		_, again := play(seeded(noisy("5"), fmt.Sprint("seed", seed)), sides("5", "6"))
		require.Equal(t, runs, again, "one seed is one order")
		pairs, confirmation := runs[2:18], runs[20:]
		require.Len(t, confirmation, 16)
		for _, stage := range []string{pairs, confirmation} {
			require.Equal(t, 3, strings.Count(stage[:6], "C"), "%s: three of each side come first", stage)
			require.Equal(t, 8, strings.Count(stage, "C"), stage)
		}
		require.NotEqual(t, pairs, confirmation)
		orders[pairs], confirmations[confirmation] = true, true
	}
	assert.Greater(t, len(orders), 45)
	assert.Greater(t, len(confirmations), 45)
}

func TestAGainThatRepeatsIsMeasuredOnceMore(t *testing.T) {
	t.Parallel()
	orders := map[string]int{}
	for seed := range 60 {
		made, runs := play(seeded(repeatable("5"), fmt.Sprint(seed)), sides("5", "6"))
		require.Equal(t, decision.Improved, made.Verdict)
		orders[runs]++
	}
	assert.Len(t, orders, 3, "%v", orders)
	for runs := range orders {
		assert.Contains(t, []string{"CICC", "CCIC", "CCCI"}, runs)
	}
	made, runs := play(seeded(repeatable("5"), "x"), sides("5", "4"))
	assert.Equal(t, decision.Regressed, made.Verdict)
	assert.Equal(t, "C", runs, "what is no better costs one run")
}

// periodFour is an evaluation of which two runs of every four are slow, whosever
// they are.
func periodFour() func(decision.Step) metric.Measurement {
	runs := 0
	return func(decision.Step) metric.Measurement {
		runs++
		v, _ := metric.FromFloat(100 + float64(runs*37%11)/10)
		if runs%4 >= 2 {
			v, _ = metric.FromFloat(115 + float64(runs*37%11)/10)
		}
		return metric.Measurement{Metric: &v}
	}
}

func TestAPeriodIsNoGain(t *testing.T) {
	t.Parallel()
	lower := noisy("100")
	lower.Direction = metric.Lower
	for begin := range 40 {
		measure := periodFour()
		for range begin % 4 {
			measure(decision.Step{})
		}
		made, _ := play(seeded(lower, fmt.Sprint("period", begin)), measure)
		assert.NotEqual(t, decision.Improved, made.Verdict, begin)
	}
}

func TestInconclusiveIsNotNever(t *testing.T) {
	t.Parallel()
	measure := func(gain float64) func(decision.Step) metric.Measurement {
		runs := 0
		return func(step decision.Step) metric.Measurement {
			runs++
			x := float64(runs * 37 % 11)
			if step.Side == decision.Candidate {
				x += gain
			}
			v, _ := metric.FromFloat(x)
			return metric.Measurement{Metric: &v}
		}
	}
	more := 0
	for seed := range 40 {
		standard := seeded(noisy("5"), fmt.Sprint(seed))
		standard.MaxPairs = 16
		made, _ := play(standard, measure(3.4))
		for _, e := range made.Evidence {
			require.Contains(t, []int{3, 4, 8, 16}, e.Pairs)
			if e.Pairs == 16 {
				more++
			}
		}
		standard.MaxPairs = 0
		made, _ = play(standard, measure(3.4))
		for _, e := range made.Evidence {
			require.LessOrEqual(t, e.Pairs, 8)
		}
	}
	assert.Greater(t, more, 5, "what was inconclusive got as many pairs again")
}

func TestEveryNumberOfPairsReachesItsConfidence(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	for confidence, least := range map[float64]int{0.95: 4, 0.99: 5, 0.999: 7} {
		for pairs := least; pairs <= 40; pairs++ {
			standard := seeded(noisy("5"), "s")
			standard.Pairs, standard.Confidence = pairs, confidence
			made, runs := play(standard, sides("5", "6"))
			assert.Equal(t, decision.Improved, made.Verdict, "%d pairs at %g: %v", pairs, confidence, made.Reasons)
			assert.Len(t, runs, 2*(2+2*pairs))
		}
	}
}
