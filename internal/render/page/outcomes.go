package page

import (
	"cmp"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/render"
)

// Kind says where the iteration went.
func (it *Iteration) Kind() string {
	var why decision.Reason
	if len(it.Reasons) > 0 {
		why = it.Reasons[0]
	}
	if why.Is(decision.Claimed) && len(why.Because) > 0 {
		why = why.Because[0]
	}
	switch {
	case it.Outcome == history.Error && why.Is(decision.AgentFailed):
		return "error: agent " + clip(why.Term, 40)
	case it.Outcome == history.Error &&
		why.Is(decision.EvaluationFails, decision.BaselineFails, decision.BaselineFailsAtTimes,
			decision.EvaluatorTouched, decision.TooManyRuns):
		return "error: evaluation"
	case it.Outcome == history.Error:
		return "error"
	case it.Outcome == history.CIFixExhausted:
		return "failed in CI"
	case it.Outcome == history.Inconclusive:
		return "not told from chance"
	case it.Outcome != history.Rejected:
		return render.OutcomeOf(it.Outcome).Word
	case why.Is(decision.GuardrailBroken, decision.GuardrailMissing, decision.GuardrailNew):
		return "broke a guardrail"
	case it.Metric != nil:
		return "not better"
	case why.Is(decision.NoChange):
		return "no change proposed"
	case why.Is(decision.TriedBefore, decision.ProposedTwice, decision.Unchanged):
		return "tried before"
	case why.Is(decision.EvaluationFails, decision.EvaluationHangs, decision.NotScored, decision.NoNumber):
		return "failed the evaluation"
	}
	return "refused before measuring"
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
