package loop

import (
	"context"
	"errors"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/proposal"
)

// maintain does the work that needs no proposal: it applies commands, reads CI,
// and records that the default branch does not merge.
func (r *run) maintain(ctx context.Context, from proposal.Bundle) (Result, error) {
	conflict, err := r.branches.conflict(ctx)
	if err != nil {
		return Result{}, err
	}
	starts := r.startsWith(from)
	if conflict == nil && !r.asksCI(r.records) {
		starts, r.mayWrite = nil, r.lease.requireNoLease
	}
	err = r.update(ctx, r.Program.Name+": what waits", nil, func(b *records) error {
		switch {
		case starts != nil:
			return starts(b)
		case recordsDigest(b.read) != from.Records:
			return r.stale()
		}
		if err := r.mayWrite(b); err != nil {
			return err
		}
		if b.holdsLease() == nil {
			b.add(&history.Finished{Unused: true})
		}
		b.set(history.Published, from.ID)
		return nil
	})
	if err != nil {
		return Result{}, err
	}
	r.answerComments(ctx)
	if r.comments != nil {
		if err := r.applyCommands(ctx); err != nil {
			return Result{}, err
		}
	}
	r.mayWrite = (*records).holdsLease
	switch {
	case r.asksCI(r.records):
		return r.gate.waitForCI(ctx)
	case conflict != nil:
		return r.failForPerson(ctx, conflict.reason())
	}
	reason := "what waited is done"
	if r.stopped != "" {
		reason = r.stopped
	}
	return r.result(history.Idle, decision.Say(reason)), nil
}

// conflict is why the default branch does not merge, nil when it does.
func (r *branches) conflict(ctx context.Context) (*conflictError, error) {
	if r.records.standing().Waiting() != nil {
		return nil, nil
	}
	_, err := r.sync(ctx)
	var conflict *conflictError
	if errors.As(err, &conflict) {
		return conflict, nil
	}
	return nil, err
}

// again finishes a bundle that is recorded already: the run that recorded it may
// have been interrupted before GitHub was up to date. When nothing is left to do
// the bundle is refused.
func (r *run) again(ctx context.Context, from proposal.Bundle, by string) (Result, error) {
	twice := proposal.Refuse("it was published before, by run %s", by)
	if r.GitHub == nil || r.records.sum.Published != from.ID {
		return Result{}, twice
	}
	heard, err := r.look(ctx)
	if err != nil {
		return Result{}, err
	}
	heard.Comments, heard.Until = nil, ""
	r.comments, r.shown = &heard, commentsLeft
	if r.asksCI(r.records) {
		err := r.update(ctx, r.Program.Name+": start", nil, r.lease.enterStart)
		if err != nil {
			return Result{}, err
		}
		r.answerComments(ctx)
		return r.gate.waitForCI(ctx)
	}
	before, sent := recordsDigest(r.files), r.GitHub.Changes()
	r.answerComments(ctx)
	r.updateGitHub(ctx)
	r.comments = nil // it is shown
	if before == recordsDigest(r.files) && sent == r.GitHub.Changes() && len(r.warnings) == 0 {
		return Result{}, twice
	}
	return r.last(), nil
}

// last is the result of the last recorded iteration.
func (r *run) last() Result {
	if e := r.records.standing().Decision; e != nil {
		return r.recorder.resultOfCI(*e, e.Reasons)
	}
	return r.result(history.Idle, decision.Say("what waited is done"))
}
