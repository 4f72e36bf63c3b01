package decision_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
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

func TestRepeatingGainIsMeasuredAgain(t *testing.T) {
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
