package loop

import (
	"fmt"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/plain"
)

// maxErrors is how many errors in a row pause a program.
const maxErrors = 3

// maxDisagreements is how many iterations in a row may find another incumbent
// than is on record before the program is paused.
const maxDisagreements = 3

// consequences pauses or completes the program when the rules say so after this
// decision.
func (r *recorder) consequences(b *records, decided history.Decided) error {
	if err := r.completeAtTarget(b); err != nil || b.sum.Completed != "" {
		return err
	}
	if errors := b.sum.ConsecutiveErrors(); errors >= maxErrors {
		return r.pause(b, fmt.Sprintf("%d errors in a row, the last: %s; see the history, fix the cause, then say `/autoloop resume` or run `iterate resume %s`", errors, reasonOf(decided), r.program.Name))
	}
	if b.sum.Disagreements >= maxDisagreements {
		return r.pause(b, fmt.Sprintf("%s; %d iterations in a row; see the history, then run `iterate resume %s`: what is on record is measured anew", b.sum.Disagreement, b.sum.Disagreements, r.program.Name))
	}
	if limit := r.program.PlateauFor(decided.Agent); limit > 0 && b.sum.Dropped() >= limit {
		return r.pause(b, fmt.Sprintf("plateau: %d rejections in a row; change the goal or the target, then say `/autoloop resume` or run `iterate resume %s`", limit, r.program.Name))
	}
	return nil
}

// reasonOf is why an iteration ended as it did, as one line.
func reasonOf(decided history.Decided) string {
	if len(decided.Reasons) == 0 {
		return "no reason was given"
	}
	return plain.Short(decided.Reasons[0], maxProblem)
}

func (r *journal) completeAtTarget(b *records) error {
	if b.sum.Best == nil || b.sum.Completed != "" {
		return nil
	}
	target := r.target(b)
	if !r.program.Direction.TargetMet(*b.sum.Best, target) {
		return nil
	}
	reason := fmt.Sprintf("target reached: %s with target %s (%s is better)", b.sum.Best, target, r.program.Direction)
	if err := r.add(b, &history.Completed{Head: history.Head{Iteration: b.sum.Iteration}, Reason: reason}); err != nil {
		return err
	}
	b.machine.Completed, b.machine.CompletedReason = true, reason
	r.stopped = "completed: " + reason
	return nil
}

func (r *journal) pause(b *records, reason string) error {
	if err := r.add(b, &history.Paused{Head: history.Head{Iteration: b.sum.Iteration}, Reason: reason}); err != nil {
		return err
	}
	b.machine.Paused, b.machine.PauseReason = true, reason
	r.stopped = "paused: " + reason
	return nil
}
