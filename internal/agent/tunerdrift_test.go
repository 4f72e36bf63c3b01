package agent

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
)

// TestLuckDoesNotAddUp lets trials that change nothing be accepted whenever
// chance has them measure better. Each seems a gain; yet the last incumbent lies
// where the first does, unless the machine's changes hide what noise is.
func TestLuckDoesNotAddUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		adds func(r *rand.Rand, i int, was float64) float64
		most float64 // of what the gains add up to
	}{
		"steady machine":            {func(*rand.Rand, int, float64) float64 { return 0 }, 0.25},
		"slower machine":            {func(_ *rand.Rand, i int, _ float64) float64 { return 0.02 * float64(i) }, 0.25},
		"drifting machine":          {func(r *rand.Rand, _ int, was float64) float64 { return was + 0.1*r.NormFloat64() }, 0.3},
		"another machine each time": {func(r *rand.Rand, _ int, _ float64) float64 { return 10 * r.NormFloat64() }, 1.01},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var placed, luck float64
			for seed := range uint64(20) {
				r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // chance that can be repeated
				adds := 0.0
				number := func() *metric.Value {
					v, err := metric.FromFloat(100 + adds + r.NormFloat64())
					require.NoError(t, err)
					return &v
				}
				request := Request{Direction: metric.Lower}
				for i := range 150 {
					adds = c.adds(r, i, adds)
					trial := PastIteration{Iteration: i + 1, Params: map[string]metric.Value{}, Metric: number(), Previous: number(), Deviation: math.Sqrt2}
					gain := trial.Metric.Float64() - trial.Previous.Float64()
					if trial.Accepted = gain < -1; trial.Accepted {
						luck -= gain
					}
					request.History = append(request.History, trial)
				}
				places := placesOf(request)
				placed += math.Abs(places[len(places)-1].after.Float64() - places[0].level.Float64())
			}
			assert.Greater(t, luck/20, 50.0)
			assert.Less(t, placed/luck, c.most)
		})
	}
}

// TestSteadiness: a machine that stays as it is lets all measurements be
// compared, one that wanders only those of the same time.
func TestSteadiness(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // chance that can be repeated
	history := func(noise, walk float64) moments {
		m, at := moments{noise: noise * noise}, 0.0
		for range 2000 {
			at += walk * r.NormFloat64()
			m.beside = append(m.beside, at+noise*r.NormFloat64())
			m.before = append(m.before, 0)
		}
		return m
	}
	assert.InDelta(t, 1, history(1, 0).steadiness(), 1e-9)
	assert.InDelta(t, 0.36, history(1, 1).steadiness(), 0.05, "the gain of the filter is then 0.62, the golden ratio")
	assert.Less(t, history(0.1, 1).steadiness(), 0.05)
	assert.Zero(t, history(0, 0).steadiness(), "no noise")
	short := history(1, 0)
	short.beside, short.before = short.beside[:5], short.before[:5]
	assert.Zero(t, short.steadiness(), "too few to tell")
}
