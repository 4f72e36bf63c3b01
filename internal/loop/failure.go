package loop

import (
	"context"
	"fmt"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/loop/proposal"
)

// fail records an iteration that could not be run as an error.
func (r *run) fail(ctx context.Context, at position, reason decision.Reason) (Result, error) {
	return r.recordFailure(ctx, at, reason, func(*records) {})
}

// failForPerson records an error that only a person can resolve, and pauses the
// program at once.
func (r *run) failForPerson(ctx context.Context, reason decision.Reason) (Result, error) {
	return r.recordFailure(ctx, position{}, reason, func(b *records) {
		if b.stopped == "" {
			b.pause(reason)
		}
	})
}

func (r *run) recordFailure(ctx context.Context, at position, reason decision.Reason,
	then func(*records),
) (Result, error) {
	p := r.proposer.newProposal(proposal.Iteration, at)
	r.proposer.describeFailure(p, at, reason)
	err := r.write(ctx, fmt.Sprintf("%s: iteration %d error", r.Program.Name, r.iteration), nil,
		func(b *records) error {
			err := r.recorder.enter(b, at, p)
			then(b)
			return err
		})
	if err != nil {
		return Result{}, err
	}
	p.Decided.Reasons = r.reasons
	return r.recorder.resultOf(p), nil
}

// finish gives the lease back when no iteration is left to run.
func (r *run) finish(ctx context.Context) (Result, error) {
	p := r.proposer.newProposal(proposal.Iteration, position{})
	err := r.recorder.enterProposal(ctx, position{}, p, (*records).holdsLease)
	return r.recorder.resultOf(p), err
}
