package strategy

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/org/autoloop/internal/metric"
)

// The shape of a population, after MAP-Elites with islands as OpenEvolve and
// AlphaEvolve use it.
const (
	// islands evolve apart, so that one lineage does not crowd out the others.
	islands = 3
	// migration is how many iterations pass between two visits: then the best
	// of each island is a member of the next one too.
	migration = 10
	// inspirations is how many other programs are shown beside the parent.
	inspirations = 3
	// noveltyCells is how many steps the difference from the best has.
	noveltyCells = 5

	// How often a parent is taken from the best cells, and how often from any;
	// the rest of the time the incumbent is the parent.
	exploit = 0.65
	explore = 0.25
)

// island is where a proposal belongs: iterations and proposals take turns.
func island(iteration, proposal int) int { return (iteration + proposal) % islands }

// cell is a place in the map of an island: how much a change touches, and how
// far it is from the best one.
type cell struct{ size, novelty int }

// Openevolve evolves a population of candidates on islands. It is a pure function of its
// argument: the islands are replayed from the list of members.
func Openevolve(p Population) Offspring {
	offspring := Offspring{Parent: -1}
	elites := elitesOf(p.Members, p.Direction, island(p.Iteration, p.Proposal), p.Iteration)
	if len(elites) == 0 {
		return offspring
	}
	rng := rand.New(rand.NewPCG(uint64(p.Seed), uint64(p.Iteration)<<16|uint64(p.Proposal&0xffff)))
	switch chance := rng.Float64(); {
	case chance < exploit:
		offspring.Parent = elites[ranked(rng, len(elites))]
	case chance < exploit+explore:
		offspring.Parent = elites[rng.IntN(len(elites))]
	}
	offspring.Inspirations = inspire(rng, elites, offspring.Parent)
	return offspring
}

// elitesOf are the best of each cell of an island, the best of all first.
func elitesOf(all []Individual, direction metric.Direction, home, iteration int) []int {
	best := bestOf(all, direction, func(Individual) bool { return true })
	if best < 0 {
		return nil
	}
	reference := setOf(all[best].Lines)
	cells := map[cell]int{}
	settle := func(i int) {
		at := cellOf(all[i], reference)
		if now, taken := cells[at]; !taken || compare(all[i], all[now], direction) < 0 {
			cells[at] = i
		}
	}
	for i := range all {
		if usable(all[i]) && island(all[i].Iteration, all[i].Proposal) == home {
			settle(i)
		}
	}
	if visitor := visitor(all, direction, home, iteration); visitor >= 0 {
		settle(visitor)
	}
	return slices.SortedFunc(maps.Values(cells), func(a, b int) int {
		return cmp.Or(compare(all[a], all[b], direction), cmp.Compare(a, b))
	})
}

// bestOf is the place of the best of those that may be, or -1.
func bestOf(all []Individual, direction metric.Direction, may func(Individual) bool) int {
	best := -1
	for i, one := range all {
		if usable(one) && may(one) && (best < 0 || compare(one, all[best], direction) < 0) {
			best = i
		}
	}
	return best
}

// visitor is the best of the island before home when the last visits were
// made, or -1.
func visitor(all []Individual, direction metric.Direction, home, iteration int) int {
	since := iteration / migration * migration
	from := (home + islands - 1) % islands
	return bestOf(all, direction, func(one Individual) bool {
		return one.Iteration <= since && island(one.Iteration, one.Proposal) == from
	})
}

// ranked draws a place, each half as likely as the one before it.
func ranked(rng *rand.Rand, n int) int {
	for i := range n - 1 {
		if rng.Float64() < 0.5 {
			return i
		}
	}
	return n - 1
}

// inspire takes the best one beside the parent, and others by chance.
func inspire(rng *rand.Rand, elites []int, parent int) []int {
	others := slices.DeleteFunc(slices.Clone(elites), func(i int) bool { return i == parent })
	if len(others) > 1 {
		rest := others[1:]
		rng.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	}
	return others[:min(len(others), inspirations)]
}

func usable(one Individual) bool { return !math.IsNaN(one.Value) && !math.IsInf(one.Value, 0) }

// compare orders by value, the best first; of equals the smaller change is better.
func compare(a, b Individual, direction metric.Direction) int {
	by := cmp.Compare(b.Value, a.Value)
	if direction == metric.Lower {
		by = -by
	}
	return cmp.Or(by, cmp.Compare(len(a.Lines), len(b.Lines)))
}

func cellOf(one Individual, reference map[string]bool) cell {
	lines := setOf(one.Lines)
	common := 0
	for line := range lines {
		if reference[line] {
			common++
		}
	}
	novelty := 0
	if union := len(lines) + len(reference) - common; union > 0 {
		novelty = (union - common) * (noveltyCells - 1) / union
	}
	return cell{size: bits.Len(uint(len(one.Lines))), novelty: novelty}
}

func setOf(lines []string) map[string]bool {
	set := make(map[string]bool, len(lines))
	for _, line := range lines {
		set[line] = true
	}
	return set
}
