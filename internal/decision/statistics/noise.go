// Package statistics tells a difference from chance: medians, the exact rank test
// and the interval of a shift, over a few repeated measurements of two sides.
package statistics

import (
	"math"
	"slices"
	"sort"

	"github.com/aclements/go-moremath/stats"

	"github.com/org/autoloop/internal/metric"
)

// Effect is how two sets of samples differ. The differences are candidate
// minus incumbent, in the metric's unit.
type Effect struct {
	// Incumbent is the median of the incumbent's runs.
	Incumbent metric.Value `json:"incumbent_median"`
	// Candidate is the median of the candidate's runs.
	Candidate metric.Value `json:"candidate_median"`
	// Difference is that of the medians.
	Difference metric.Value `json:"difference"`
	// Low is the lower end of the interval that has the shift between the sides at the
	// confidence.
	Low metric.Value `json:"low"`
	// High is the upper end of that interval.
	High metric.Value `json:"high"`
	// P is the two-sided probability of ranks this far apart by chance.
	P float64 `json:"p_value"`
}

// Shift compares two sets of samples, which must not be empty, without a test.
func Shift(incumbent, candidate []metric.Value, confidence float64) Effect {
	old, changed := Median(incumbent), Median(candidate)
	low, high := shift(incumbent, candidate, confidence)
	return Effect{Incumbent: old, Candidate: changed, Difference: changed.Sub(old), Low: low, High: high}
}

// exactRanks is up to how many samples P is exact; beyond it the distribution of the rank
// sum is taken as normal.
const exactRanks = 100

// P is the two-sided p-value of the Mann–Whitney U test, 1 when every sample
// is the same: twice the chance of ranks that are as far apart in that direction, among
// all ways to label the samples. They are compared as decimals, so that neighbours which
// are one float64 still differ.
func P(a, b []metric.Value) float64 {
	scores, observed, total := midRanks(slices.Concat(a, b)), 0, 0
	for i, score := range scores {
		if total += score; i < len(a) {
			observed += score
		}
	}
	if len(scores) > exactRanks {
		const continuity = 1 // half a rank
		far := math.Abs(float64(observed)-float64(total*len(a))/float64(len(scores))) - continuity
		return min(2*stats.StdNormal.CDF(-far/math.Sqrt(variance(scores, len(a)))), 1)
	}
	below, above := 0.0, 0.0
	for sum, chance := range drawn(scores, len(a)) {
		if sum <= observed {
			below += chance
		}
		if sum >= observed {
			above += chance
		}
	}
	return min(2*below, 2*above, 1)
}

// Median is the middle sample, or the mean of the two middle ones. The samples
// must not be empty; their order stays as it is.
func Median(samples []metric.Value) metric.Value {
	ordered := sorted(samples)
	middle := len(ordered) / 2
	if len(ordered)%2 == 1 {
		return ordered[middle]
	}
	return ordered[middle-1].Mean(ordered[middle])
}

// Spread is the distance between the quartiles of the samples (the medians of
// the lower and of the upper half), 0 for fewer than two.
func Spread(samples []metric.Value) metric.Value {
	if len(samples) < 2 {
		return metric.Value{}
	}
	ordered := sorted(samples)
	half := len(ordered) / 2
	return Median(ordered[len(ordered)-half:]).Sub(Median(ordered[:half]))
}

// Same reports whether all samples are equal.
func Same(samples []metric.Value) bool {
	return !slices.ContainsFunc(samples, func(v metric.Value) bool { return v.Cmp(samples[0]) != 0 })
}

func sorted(samples []metric.Value) []metric.Value {
	ordered := slices.Clone(samples)
	slices.SortFunc(ordered, metric.Value.Cmp)
	return ordered
}

// maxShift bounds the pairs of samples that an interval is read from; beyond
// it, evenly chosen samples of each side stand for all.
const maxShift = 200

// shift is the distribution-free confidence interval of the shift between two
// samples: the order statistics of all differences between which the U
// statistic stays with the confidence (Hollander and Wolfe, Nonparametric
// Statistical Methods, 4.3; Bauer 1972). With too few samples for the
// confidence it is the range of the differences.
func shift(a, b []metric.Value, confidence float64) (low, high metric.Value) {
	a, b = thinned(a), thinned(b)
	differences := make([]metric.Value, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			differences = append(differences, y.Sub(x))
		}
	}
	slices.SortFunc(differences, metric.Value.Cmp)
	cut := max(critical(len(a), len(b), (1-confidence)/2)-1, 0)
	return differences[cut], differences[len(differences)-1-cut]
}

