package strategy_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/loop/strategy"
	"github.com/org/autoloop/internal/metric"
)

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
		all := []strategy.Individual{
			{Iteration: of, Proposal: 1, Value: 9, Lines: []string{"x"}},
			{Iteration: 2, Proposal: 1, Value: 1, Lines: []string{"y", "z"}},
		}
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
	assert.Equal(t, strategy.Offspring{Parent: -1},
		strategy.Table(nil).Named("").SelectParents(strategy.Population{Members: settled(1)}))
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(all.Names()))), len(all), "a name is one strategy's")
}
