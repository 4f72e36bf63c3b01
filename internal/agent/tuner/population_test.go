package tuner_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/tuner"
	"github.com/org/autoloop/internal/metric"
)

func individual(iteration int, value float64, lines ...string) tuner.Individual {
	return tuner.Individual{Iteration: iteration, Proposal: 1, Value: value, Lines: lines}
}

// settled is a population of one island's worth: iterations 2, 5, 8, … have the
// island of iteration 11.
func settled(values ...float64) []tuner.Individual {
	var all []tuner.Individual
	for i, value := range values {
		lines := make([]string, 1<<i) // every one in a cell of its own
		for j := range lines {
			lines[j] = fmt.Sprintf("%d-%d", i, j)
		}
		all = append(all, individual(2+3*i, value, lines...))
	}
	return all
}

func TestBreedWithoutAPopulation(t *testing.T) {
	t.Parallel()
	assert.Equal(t, tuner.Litter{Island: 2, Parent: -1}, tuner.Breed(nil, metric.Higher, 1, 4, 1))
	assert.Equal(t, -1, tuner.Breed([]tuner.Individual{individual(1, math.NaN()), individual(1, math.Inf(1))}, metric.Higher, 1, 4, 1).Parent)
}

func TestBreedIsReproducible(t *testing.T) {
	t.Parallel()
	all := settled(1, 2, 3, 4, 5)
	seen := map[string]bool{}
	for seed := range int64(20) {
		one := tuner.Breed(all, metric.Higher, seed, 17, 1)
		assert.Equal(t, one, tuner.Breed(all, metric.Higher, seed, 17, 1))
		seen[fmt.Sprint(one)] = true
	}
	assert.Greater(t, len(seen), 3, "chance has a say")
}

func TestBreedPrefersTheBest(t *testing.T) {
	t.Parallel()
	for _, direction := range []metric.Direction{metric.Higher, metric.Lower} {
		all := settled(1, 5, 3)
		counts := map[int]int{}
		for seed := range int64(2000) {
			counts[tuner.Breed(all, direction, seed, 11, 1).Parent]++
		}
		best, worst := 1, 0
		if direction == metric.Lower {
			best, worst = 0, 1
		}
		assert.Greater(t, counts[best], 600, direction)
		assert.Greater(t, counts[worst], 100, "every cell has a chance")
		assert.Greater(t, counts[best], counts[2])
		assert.InDelta(t, 200, counts[-1], 60, "the incumbent now and then")
	}
}

func TestCellsKeepTheirBest(t *testing.T) {
	t.Parallel()
	// Two of one size and one difference share a cell; the third is alone.
	all := []tuner.Individual{
		individual(2, 9, "best"), individual(5, 1, "a", "b"), individual(8, 2, "c", "d"), individual(2, 0, "a", "b", "c", "d", "e"),
	}
	for seed := range int64(300) {
		litter := tuner.Breed(all, metric.Higher, seed, 11, 1)
		assert.NotEqual(t, 1, litter.Parent, "it lost its cell")
		assert.NotContains(t, litter.Inspirations, 1)
		assert.NotContains(t, litter.Inspirations, litter.Parent)
	}
}

func TestIslandsStayApartUntilTheyVisit(t *testing.T) {
	t.Parallel()
	// Iteration 1 belongs to island 2, iteration 2 to island 0.
	all := []tuner.Individual{individual(1, 7, "x"), individual(2, 5, "y", "z")}
	met := func(iteration int) bool {
		for seed := range int64(100) {
			litter := tuner.Breed(all, metric.Higher, seed, iteration, 1)
			require.Equal(t, 0, litter.Island)
			if litter.Parent == 0 {
				return true
			}
		}
		return false
	}
	assert.False(t, met(8))
	assert.True(t, met(11), "after ten iterations the best of an island visits the next")
}

func TestEqualValuesPreferTheSmallerChange(t *testing.T) {
	t.Parallel()
	all := []tuner.Individual{individual(2, 5, "a", "b", "c"), individual(5, 5, "d", "e"), individual(8, 9, "best")}
	for seed := range int64(50) {
		assert.NotEqual(t, 0, tuner.Breed(all, metric.Higher, seed, 11, 1).Parent)
	}
}
