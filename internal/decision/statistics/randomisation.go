package statistics

import (
	"math"

	"github.com/aclements/go-moremath/stats"

	"github.com/org/autoloop/internal/metric"
)

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
	far := abs(2*observed - total)
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
		if abs(2*sum-total) >= far {
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

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
