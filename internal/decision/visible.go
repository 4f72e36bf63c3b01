package decision

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
)

// visiblePower is the chance with which a gain has to be found to count as
// visible.
const visiblePower = 0.8

// Visible estimates the smallest true gain, in the metric's unit, that the rule
// finds four times in five, when runs scatter like these samples: it simulates
// candidates whose noise is normal with the samples' deviation (the quartiles'
// distance over 1.349, or the standard deviation where the quartiles agree).
// It is MinImprovement where nothing scatters. Seeded: the same samples give
// the same answer.
func Visible(rule Rule, samples []metric.Value) float64 {
	least := rule.MinImprovement.Of(statistics.Median(samples)).Float64()
	deviation := spread(samples)
	if deviation == 0 || rule.Regime != Noisy {
		return least
	}
	sight := newSight(rule, least/deviation)
	low, high := 0.0, sight.least+8 // in deviations
	for range 12 {
		middle := (low + high) / 2
		if sight.power(middle) < visiblePower {
			low = middle
		} else {
			high = middle
		}
	}
	return high * deviation
}

func spread(samples []metric.Value) float64 {
	if s := statistics.Spread(samples).Float64() / 1.349; s > 0 {
		return s
	}
	mean, square := 0.0, 0.0
	for _, v := range samples {
		mean += v.Float64() / float64(len(samples))
	}
	for _, v := range samples {
		square += math.Pow(v.Float64()-mean, 2)
	}
	return math.Sqrt(square / float64(max(len(samples)-1, 1)))
}

// sight is a noisy rule in units of the noise's standard deviation, with the
// test as its critical value: samples of a continuous distribution have no ties,
// and without drift the test of blocks is nearly the rank test.
type sight struct {
	looks []look
	least float64
}

// look is a look at so many pairs: the number below which the U statistic is
// beyond chance, and the one below which a stage is promising.
type look struct{ pairs, critical, promising int }

func newSight(rule Rule, least float64) sight {
	// promising is the p-value from which twice the pairs bring the same difference
	// to 0.05, in the normal approximation.
	const promising = 0.166
	at := func(pairs int) look {
		return look{
			pairs, statistics.Critical(pairs, pairs, 1-rule.level(pairs)),
			statistics.Critical(pairs, pairs, 1-promising),
		}
	}
	sight := sight{looks: []look{at(rule.Pairs)}, least: least}
	if rule.MaxPairs > rule.Pairs {
		sight.looks = append(sight.looks, at(rule.MaxPairs))
	}
	return sight
}

// power is how often a candidate that is better by gain passes both stages.
func (s sight) power(gain float64) float64 {
	const trials = 400
	random := rand.New(rand.NewPCG(1, 2))
	passed := 0
	for range trials {
		found := s.stage(random, gain)
		if found {
			found = s.stage(random, gain) // the confirmation
		}
		if found {
			passed++
		}
	}
	return float64(passed) / trials
}

func (s sight) stage(random *rand.Rand, gain float64) bool {
	var old, changed []float64
	for i, look := range s.looks {
		for range look.pairs - len(old) {
			old, changed = append(old, random.NormFloat64()), append(changed, random.NormFloat64()+gain)
		}
		if early := min(earlyLook, look.pairs); i == 0 && median(changed[:early]) <= median(old[:early]) {
			return false
		}
		u := uStatistic(old, changed)
		if u < look.critical {
			return median(changed)-median(old) >= s.least
		}
		if u >= look.promising {
			return false
		}
	}
	return false
}

// uStatistic counts the pairs in which the incumbent is better.
func uStatistic(old, changed []float64) int {
	old, changed = slices.Sorted(slices.Values(old)), slices.Sorted(slices.Values(changed))
	u, below := 0, 0
	for _, x := range old {
		for below < len(changed) && changed[below] < x {
			below++
		}
		u += below
	}
	return u
}

func median(samples []float64) float64 {
	ordered := slices.Sorted(slices.Values(samples))
	middle := len(ordered) / 2
	if len(ordered)%2 == 1 {
		return ordered[middle]
	}
	return (ordered[middle-1] + ordered[middle]) / 2
}
