package strategy

import (
	"cmp"
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

// Openevolve evolves a population of candidates on islands.
type Openevolve struct{ Incumbent }

// island is where a proposal belongs: iterations and proposals take turns.
func island(iteration, proposal int) int { return (iteration + proposal) % islands }

// cell is a place in the map of an island: how much a change touches, and how
// far it is from the best one.
type cell struct{ size, novelty int }

// SelectParents is a pure function of its argument: the islands are replayed from
// the list of members.
func (Openevolve) SelectParents(p Population) Offspring {
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
	best := -1
	for i := range all {
		if usable(all[i]) && (best < 0 || better(all[i], all[best], direction)) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	reference := setOf(all[best].Lines)
	cells := map[cell]int{}
	settle := func(i int) {
		at := cellOf(all[i], reference)
		if now, taken := cells[at]; !taken || better(all[i], all[now], direction) {
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
	elites := make([]int, 0, len(cells))
	for _, i := range cells {
		elites = append(elites, i)
	}
	slices.SortFunc(elites, func(a, b int) int {
		switch {
		case better(all[a], all[b], direction):
			return -1
		case better(all[b], all[a], direction):
			return 1
		default:
			return cmp.Compare(a, b)
		}
	})
	return elites
}

// visitor is the best of the island before home when the last visits were
// made, or -1.
func visitor(all []Individual, direction metric.Direction, home, iteration int) int {
	since := iteration / migration * migration
	from := (home + islands - 1) % islands
	best := -1
	for i, one := range all {
		if one.Iteration > since || island(one.Iteration, one.Proposal) != from || !usable(one) {
			continue
		}
		if best < 0 || better(one, all[best], direction) {
			best = i
		}
	}
	return best
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

// better orders by value; of equals the smaller change is better.
func better(a, b Individual, direction metric.Direction) bool {
	if a.Value == b.Value {
		return len(a.Lines) < len(b.Lines)
	}
	return (a.Value > b.Value) == (direction != metric.Lower)
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
