package decision

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/aclements/go-moremath/stats"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
)

// disagreeing is the p-value below which two samples of the same files are of two
// machines, or of luck. Three runs beside eight can reach it.
const disagreeing = 0.02

// Disagreement says that the incumbent, measured anew, is not what is on record,
// nil when it is, or when too little was measured to tell. A difference counts when
// it is no chance and twice as large as the recorded samples are apart: recorded
// ones that lie together by luck are compared with again and again.
func Disagreement(recorded, anew []metric.Value) *Reason {
	if len(recorded) == 0 || len(anew) == 0 || Agrees(recorded, anew) {
		return nil
	}
	was, is, apart := statistics.Median(recorded), statistics.Median(anew), width(recorded)
	steady := len(recorded) > 1 && apart.Sign() == 0 && statistics.Same(anew) // leaves nothing to chance
	if !steady && statistics.P(recorded, anew) >= disagreeing {
		return nil
	}
	return &Reason{Kind: Disagrees, Value: &is, Count: len(anew), Beside: &was, Of: len(recorded), High: &apart}
}

// Agrees reports whether the incumbent, measured anew, is as near to what is on
// record as its samples are to each other, twice. What is farther away and may
// still be chance, as after few runs, neither agrees nor disagrees.
func Agrees(recorded, anew []metric.Value) bool {
	if len(recorded) == 0 || len(anew) == 0 {
		return false
	}
	apart := width(recorded)
	return statistics.Median(anew).Sub(statistics.Median(recorded)).Abs().Cmp(apart.Add(apart)) <= 0
}

// width is how far the greatest sample is from the least.
func width(samples []metric.Value) metric.Value {
	return slices.MaxFunc(samples, metric.Value.Cmp).Sub(slices.MinFunc(samples, metric.Value.Cmp))
}

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
