package page

import (
	"cmp"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/render"
)

// Kind says where the iteration went.
func (it *Iteration) Kind() string {
	reason := ""
	if len(it.Reasons) > 0 {
		reason = it.Reasons[0]
	}
	begins := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(reason, word) })
	}
	switch {
	case it.Outcome == history.Error:
		return failure(reason)
	case it.Outcome != history.Rejected:
		return render.OutcomeOf(it.Outcome).Page
	case begins("guardrail "):
		return "broke a guardrail"
	case it.Metric != nil:
		return "not better"
	case begins("no change"):
		return "no change proposed"
	case begins("the same change", "it is the incumbent again"):
		return "tried before"
	case strings.Contains(reason, "evaluation"):
		return "failed the evaluation"
	}
	return "refused before measuring"
}

// failure is the kind of an error.
func failure(reason string) string {
	if _, rest, found := strings.Cut(reason, " failed ("); found && strings.HasPrefix(reason, "agent ") {
		kind, _, _ := strings.Cut(rest, ")")
		return "error: agent " + clip(kind, 40)
	}
	if strings.Contains(reason, "evaluation") {
		return "error: evaluation"
	}
	return "error"
}

// Went counts where the iterations went, most frequent first.
func (p *Program) Went() []Share {
	counts := map[string]int{}
	for _, it := range p.Iterations {
		counts[it.Kind()]++
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
func (a *Author) Gain() string { return signed(a.Gained) }

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
	slices.SortStableFunc(list, func(a, b *Author) int { return cmp.Or(cmp.Compare(b.Kept, a.Kept), cmp.Compare(a.Name, b.Name)) })
	return list
}
