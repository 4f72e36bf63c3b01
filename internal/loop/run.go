package loop

import (
	"context"
	"errors"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/loop/proposal"
)

// run is one run of a program under way: the parts of an iteration, put together.
type run struct {
	*thread
	lease    *lease
	branches *branches
	proposer *proposer
	recorder *recorder
	gate     *ciGate
	team     *team
	measurer *measurer
	drafted  *draft // the store of a run that writes nothing, nil in the others
}

// isResting reports whether no iteration may begin because the program is paused
// or completed.
func isResting(err error) bool {
	var blocked *blockedError
	return errors.As(err, &blocked) && blocked.resting
}

func (r *run) iterate(ctx context.Context) (Result, error) {
	if err := r.acquire(ctx); err != nil {
		return Result{}, err
	}
	if err := r.readComments(ctx); err != nil {
		return Result{}, err
	}
	if r.records.sum.Interrupted >= maxInterrupted && r.stopped == "" {
		return r.pauseInterrupted(ctx)
	}
	if r.stopped != "" {
		return r.finish(ctx)
	}
	if r.asksCI(r.records) {
		return r.gate.waitForCI(ctx)
	}
	if r.stopped = r.rests(); r.stopped != "" {
		return r.finish(ctx)
	}
	at, p, err := r.proposer.propose(ctx)
	if conflict, ok := errors.AsType[*conflictError](err); ok {
		return r.failForPerson(ctx, conflict.reason())
	}
	if reason := pushRefusal(err); reason != nil {
		return r.failForPerson(ctx, *reason)
	}
	if err != nil {
		return Result{}, err
	}
	err = r.record(ctx, at, p)
	if refused, ok := errors.AsType[*proposal.RefusedError](err); ok {
		return r.fail(ctx, at, decision.Reason{Kind: decision.NotRecorded, Words: refused.Reason})
	}
	if err != nil {
		return Result{}, err
	}
	return r.conclude(ctx, p)
}
