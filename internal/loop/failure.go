package loop

import (
	"context"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/loop/proposal"
)

// fail records an iteration that could not be run as an error.
func (r *run) fail(ctx context.Context, at position, reason decision.Reason, then ...func(*records)) (Result, error) {
	p := r.proposer.newProposal(proposal.Iteration, at)
	r.proposer.describeFailure(p, at, reason)
	err := r.recorder.enterProposal(ctx, at, p, then...)
	return r.recorder.resultOf(p), err
}

// failForPerson records an error that only a person can resolve, and pauses the
// program at once.
func (r *run) failForPerson(ctx context.Context, reason decision.Reason) (Result, error) {
	return r.fail(ctx, position{}, reason, func(b *records) {
		if b.stopped == "" {
			b.pause(reason)
		}
	})
}
