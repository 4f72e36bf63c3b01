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
func (r *recorder) consequences(b *records, decided history.Decided) error {
	if err := r.completeAtTarget(b); err != nil || b.sum.Completed != nil {
		return err
	}
	if errors := b.sum.ConsecutiveErrors(); errors >= maxErrors {
		return r.pause(b, decision.Reason{Kind: decision.ManyErrors, Count: errors, Because: lastOf(decided)})
	}
	if limit := r.Program.PlateauFor(decided.Agent); limit > 0 && b.sum.Dropped() >= limit && !r.Force {
		return r.pause(b, decision.Reason{Kind: decision.Plateau, Count: limit})
	}
	return nil
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

func (r *journal) completeAtTarget(b *records) error {
	if b.sum.Best == nil || b.sum.Completed != nil {
		return nil
	}
	target := r.target(b)
	if !r.Program.Direction.TargetMet(*b.sum.Best, target) {
		return nil
	}
	reason := decision.Reason{
		Kind: decision.TargetReached, Value: b.sum.Best, Beside: target,
		Term: r.Program.Direction.String(),
	}
	if err := r.add(b, &history.Completed{Head: history.Head{Iteration: b.sum.Iteration}, Reason: reason}); err != nil {
		return err
	}
	b.machine.Completed, b.machine.CompletedReason = true, reason.String()
	b.stopped = "completed: " + reason.String()
	return nil
}

func (r *journal) pause(b *records, reason decision.Reason) error {
	if err := r.add(b, &history.Paused{Head: history.Head{Iteration: b.sum.Iteration}, Reason: reason}); err != nil {
		return err
	}
	b.machine.Paused, b.machine.PauseReason = true, reason.String()
	b.stopped = b.machine.Stopped(r.Program.Name)
	return nil
}
