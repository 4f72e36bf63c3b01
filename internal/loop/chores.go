package loop

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/proposal"
)

// maintain does what waits for somebody who may write: it obeys commands, takes
// what CI said, and records that the default branch does not merge.
func (r *run) maintain(ctx context.Context, from proposal.Bundle) (Result, error) {
	conflict, err := r.conflict(ctx)
	if err != nil {
		return Result{}, err
	}
	leased := conflict != nil || r.waitsForCI(r.records)
	r.withoutLease = !leased
	message := fmt.Sprintf("%s: what waits", r.Program.Name)
	err = r.update(ctx, message, nil, func(b *records) error {
		switch {
		case leased:
			return r.begins(b, from)
		case recordsDigest(b.read) != from.Books:
			return r.stale()
		}
		if err := r.requireNoLease(b); err != nil {
			return err
		}
		return r.set(b, published, from.ID)
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
	switch {
	case r.waitsForCI(r.records):
		return r.waitForCI(ctx)
	case conflict != nil:
		return r.fail(ctx, position{}, conflict.Error(), true)
	}
	reason := "what waited is done"
	if r.stopped != "" {
		reason = r.stopped
	}
	return r.result(history.Idle, reason), nil
}

// conflict is why the default branch does not merge, nil when it does.
func (r *run) conflict(ctx context.Context) (*conflictError, error) {
	if r.records.pending() != nil {
		return nil, nil
	}
	_, err := r.sync(ctx)
	var conflict *conflictError
	if errors.As(err, &conflict) {
		return conflict, nil
	}
	return nil, err
}

// again goes to the end with a bundle that is in the books already: a run that
// recorded it may have been interrupted before all was shown. When nothing is
// left to do it is refused.
func (r *run) again(ctx context.Context, from proposal.Bundle, by string) (Result, error) {
	twice := refuse("it was published before, by run %s", by)
	if r.GitHub == nil || r.records.sum.Settings[published] != from.ID {
		return Result{}, twice
	}
	heard, err := r.GitHub.Look(ctx, r.account())
	if err != nil {
		return Result{}, err
	}
	heard.Comments, heard.Until = nil, ""
	r.comments, r.skipComments = &heard, true
	if r.waitsForCI(r.records) {
		err := r.update(ctx, r.Program.Name+": start", nil, r.enterStart)
		if err != nil {
			return Result{}, err
		}
		r.answerComments(ctx)
		return r.waitForCI(ctx)
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

// last is the result of the last iteration that the books have.
func (r *run) last() Result {
	for i := len(r.records.log.Events) - 1; i >= 0; i-- {
		if e := r.records.log.Events[i]; e.Kind == history.Decided {
			return r.resultOf(e, e.Reasons)
		}
	}
	return r.result(history.Idle, "what waited is done")
}
