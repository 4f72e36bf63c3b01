package strategy

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
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
func Openevolve(p Population) (offspring Offspring) {
	elites := elitesOf(p, island(p.Iteration, p.Proposal))
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

// elitesOf are the best of each cell of an island, the best of all first; of equals the smaller
// change is better, and the earlier. The best of the island before that one, when the last visits
// were made, is among them.
func elitesOf(p Population, home int) []*history.Proposed {
	lines := map[*history.Proposed][]string{}
	for _, one := range p.Members {
		lines[one] = decision.PatchLines([]byte(one.Patch))
	}
	compare := func(a, b *history.Proposed) int {
		return cmp.Or(p.Direction.Compare(*a.Metric, *b.Metric), cmp.Compare(len(lines[a]), len(lines[b])))
	}
	those := func(may func(*history.Proposed) bool) []*history.Proposed {
		return slices.DeleteFunc(slices.Clone(p.Members), func(one *history.Proposed) bool { return !may(one) })
	}
	on := func(one *history.Proposed, home int) bool { return island(one.Iteration, one.Proposal) == home }
	if len(p.Members) == 0 {
		return nil
	}
	residents := those(func(one *history.Proposed) bool { return on(one, home) })
	visitors := those(func(one *history.Proposed) bool {
		return one.Iteration <= p.Iteration/migration*migration && on(one, (home+islands-1)%islands)
	})
	if len(visitors) > 0 {
		residents = append(residents, slices.MinFunc(visitors, compare))
	}
	reference, cells := setOf(lines[slices.MinFunc(p.Members, compare)]), map[cell]*history.Proposed{}
	for _, one := range residents {
		at := cellOf(lines[one], reference)
		if now := cells[at]; now == nil || compare(one, now) < 0 {
			cells[at] = one
		}
	}
	elites := those(func(one *history.Proposed) bool { return cells[cellOf(lines[one], reference)] == one })
	slices.SortStableFunc(elites, compare)
	return elites
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
func inspire(rng *rand.Rand, elites []*history.Proposed, parent *history.Proposed) []*history.Proposed {
	others := slices.DeleteFunc(elites, func(one *history.Proposed) bool { return one == parent })
	if len(others) > 1 {
		rest := others[1:]
		rng.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	}
	return others[:min(len(others), inspirations)]
}

func cellOf(changed []string, reference map[string]bool) cell {
	lines := setOf(changed)
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
	return cell{size: bits.Len(uint(len(changed))), novelty: novelty}
}

func setOf(lines []string) map[string]bool {
	set := make(map[string]bool, len(lines))
	for _, line := range lines {
		set[line] = true
	}
	return set
}
