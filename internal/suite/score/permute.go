package score

import (
	"math"
	"slices"
	"sort"
)

// The size of the tests by permutation. Everything is drawn from fixed seeds,
// so that the same outcomes always have the same verdict.
const (
	// significance is the level of each of the two one-sided tests.
	significance = 0.025
	// maxArrangements is up to where the arrangements of one task are listed
	// whole; beyond it that many are drawn.
	maxArrangements = 5000
	// maxExact is up to where all tasks are combined whole; beyond it
	// netDraws combinations are drawn.
	maxExact = 100_000
	netDraws = 20_000
	// leastSpread keeps a difference beside no spread at all finite: one unit
	// of the six decimals that composites have.
	leastSpread = 1.0
)

// stratum is one task with the composites of its runs, in millionths. Under
// the null hypothesis the labels of the two sides could be exchanged, within
// the task: every arrangement is as likely as the observed one.
type stratum struct {
	// diffs is mean(candidate) − mean(baseline) of each arrangement, the
	// observed one first.
	diffs []float64
	// drop is the observed mean(baseline) − mean(candidate) in standard
	// errors; drops are those of all arrangements, in ascending order.
	drop  float64
	drops []float64
}

// newStratum lists the arrangements of one task, or draws `most` of them when
// there are more.
func newStratum(baseline, candidate []int64, most int) stratum {
	pooled := slices.Concat(candidate, baseline)
	if slices.Min(pooled) == slices.Max(pooled) {
		return stratum{diffs: []float64{0}, drops: []float64{0}}
	}
	s := stratum{}
	s.list(pooled, len(candidate), most)
	s.drop = s.drops[0]
	slices.Sort(s.drops)
	return s
}

func (s *stratum) list(pooled []int64, candidates, most int) {
	take := func(chosen []bool) {
		diff, spread := split(pooled, chosen)
		s.diffs = append(s.diffs, diff)
		s.drops = append(s.drops, -diff/spread)
	}
	arrange(candidates, len(pooled)-candidates, most, take)
}

// arrangements is the number of ways to label n+m runs.
func arrangements(n, m int) float64 {
	count := 1.0
	for i := 1; i <= n; i++ {
		count *= float64(m+i) / float64(i)
	}
	return math.Round(count)
}

// combinations calls take for every choice of k out of n, beginning with the
// first k.
func combinations(n, k int, take func(chosen []bool)) {
	chosen := make([]bool, n)
	var choose func(from, left int)
	choose = func(from, left int) {
		if left == 0 {
			take(chosen)
			return
		}
		for i := from; i <= n-left; i++ {
			chosen[i] = true
			choose(i+1, left-1)
			chosen[i] = false
		}
	}
	choose(0, k)
}

// split returns mean(chosen) − mean(others), and its standard error from the
// spread within the two groups.
func split(pooled []int64, chosen []bool) (diff, spread float64) {
	var sum, count [2]float64
	for i, value := range pooled {
		group := 0
		if chosen[i] {
			group = 1
		}
		sum[group] += float64(value)
		count[group]++
	}
	mean := [2]float64{sum[0] / count[0], sum[1] / count[1]}
	squares := 0.0
	for i, value := range pooled {
		group := 0
		if chosen[i] {
			group = 1
		}
		off := float64(value) - mean[group]
		squares += off * off
	}
	variance := squares / max(count[0]+count[1]-2, 1) * (1/count[0] + 1/count[1])
	return mean[1] - mean[0], max(math.Sqrt(variance), leastSpread)
}

// beyond returns which part of the arrangements drops at least as clearly as x.
func (s *stratum) beyond(x float64) float64 {
	from := sort.Search(len(s.drops), func(i int) bool { return atLeast(s.drops[i], x) })
	return float64(len(s.drops)-from) / float64(len(s.drops))
}

// atLeast compares sums of the same numbers in another order.
func atLeast(value, x float64) bool {
	return value >= x-1e-9*max(1, math.Abs(x))
}
