package strategy_test

import (
	"fmt"
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/loop/strategy"
	"github.com/org/autoloop/internal/metric"
)

// invented is a population of so many candidates, no two of which have one value. Their
// lines are few words, so that some share cells.
func invented(chance *rand.Rand, count int) []strategy.Individual {
	values := chance.Perm(count)
	var all []strategy.Individual
	for i := range count {
		one := strategy.Individual{Iteration: 1 + i/2, Proposal: 1 + i%2, Value: float64(values[i]) - 3}
		for range chance.IntN(12) {
			one.Lines = append(one.Lines, fmt.Sprint("line ", chance.IntN(15)))
		}
		all = append(all, one)
	}
	return all
}

// named says which candidates an offspring is of.
func named(all []strategy.Individual, o strategy.Offspring) (names []string) {
	name := func(i int) string {
		if i < 0 {
			return "the incumbent"
		}
		return fmt.Sprintf("%d-%d", all[i].Iteration, all[i].Proposal)
	}
	names = append(names, name(o.Parent))
	for _, i := range o.Inspirations {
		names = append(names, name(i))
	}
	return names
}

// TestOffspring: whatever the population is, a proposal grows from a member of it or from
// the incumbent, and is shown a few others, of which the best comes first.
func TestOffspring(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(1, 1))
	for range 1500 {
		all := invented(chance, chance.IntN(25))
		direction := []metric.Direction{metric.Higher, metric.Lower}[chance.IntN(2)]
		broken := chance.IntN(4)
		for i := range all {
			if chance.IntN(4) < broken {
				all[i].Value = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[chance.IntN(3)]
			}
		}
		iteration, proposal := chance.IntN(40), 1+chance.IntN(70)
		o := selectParents(all, direction, chance.Int64(), iteration, proposal)
		require.GreaterOrEqual(t, o.Parent, -1)
		require.Less(t, o.Parent, len(all))
		require.LessOrEqual(t, len(o.Inspirations), 3)
		require.NotContains(t, o.Inspirations, o.Parent)
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(o.Inspirations))), len(o.Inspirations), "each once")
		for _, i := range append(slices.Clone(o.Inspirations), max(o.Parent, 0)) {
			if i == 0 && o.Parent < 0 {
				continue
			}
			require.False(t, math.IsNaN(all[i].Value) || math.IsInf(all[i].Value, 0),
				"what has no number is nobody's parent")
		}
		for _, i := range o.Inspirations[min(1, len(o.Inspirations)):] {
			best := all[o.Inspirations[0]].Value
			require.Equal(t, direction == metric.Higher, best > all[i].Value, "the best of them is the first")
		}
	}
}

// TestTheSearchLooksAtOrderAlone: which candidates are chosen follows from how they stand
// to each other, however they are listed, in whatever unit they are measured, and
// whichever direction is better.
func TestTheSearchLooksAtOrderAlone(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(2, 1))
	for range 500 {
		all := invented(chance, 1+chance.IntN(20))
		seed, iteration, proposal := chance.Int64(), chance.IntN(40), 1+chance.IntN(5)
		want := named(all, selectParents(all, metric.Higher, seed, iteration, proposal))
		changed := func(change func(one *strategy.Individual)) []strategy.Individual {
			list := slices.Clone(all)
			for i := range list {
				change(&list[i])
			}
			return list
		}
		shuffled := slices.Clone(all)
		chance.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		scaled := changed(func(one *strategy.Individual) { one.Value = math.Exp(one.Value/9) * 1e-3 })
		mirrored := changed(func(one *strategy.Individual) { one.Value = -one.Value })
		reversed := changed(func(one *strategy.Individual) {
			one.Lines = slices.Clone(one.Lines)
			slices.Reverse(
				one.Lines)
		})
		unmeasured := append(slices.Clone(all), strategy.Individual{Iteration: 1, Proposal: 9, Value: math.NaN()},
			strategy.Individual{Iteration: 2, Proposal: 9, Value: math.Inf(1)})
		for name, c := range map[string]struct {
			all       []strategy.Individual
			direction metric.Direction
		}{
			"in another order":         {shuffled, metric.Higher},
			"in another unit":          {scaled, metric.Higher},
			"when lower is better":     {mirrored, metric.Lower},
			"with lines turned around": {reversed, metric.Higher},
			"beside what has no value": {unmeasured, metric.Higher},
			"without a direction":      {all, ""},
		} {
			require.Equal(t, want, named(c.all, selectParents(c.all, c.direction, seed, iteration, proposal)), name)
		}
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
	}{{1, 10}, {4, 10}, {7, 10}, {10, 10}, {13, 20}, {19, 20}, {22, 30}} {
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

// eliteNames are the best of each cell of an island, looked for one by one: a candidate
// is one of them when no better one of the island has as many digits in the number of its
// lines and is as far from the best of all. The best of the island before visits.
func eliteNames(all []strategy.Individual, iteration, proposal int) map[string]bool {
	set := func(one strategy.Individual) map[string]bool {
		lines := map[string]bool{}
		for _, line := range one.Lines {
			lines[line] = true
		}
		return lines
	}
	best := slices.MaxFunc(all, func(a, b strategy.Individual) int { return int(a.Value - b.Value) })
	cell := func(one strategy.Individual) string {
		a, b := set(one), set(best)
		union := maps.Clone(a)
		maps.Copy(union, b)
		distance := 0.0
		if len(union) > 0 {
			distance = 1 - float64(len(a)+len(b)-len(union))/float64(len(union))
		}
		return fmt.Sprint(bits.Len(uint(len(one.Lines))), " ", math.Floor(4*distance+1e-9))
	}
	home := (iteration + proposal) % 3
	var island []strategy.Individual
	var visitor *strategy.Individual
	for i, one := range all {
		switch of := (one.Iteration + one.Proposal) % 3; {
		case of == home:
			island = append(island, one)
		case of == (home+2)%3 && one.Iteration <= iteration-iteration%10 &&
			(visitor == nil || one.Value > visitor.Value):
			visitor = &all[i]
		}
	}
	if visitor != nil {
		island = append(island, *visitor)
	}
	elites := map[string]bool{}
	for _, one := range island {
		if !slices.ContainsFunc(island,
			func(other strategy.Individual) bool { return cell(other) == cell(one) && other.Value > one.Value }) {
			elites[fmt.Sprintf("%d-%d", one.Iteration, one.Proposal)] = true
		}
	}
	return elites
}

// TestEveryEliteIsAParentSometimes, and nobody else ever.
func TestEveryEliteIsAParentSometimes(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(4, 1))
	for range 40 {
		all := invented(chance, 1+chance.IntN(30))
		iteration, proposal := chance.IntN(25), 1+chance.IntN(3)
		want := eliteNames(all, iteration, proposal)
		parents, shown := map[string]bool{}, map[string]bool{}
		for seed := range int64(400) {
			names := named(all, selectParents(all, metric.Higher, seed, iteration, proposal))
			parents[names[0]] = true
			for _, name := range names[1:] {
				shown[name] = true
			}
		}
		delete(parents, "the incumbent")
		require.Equal(t, want, parents)
		require.Equal(t, want, shown, "those that are no parent are shown")
	}
}
