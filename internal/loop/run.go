package loop

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/proposal"
)

// run is one run of a program under way.
type run struct {
	*thread

	joins    bool // work under the start that an earlier job of this run recorded
	mustJoin bool // without one, nothing begins
	aside    bool // apply commands alone, which a start for another job does not hinder

	synced         position            // where sync found the branch
	working        []*attempt          // whose agents were asked
	leftAs         git.Fingerprint     // of the repository, as the agents left it
	baselineEvents []*history.Measured // the baseline that this run measured
	baselineError  string              // why it cannot be measured, "" when it can
	drafted        *draft              // the store of a run that writes nothing, nil in the others
	// fixer proposes fixes for what CI found; it is nil where nobody works.
	fixer func(ctx context.Context, e history.Decided, verdict ci.Result, left time.Duration) (position,
		*proposal.Proposal, error)
}

// isResting reports whether no iteration may begin because the program is paused
// or completed.
func isResting(err error) bool {
	blocked, is := errors.AsType[*blockedError](err)
	return is && blocked.resting
}

// prepare takes the lease and does what comes before an iteration: it applies commands,
// asks CI about one that waits, and pauses a program whose runs vanish. It has ended the
// run where no iteration may follow.
func (r *run) prepare(ctx context.Context) (result Result, ended bool, err error) {
	if err := r.acquire(ctx); err != nil {
		return Result{}, false, err
	}
	if err := r.readComments(ctx); err != nil {
		return Result{}, false, err
	}
	switch {
	case r.records.sum.Interrupted >= maxInterrupted && r.stopped == "":
		result, err = r.pauseInterrupted(ctx)
	case r.stopped == "" && r.asksCI(r.records):
		result, err = r.waitForCI(ctx)
	default:
		if r.stopped = cmp.Or(r.stopped, r.rests()); r.stopped == "" {
			return Result{}, false, nil
		}
		p := r.newProposal(proposal.Iteration, position{}) // gives the lease back
		err = r.enterProposal(ctx, position{}, p)
		result = r.resultOf(p)
	}
	return result, true, err
}

func (r *run) iterate(ctx context.Context) (Result, error) {
	if result, ended, err := r.prepare(ctx); ended || err != nil {
		return result, err
	}
	at, p, err := r.propose(ctx)
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

// fail records an iteration that could not be run as an error.
func (r *run) fail(ctx context.Context, at position, reason decision.Reason, then ...func(*records)) (Result, error) {
	p := r.newProposal(proposal.Iteration, at)
	r.describe(p, at, r.interruptedAttempt(reason))
	err := r.enterProposal(ctx, at, p, then...)
	return r.resultOf(p), err
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
