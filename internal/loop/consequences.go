package loop

import (
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/plain"
)

// maxErrors is how many errors in a row pause a program.
const maxErrors = 3

// maxDisagreements is how many iterations in a row may find another incumbent
// than is on record before a new baseline is measured.
const maxDisagreements = 3

// consequences pauses or completes the program when the rules say so after this
// decision.
func (r *recorder) consequences(b *records, decided history.Decided) {
	b.completeAtTarget()
	errors, plateau := b.sum.ConsecutiveErrors(), r.Program.PlateauFor(decided.Agent)
	switch {
	case b.sum.Completed != nil:
	case errors >= maxErrors:
		last := append(slices.Clip(decided.Reasons), decision.Reason{Kind: decision.Unfinished})[0]
		last.Words = plain.Short(last.Words, maxProblem)
		b.pause(decision.Reason{Kind: decision.ManyErrors, Count: errors, Because: []decision.Reason{last}})
	case plateau > 0 && b.sum.Dropped() >= plateau && !r.Force:
		b.pause(decision.Reason{Kind: decision.Plateau, Count: plateau})
	}
}
