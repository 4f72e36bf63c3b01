package loop

import (
	"slices"

	"github.com/org/autoloop/internal/history"
)

const (
	// mostTrials is how many of the latest iterations the tuner learns from.
	mostTrials = 500
	// mostMembers is how many of the latest proposals that were measured a population
	// has at most.
	mostMembers = 500
)

// trials are the attempts and proposals that the tuner learns from, and how many
// iterations came before them. As many are left out as keeps the last digit of that
// number even.
func (b *records) trials() (past *history.Summary, earlier int) {
	whole, most := len(b.sum.Attempts), mostTrials+len(b.sum.Attempts)%2
	if whole <= most {
		return &b.sum, 0
	}
	latest := b.sum
	latest.Attempts = latest.Attempts[whole-most:]
	first := latest.Attempts[0].Iteration
	latest.Proposals = slices.DeleteFunc(slices.Clone(latest.Proposals),
		func(p *history.Proposed) bool { return p.Iteration < first })
	return &latest, whole - most
}

// members are the latest proposals that were measured under an evaluator, with their patches.
func (b *records) members(evaluator string) []*history.Proposed {
	members := slices.DeleteFunc(slices.Clone(b.sum.Proposals), func(p *history.Proposed) bool {
		return p.Metric == nil || p.Patch == "" || p.Evaluator != evaluator
	})
	return members[max(len(members)-mostMembers, 0):]
}
