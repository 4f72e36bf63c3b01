package statistics_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
)

// split takes the samples of each side out of those of both.
func split(samples []metric.Value, candidate []bool) (old, changed []metric.Value) {
	for i, v := range samples {
		if candidate[i] {
			changed = append(changed, v)
		} else {
			old = append(old, v)
		}
	}
	return old, changed
}

// enumerated is the randomisation test by all orders, one after the other.
func enumerated(samples []metric.Value, candidate []bool, blocks []int) float64 {
	score := func(ours []bool) float64 {
		sum := 0.0
		for i, a := range samples {
			if !ours[i] {
				continue
			}
			for _, b := range samples {
				sum += float64(1+a.Cmp(b)) / 2
			}
		}
		return sum - float64(len(samples)*len(samples))/4
	}
	observed := max(score(candidate), -score(candidate))
	far, all := 0, 0
	var walk func(at, block, left int, ours []bool)
	walk = func(at, block, left int, ours []bool) {
		if block == len(blocks) {
			all++
			if s := score(ours); max(s, -s) >= observed-1e-9 {
				far++
			}
			return
		}
		end := 0
		for _, runs := range blocks[:block+1] {
			end += runs
		}
		if at == end {
			if left == 0 && block+1 < len(blocks) {
				walk(at, block+1, blocks[block+1]/2, ours)
			} else if left == 0 {
				walk(at, block+1, 0, ours)
			}
			return
		}
		if left > 0 {
			walk(at+1, block, left-1, append(slices.Clone(ours), true))
		}
		if end-at > left {
			walk(at+1, block, left, append(slices.Clone(ours), false))
		}
	}
	walk(0, 0, blocks[0]/2, nil)
	return float64(far) / float64(all)
}

// dealt is a random order of a design, with samples that have ties.
func dealt(random *rand.Rand, blocks []int) (samples []metric.Value, candidate []bool) {
	for _, runs := range blocks {
		for _, i := range random.Perm(runs) {
			candidate = append(candidate, i < runs/2)
			samples = append(samples, metric.FromInt(int64(random.NormFloat64()*3)))
		}
	}
	return samples, candidate
}

func TestRandomisedIsAllOrders(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6)) //nolint:gosec // a test repeats itself
	for _, blocks := range [][]int{{2}, {8}, {6, 4}, {2, 2, 2, 2}, {6, 6}, {4, 2, 6}} {
		t.Run(fmt.Sprint(blocks), func(t *testing.T) {
			for range 10 {
				samples, candidate := dealt(random, blocks)
				p := statistics.Randomised(samples, candidate, blocks)
				assert.InDelta(t, enumerated(samples, candidate, blocks), p, 1e-9, "%v %v", samples, candidate)
				if len(blocks) == 1 {
					old, changed := split(samples, candidate)
					assert.InDelta(t, statistics.P(old, changed), p, 1e-9, "one block is the rank test")
				}
			}
		})
	}
}

// A machine that gets slower: within blocks the difference shows, in all the
// runs together it does not.
func TestRandomisedIsSharperOnADriftingMachine(t *testing.T) {
	t.Parallel()
	var samples []metric.Value
	var candidate []bool
	blocks := []int{2, 2, 2, 2, 2, 2, 2, 2}
	for i := range int64(8) {
		samples = append(samples, metric.FromInt(100+10*i), metric.FromInt(102+10*i))
		candidate = append(candidate, false, true)
	}
	old, changed := split(samples, candidate)
	assert.InDelta(t, 2.0/256, statistics.Randomised(samples, candidate, blocks), 1e-9)
	assert.Greater(t, statistics.P(old, changed), 0.5)
}

func TestRandomisedOfManyRuns(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8)) //nolint:gosec // a test repeats itself
	for _, pairs := range []int{30, 36} { // beside the end of the exact test
		var blocks []int
		for range pairs / 2 {
			blocks = append(blocks, 4)
		}
		below := 0
		for range 400 {
			samples, candidate := dealt(random, blocks)
			if statistics.Randomised(samples, candidate, blocks) < 0.1 {
				below++
			}
		}
		assert.InDelta(t, 40, below, 20, "%d pairs", pairs)
	}
}
