package decision_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"

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

// TestVisibleGainHasUnit: it grows with the noise, is never less than the smallest
// gain worth keeping, and knows no direction.
func TestVisibleGainHasUnit(t *testing.T) {
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
	for settings, gain := range map[[2]string]float64{
		{"97 98 99 99.5 100.5 101 102 103", `{}`}:                            4.3087472202,
		{"1 2 4 8 16", `{"pairs":5}`}:                                        20.9182727947,
		{"1 1 1 1 1 1 1 9", `{}`}:                                            5.4800775542,
		{"1 1 2 3 5 8 13", `{"max_pairs":16,"min_improvement":{"value":3}}`}: 8.3460433655,
	} {
		seen := decision.Visible(changed(noisy("0"), settings[1]).Rule, numbers(settings[0]))
		assert.InEpsilon(t, gain, seen, 1e-6, settings)
	}
	rule.MaxPairs = 16
	assert.Less(t, decision.Visible(rule, samples), one, "more pairs for what is inconclusive see more")
	rule.MinImprovement = decision.Allowance{Value: metric.FromInt(20)}
	assert.Greater(t, decision.Visible(rule, samples), 20.0)
	assert.InDelta(t, 20, decision.Visible(rule, numbers("5 5 5")), 1e-9, "where nothing scatters")
}

func negative(v metric.Value) metric.Value { return metric.Value{}.Sub(v) }
