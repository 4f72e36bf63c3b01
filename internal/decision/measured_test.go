package decision_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
)

// TestAgreesUpToTwiceTheWidth: the last difference that agrees, and the first that does
// not, in both directions.
func TestAgreesUpToTwiceTheWidth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		recorded, anew string
		agrees         bool
	}{
		{"100 101 102", "105", true},
		{"100 101 102", "105.001", false},
		{"100 101 102", "97", true},
		{"100 101 102", "96.999", false},
		{"100", "100", true},
		{"100", "100.001", false},
		{"5 5 5", "5.0", true},
		{"5 5 5", "4 5 6", true}, // their median is what is on record
		{"-1 1", "4", true},
		{"-1 1", "-4.1", false},
		{"100 101 102", "0 105 1000", true},
	} {
		assert.Equal(t, c.agrees, decision.Agrees(numbers(c.recorded), numbers(c.anew)), "%s beside %s",
			c.anew, c.recorded)
		var turned, old []metric.Value
		for _, v := range numbers(c.anew) {
			turned = append(turned, negative(v))
		}
		for _, v := range numbers(c.recorded) {
			old = append(old, negative(v))
		}
		assert.Equal(t, c.agrees, decision.Agrees(old, turned), "-(%s) beside -(%s)", c.anew, c.recorded)
	}
}

// TestADisagreementIsNoChanceAndFar: neither alone is one, of drawn samples with and
// without ties, and the other direction is the same.
func TestADisagreementIsNoChanceAndFar(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(121, 122))
	said, near, maybe := 0, 0, 0
	for i := range 400 {
		draw := func(n int, from int64) (samples, turned []metric.Value) {
			for range n {
				v := metric.FromInt(from + chance.Int64N(6))
				samples, turned = append(samples, v), append(turned, negative(v))
			}
			return samples, turned
		}
		recorded, oldTurned := draw(2+chance.IntN(8), 100)
		anew, newTurned := draw(1+chance.IntN(8), 100+int64(i%30))
		got := decision.Disagreement(recorded, anew)
		steady := statistics.Same(recorded) && statistics.Same(anew)
		far, p := !decision.Agrees(recorded, anew), statistics.P(recorded, anew)
		require.Equal(t, far && (steady || p < 0.02), got != nil, "%v beside %v", anew, recorded)
		assert.Equal(t, got == nil, decision.Disagreement(oldTurned, newTurned) == nil)
		switch {
		case got != nil:
			said++
			assert.Contains(t, got.String(),
				fmt.Sprintf("(runs: %d), and %s is on record (runs: %d", len(anew), statistics.Median(recorded),
					len(recorded)))
		case far:
			maybe++
		default:
			near++
		}
	}
	assert.Greater(t, min(said, near, maybe), 20, "%d %d %d", said, near, maybe)
}

// TestWhatIsVisibleHasAUnit: it grows with the noise, is never less than the smallest
// gain worth keeping, and knows no direction.
func TestWhatIsVisibleHasAUnit(t *testing.T) {
	t.Parallel()
	samples := numbers("97 98 99 99.5 100.5 101 102 103")
	times := func(factor string) (list []metric.Value) {
		for _, v := range samples {
			list = append(list, v.Mul(metric.MustValue(factor)))
		}
		return list
	}
	rule := noisy("0").Rule
	one := decision.Visible(rule, samples)
	assert.Positive(t, one)
	assert.InDelta(t, one, decision.Visible(rule, samples), 0, "the same samples, the same answer")
	assert.InEpsilon(t, 1000*one, decision.Visible(rule, times("1000")), 1e-9)
	assert.InEpsilon(t, one, decision.Visible(rule, times("-1")), 1e-9)
	assert.Positive(t, decision.Visible(rule, numbers("1 1 1 1 1 1 1 9")),
		"quartiles that agree are no sign of no noise")
	assert.Zero(t, decision.Visible(rule, numbers("1")), "of one sample nothing is known")
	rule.MaxPairs = 16
	assert.Less(t, decision.Visible(rule, samples), one, "more pairs for what is inconclusive see more")
	rule.MinImprovement = decision.Allowance{Value: metric.FromInt(20)}
	assert.Greater(t, decision.Visible(rule, samples), 20.0)
	assert.InDelta(t, 20, decision.Visible(rule, numbers("5 5 5")), 1e-9, "where nothing scatters")
}
