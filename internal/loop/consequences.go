package loop

import (
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
		b.pause(decision.Reason{Kind: decision.ManyErrors, Count: errors, Because: lastOf(decided)})
	case plateau > 0 && b.sum.Dropped() >= plateau && !r.Force:
		b.pause(decision.Reason{Kind: decision.Plateau, Count: plateau})
	}
}

// lastOf is why an iteration ended as it did.
func lastOf(decided history.Decided) []decision.Reason {
	if len(decided.Reasons) == 0 {
		return []decision.Reason{{Kind: decision.Unfinished}}
	}
	last := decided.Reasons[0]
	last.Words = plain.Short(last.Words, maxProblem)
	return []decision.Reason{last}
}
