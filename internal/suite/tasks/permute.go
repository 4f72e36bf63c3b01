package tasks

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/org/autoloop/internal/metric"
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

// sample is one number of every run of a task, in millionths: the candidate's runs,
// which are so many, and then the baseline's.
type sample struct {
	runs       []int64
	candidates int
}

func sampleOf[T any](sides [2][]T, number func(T) metric.Value) sample {
	s := sample{candidates: len(sides[1])}
	for _, one := range slices.Concat(sides[1], sides[0]) {
		s.runs = append(s.runs, new(big.Rat).Mul(number(one).Rat(), big.NewRat(1_000_000, 1)).Num().Int64())
	}
	return s
}

// chances are the probabilities of a permutation test over the tasks of a suite. Under
// the null hypothesis the labels of the two sides could be exchanged: every
// arrangement of them is as likely as the observed one.
type chances struct {
	groups []group
	// drops is mean(baseline) − mean(candidate) of each task in standard errors.
	drops []float64
	// shared says that there is one group, of all tasks.
	shared bool
}

// group is tasks of which runs are exchanged together.
type group struct {
	// nets has the sum of mean(candidate) − mean(baseline) in each arrangement, the
	// observed one first.
	nets []float64
	// worst has the largest drop of any task in each arrangement, in ascending order.
	worst []float64
}

// exchange tests samples, of one task each, by at most so many arrangements. Runs that
// share something, such as the hours in which a side was measured or a session of its
// judge, are exchanged between the sides as whole runs; others within each task.
func exchange(samples []sample, shared bool, most int) *chances {
	other := func(s sample) bool { // cannot be exchanged whole
		return len(s.runs) != len(samples[0].runs) || s.candidates != samples[0].candidates
	}
	c, size := &chances{shared: shared && len(samples) > 0 && !slices.ContainsFunc(samples, other)}, 1
	if c.shared {
		size = len(samples)
	}
	for tasks := range slices.Chunk(samples, size) {
		c.add(tasks, most)
	}
	return c
}

// add lists the arrangements of tasks, or draws `most` of them when there are more. Where
// all runs are alike one tells as much as all.
func (c *chances) add(tasks []sample, most int) {
	if !slices.ContainsFunc(tasks, func(s sample) bool { return slices.Min(s.runs) != slices.Max(s.runs) }) {
		most = 1
	}
	var g group
	all, candidates := len(tasks[0].runs), tasks[0].candidates
	arrange(candidates, all-candidates, most, func(chosen []int) {
		net, worst := 0.0, math.Inf(-1)
		for _, s := range tasks {
			diff, drop := s.split(chosen)
			net, worst = net+diff, max(worst, drop)
			if len(g.nets) == 0 {
				c.drops = append(c.drops, drop)
			}
		}
		g.nets, g.worst = append(g.nets, net), append(g.worst, worst)
	})
	slices.Sort(g.worst)
	c.groups = append(c.groups, g)
}

// split returns mean(chosen, which are 1) − mean(others, 0), and how far it drops in standard errors,
// from the spread within the two groups.
func (s sample) split(chosen []int) (diff, drop float64) {
	var sum, count [2]float64
	for i, value := range s.runs {
		sum[chosen[i]] += float64(value)
		count[chosen[i]]++
	}
	mean := [2]float64{sum[0] / count[0], sum[1] / count[1]}
	squares := 0.0
	for i, value := range s.runs {
		off := float64(value) - mean[chosen[i]]
		squares += off * off
	}
	variance := squares / max(count[0]+count[1]-2, 1) * (1/count[0] + 1/count[1])
	diff = mean[1] - mean[0]
	return diff, -diff / max(math.Sqrt(variance), leastSpread)
}

// drop returns the probability that without any difference some task would drop as
// clearly as this one did. It is exact, because the groups are permuted independently:
// 1 − Π (1 − P(drop of that group ≥ observed)), what Westfall and Young call the p-value
// adjusted by the largest statistic.
func (c *chances) drop(task int) float64 {
	none := 1.0
	for _, g := range c.groups {
		from := sort.Search(len(g.worst), func(i int) bool { return atLeast(g.worst[i], c.drops[task]) })
		beyond := float64(len(g.worst)-from) / float64(len(g.worst))
		if c.shared {
			return beyond
		}
		none *= 1 - beyond
	}
	return 1 - none
}

// net returns the one-sided probabilities that a net gain, and a net loss, as large as
// the observed one comes from no difference.
func (c *chances) net() (gain, loss float64) {
	if len(c.groups) == 0 {
		return 1, 1
	}
	size, observed := 1.0, 0.0
	for _, g := range c.groups {
		size *= float64(len(g.nets))
		observed += g.nets[0]
	}
	sums := []float64{0} // of every combination of arrangements
	if size <= maxExact {
		for _, g := range c.groups {
			var more []float64
			for _, sum := range sums {
				for _, net := range g.nets {
					more = append(more, sum+net)
				}
			}
			sums = more
		}
	} else {
		sums[0] = observed // so that no probability is 0
		random := rand.New(rand.NewPCG(uint64(len(c.groups)), netDraws))
		for range netDraws - 1 {
			sum := 0.0
			for _, g := range c.groups {
				sum += g.nets[random.IntN(len(g.nets))]
			}
			sums = append(sums, sum)
		}
	}
	for _, sum := range sums {
		if atLeast(sum, observed) {
			gain++
		}
		if atLeast(-sum, -observed) {
			loss++
		}
	}
	all := float64(len(sums))
	return gain / all, loss / all
}

// arrange calls take for every way to label the runs of two sides, the observed
// one first, or for as many drawn ones when there are more.
func arrange(candidates, baselines, most int, take func(chosen []int)) {
	all := candidates + baselines
	chosen := make([]int, all)
	if arrangements(candidates, baselines) <= float64(most) {
		combinations(chosen, 0, candidates, take)
		return
	}
	for i := range candidates {
		chosen[i] = 1
	}
	random := rand.New(rand.NewPCG(uint64(candidates), uint64(all)))
	for range most {
		take(chosen)
		random.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
	}
}

// arrangements is the number of ways to label n+m runs.
func arrangements(n, m int) float64 {
	count := 1.0
	for i := 1; i <= n; i++ {
		count *= float64(m+i) / float64(i)
	}
	return math.Round(count)
}

// combinations calls take for every choice of so many from a place on, beginning with the
// first ones.
func combinations(chosen []int, from, left int, take func(chosen []int)) {
	if left == 0 {
		take(chosen)
		return
	}
	for i := from; i <= len(chosen)-left; i++ {
		chosen[i] = 1
		combinations(chosen, i+1, left-1, take)
		chosen[i] = 0
	}
}

// atLeast compares sums of the same numbers in another order.
func atLeast(value, x float64) bool {
	return value >= x-1e-9*max(1, math.Abs(x))
}