// critical is the greatest number c with P(U < c) ≤ tail under the hypothesis
// of no difference: exact for small samples, else by the normal approximation.
func critical(n1, n2 int, tail float64) int {
	const exact = 50
	if n1 > exact || n2 > exact {
		n, m := float64(n1), float64(n2)
		u := n*m/2 + stats.StdNormal.InvCDF(tail)*math.Sqrt(n*m*(n+m+1)/12)
		return max(int(u), 0)
	}
	dist := stats.UDist{N1: n1, N2: n2}
	return sort.Search(n1*n2/2, func(c int) bool { return dist.CDF(float64(c)) > tail })
}

func thinned(samples []metric.Value) []metric.Value {
	if len(samples) <= maxShift {
		return samples
	}
	ordered := sorted(samples)
	few := make([]metric.Value, maxShift)
	for i := range few {
		few[i] = ordered[i*(len(ordered)-1)/(maxShift-1)]
	}
	return few
}

// Least is the probability of one way to label so many samples: 1/C(n1+n2, n1).
func Least(n1, n2 int) float64 {
	p := 1.0
	for i := 1; i <= n1; i++ {
		p *= float64(i) / float64(n2+i)
	}
	return p
}

// Reachable reports whether the exact test of so many samples a side can come
// out below 1 − confidence.
func Reachable(n1, n2 int, confidence float64) bool { return 2*Least(n1, n2) < 1-confidence }

// RunsNeeded is the least number of runs a side with which the exact test can reach the
// confidence, which is below 1.
func RunsNeeded(confidence float64) int {
	n := 1
	for !Reachable(n, n, confidence) {
		n++
	}
	return n
}

// exactRuns is up to how many runs the randomisation test is exact; beyond it
// the distribution of the rank sum is taken as normal.
const exactRuns = 64

// Randomised is the two-sided p-value of the randomisation test of a design in
// which the order of the sides was random within blocks: the part of all orders
// of that design in which the ranks of the candidate's samples add up to a sum
// as far from the middle as in the order that was used. It holds for every
// effect of time, since it asks only which runs the candidate happened to get
// (Edgington and Onghena, Randomization Tests). candidate says of each sample,
// in the order of the runs, whether it is the candidate's; blocks are the
// numbers of runs of each block, and in each both sides have as many.
func Randomised(samples []metric.Value, candidate []bool, blocks []int) float64 {
	scores := midRanks(samples)
	total, observed := 0, 0
	for i, score := range scores {
		total += score
		if candidate[i] {
			observed += score
		}
	}
	far := max(2*observed-total, total-2*observed)
	if far == 0 {
		return 1
	}
	sums, square := []float64{1}, 0.0
	for _, runs := range blocks {
		if len(samples) > exactRuns {
			square += variance(scores[:runs], runs/2)
		} else {
			sums = convolved(sums, drawn(scores[:runs], runs/2))
		}
		scores = scores[runs:]
	}
	if square > 0 {
		return min(2*stats.StdNormal.CDF(-float64(far)/2/math.Sqrt(square)), 1)
	}
	p := 0.0
	for sum, chance := range sums {
		if max(2*sum-total, total-2*sum) >= far {
			p += chance
		}
	}
	return min(p, 1)
}

// midRanks are twice the ranks of the samples, with the mean rank for equals, so
// that they are whole numbers.
func midRanks(samples []metric.Value) []int {
	scores := make([]int, len(samples))
	for i, a := range samples {
		for _, b := range samples {
			switch b.Cmp(a) {
			case -1:
				scores[i] += 2
			case 0:
				scores[i]++
			}
		}
	}
	return scores
}

// drawn is the distribution of the sum of so many of the scores, drawn at random.
func drawn(scores []int, count int) []float64 {
	total := 0
	for _, score := range scores {
		total += score
	}
	ways := make([][]float64, count+1) // by how many were drawn, and their sum
	for i := range ways {
		ways[i] = make([]float64, total+1)
	}
	ways[0][0] = 1
	for _, score := range scores {
		for taken := count; taken > 0; taken-- {
			for sum := total; sum >= score; sum-- {
				ways[taken][sum] += ways[taken-1][sum-score]
			}
		}
	}
	all := 0.0
	for _, n := range ways[count] {
		all += n
	}
	for sum := range ways[count] {
		ways[count][sum] /= all
	}
	return ways[count]
}

func convolved(a, b []float64) []float64 {
	sums := make([]float64, len(a)+len(b)-1)
	for i, x := range a {
		if x == 0 {
			continue
		}
		for j, y := range b {
			sums[i+j] += x * y
		}
	}
	return sums
}

// variance is that of the sum of so many of the scores, drawn at random.
func variance(scores []int, count int) float64 {
	mean, square, n := 0.0, 0.0, float64(len(scores))
	for _, score := range scores {
		mean += float64(score) / n
	}
	for _, score := range scores {
		square += (float64(score) - mean) * (float64(score) - mean)
	}
	return square * float64(count) * (n - float64(count)) / n / (n - 1)
}
