package strategy_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/loop/strategy"
	"github.com/org/autoloop/internal/metric"
)

func individual(iteration int, value float64, lines ...string) strategy.Individual {
	return strategy.Individual{Iteration: iteration, Proposal: 1, Value: value, Lines: lines}
}

func selectParents(members []strategy.Individual, direction metric.Direction, seed int64, iteration,
	proposal int,
) strategy.Offspring {
	return strategy.Openevolve{}.SelectParents(strategy.Population{
		Members: members, Direction: direction, Seed: seed, Iteration: iteration, Proposal: proposal,
	})
}

// settled is a population of one island's worth: iterations 2, 5, 8, … have the
// island of iteration 11.
func settled(values ...float64) []strategy.Individual {
	var all []strategy.Individual
	for i, value := range values {
		lines := make([]string, 1<<i) // every one in a cell of its own
		for j := range lines {
			lines[j] = fmt.Sprintf("%d-%d", i, j)
		}
		all = append(all, individual(2+3*i, value, lines...))
	}
	return all
}

func TestSelectParentsWithoutAPopulation(t *testing.T) {
	t.Parallel()
	assert.Equal(t, strategy.Offspring{Parent: -1}, selectParents(nil, metric.Higher, 1, 4, 1))
	assert.Equal(t, -1, selectParents([]strategy.Individual{individual(1, math.NaN()), individual(1, math.Inf(1))},
		metric.Higher, 1, 4, 1).Parent)
}

func TestSelectParentsPrefersTheBest(t *testing.T) {
	t.Parallel()
	for _, direction := range []metric.Direction{metric.Higher, metric.Lower} {
		all := settled(1, 5, 3)
		counts := map[int]int{}
		for seed := range int64(2000) {
			counts[selectParents(all, direction, seed, 11, 1).Parent]++
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
	all := []strategy.Individual{
		individual(2, 9, "best"), individual(5, 1, "a", "b"), individual(8, 2, "c", "d"),
		individual(2, 0, "a", "b", "c", "d", "e"),
	}
	for seed := range int64(300) {
		offspring := selectParents(all, metric.Higher, seed, 11, 1)
		assert.NotEqual(t, 1, offspring.Parent, "it lost its cell")
		assert.NotContains(t, offspring.Inspirations, 1)
		assert.NotContains(t, offspring.Inspirations, offspring.Parent)
	}
}

func TestEqualValuesPreferTheSmallerChange(t *testing.T) {
	t.Parallel()
	all := []strategy.Individual{individual(2, 5, "a", "b", "c"), individual(5, 5, "d", "e"), individual(8, 9, "best")}
	for seed := range int64(50) {
		assert.NotEqual(t, 0, selectParents(all, metric.Higher, seed, 11, 1).Parent)
	}
}
