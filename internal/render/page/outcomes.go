package page

import (
	"cmp"
	"slices"

	"github.com/org/autoloop/internal/render"
)

// Went counts how the iterations ended, most frequent first.
func (p *Program) Went() []Share {
	counts := map[string]int{}
	for _, it := range p.Iterations {
		counts[it.Label().Word]++
	}
	return shares(counts, len(p.Iterations))
}

// Author is an agent or model and what came of its iterations.
type Author struct {
	Name        string
	Kept, Tried int
	// Gained adds up by how much the best changed when its changes were kept.
	Gained float64
}

// Percent is how much of what was tried was kept, from 0 to 100.
func (a *Author) Percent() string {
	return coordinate(100 * float64(a.Kept) / float64(max(a.Tried, 1)))
}

// Gain is by how much the best changed, in words.
func (a *Author) Gain() string { return render.SignedFloat(a.Gained) }

// Authors are the agents and models, the one that was kept most often first.
func (p *Program) Authors() []*Author {
	var list []*Author
	named := map[string]*Author{}
	best := p.Initial
	for _, it := range p.Iterations {
		name := it.Author()
		a := named[name]
		if a == nil {
			a = &Author{Name: name}
			named[name], list = a, append(list, a)
		}
		a.Tried++
		if it.Kept() {
			a.Kept++
			if best != nil && it.Best != nil {
				a.Gained += it.Best.Sub(*best).Float64()
			}
		}
		if it.Best != nil {
			best = it.Best
		}
	}
	slices.SortStableFunc(list, func(a,
		b *Author,
	) int {
		return cmp.Or(cmp.Compare(b.Kept, a.Kept), cmp.Compare(a.Name, b.Name))
	})
	return list
}
