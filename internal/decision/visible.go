package decision

import (
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/aclements/go-moremath/stats"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
)

// visiblePower is the chance with which a gain has to be found to count as
// visible.
const visiblePower = 0.8

// Visible estimates the smallest true gain, in the metric's unit, that the rule
// finds four times in five, when runs scatter like these samples: it tries
// candidates whose noise is normal with the samples' deviation (the quartiles'
// distance over 1.349, or the standard deviation where the quartiles agree).
// It is MinImprovement where nothing scatters. Seeded: the same samples give
// the same answer.
func Visible(rule Rule, samples []metric.Value) float64 {
	least := rule.MinImprovement.Of(statistics.Median(samples)).Float64()
	deviation := statistics.Spread(samples).Float64() / 1.349
	if deviation == 0 {
		var numbers []float64
		for _, v := range samples {
			numbers = append(numbers, v.Float64())
		}
		deviation = stats.StdDev(numbers)
	}
	if deviation == 0 || rule.Regime != Noisy {
		return least
	}
	// Beyond so many pairs the early look decides what is seen.
	const trials, rounds, most = 100, 7, 20
	noise := Standard{Rule: Rule{
		Regime: Noisy, Pairs: min(rule.Pairs, most), MaxPairs: min(rule.MaxPairs, most), Confidence: rule.Confidence,
		MinImprovement: Allowance{Value: scattered(least / deviation)},
	}, Direction: metric.Higher}
	low, high := 0.0, least/deviation+8 // in deviations
	for range rounds {
		gain := (low + high) / 2
		random := rand.New(rand.NewPCG(1, 2))
		found := 0
		for n := range trials {
			noise.Seed = strconv.Itoa(n)
			d, _ := NewTrial(noise).Run(func(step Step) (metric.Measurement, error) {
				value := random.NormFloat64()
				if step.Side == Candidate {
					value += gain
				}
				return metric.Measurement{Metric: new(scattered(value))}, nil
			})
			if d.Verdict == Improved {
				found++
			}
		}
		if float64(found) < visiblePower*trials {
			low = gain
		} else {
			high = gain
		}
	}
	return high * deviation
}

// scattered is a number of enough digits for noise.
func scattered(x float64) metric.Value {
	const digits = 1e6
	value, _ := metric.FromFloat(math.Round(x*digits) / digits) // 0 for what is not finite
	return value
}
