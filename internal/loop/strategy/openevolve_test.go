package strategy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/strategy"
	"github.com/org/autoloop/internal/metric"
)

func individual(iteration int, value int64, lines ...string) *history.Proposed {
	one := &history.Proposed{Patch: "@@ @@\n+" + strings.Join(lines, "\n+")}
	one.Iteration, one.Proposal, one.Metric = iteration, 1, new(metric.FromInt(value))
	return one
}

// drawn is an offspring by the places of its relatives, -1 for none.
type drawn struct {
	Parent       int
	Inspirations []int
}

func selectParents(members []*history.Proposed, direction metric.Direction, seed int64, iteration,
	proposal int,
) drawn {
	offspring := strategy.Openevolve(strategy.Population{
		Members: members, Direction: direction, Seed: seed, Iteration: iteration, Proposal: proposal,
	})
	of := drawn{Parent: slices.Index(members, offspring.Parent)}
	for _, one := range offspring.Inspirations {
		of.Inspirations = append(of.Inspirations, slices.Index(members, one))
	}
	return of
}

// settled is a population of one island's worth: iterations 2, 5, 8, … have the
// island of iteration 11.
func settled(values ...int64) []*history.Proposed {
	var all []*history.Proposed
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
	assert.Equal(t, drawn{Parent: -1}, selectParents(nil, metric.Higher, 1, 4, 1))
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
	all := []*history.Proposed{
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
	all := []*history.Proposed{individual(2, 5, "a", "b", "c"), individual(5, 5, "d", "e"), individual(8, 9, "best")}
	for seed := range int64(50) {
		assert.NotEqual(t, 0, selectParents(all, metric.Higher, seed, 11, 1).Parent)
	}
}

// TestChanceIsThatOfTheProposal: two proposals of an iteration, two iterations and two
// programs each draw for themselves.
func TestChanceIsThatOfTheProposal(t *testing.T) {
	t.Parallel()
	all := settled(1, 2, 3, 4, 5, 6)
	draws := func(seed int64, iteration, proposal int) string {
		var list []int
		for i := range 12 { // all of one island
			list = append(list, selectParents(all, metric.Higher, seed, iteration+30*i, proposal).Parent)
		}
		return fmt.Sprint(list)
	}
	seen := map[string]bool{
		draws(1, 20, 1): true, draws(2, 20, 1): true, draws(-1, 20, 1): true, draws(1, 23, 1): true,
		draws(1, 20, 4): true, draws(1, 20, 7): true,
	}
	assert.Len(t, seen, 6)
}

// TestVisitsComeEveryTenIterations: between two of them what an island measures stays
// there.
func TestVisitsComeEveryTenIterations(t *testing.T) {
	t.Parallel()
	visited := func(of, iteration int) bool {
		all := []*history.Proposed{individual(of, 9, "x"), individual(2, 1, "y", "z")}
		for proposal := 1; proposal <= 3; proposal++ {
			if (iteration+proposal)%3 != 0 { // the island after that of iterations 1, 4, 7, …
				continue
			}
			for seed := range int64(60) {
				if o := selectParents(all, metric.Higher, seed, iteration, proposal); o.Parent == 0 ||
					slices.Contains(o.Inspirations, 0) {
					return true
				}
			}
		}
		return false
	}
	for _, c := range []struct {
		of, from int // from is the iteration from which on it visits
	}{{1, 10}, {4, 10}, {10, 10}, {13, 20}, {22, 30}} {
		for iteration := c.of; iteration < 35; iteration++ {
			require.Equal(t, iteration >= c.from, visited(c.of, iteration),
				"what iteration %d measured, in iteration %d", c.of,
				iteration)
		}
	}
}

func TestStrategiesByName(t *testing.T) {
	t.Parallel()
	all := strategy.All()
	for name, evolves := range map[string]bool{
		"openevolve": true, "test-driven": false, "": false, "Openevolve": false,
		"no such one": false,
	} {
		found := all.Named(name)
		assert.Equal(t, evolves, found.Evolves, name)
		assert.Equal(t, slices.Contains(all.Names(), name), found.Name == name && name != "", name)
		o := found.SelectParents(strategy.Population{Members: settled(1, 2, 3), Iteration: 11, Proposal: 1, Seed: 1})
		assert.Equal(t, evolves, len(o.Inspirations) > 0, name)
		assert.Equal(t, name == "test-driven", found.Focus("--- FAIL: TestA\n", nil) == "TestA", name)
	}
	assert.Empty(t, strategy.Table{}.Named("openevolve").Name)
	assert.Equal(t, strategy.Offspring{},
		strategy.Table(nil).Named("").SelectParents(strategy.Population{Members: settled(1)}))
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(all.Names()))), len(all), "a name is one strategy's")
}
