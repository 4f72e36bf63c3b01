package loop

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/proposal"
)

// chores does what waits for somebody who may write: it obeys commands, takes
// what CI said, and records that the default branch does not merge.
func (r *run) chores(ctx context.Context, from proposal.Bundle) (Result, error) {
	conflict, err := r.conflict(ctx)
	if err != nil {
		return Result{}, err
	}
	leased := conflict != nil || r.settles(r.books)
	r.steering = !leased
	message := fmt.Sprintf("%s: what waits", r.Program.Name)
	err = r.update(ctx, message, nil, func(b *books) error {
		switch {
		case leased:
			return r.begins(b, from)
		case booksDigest(b.read) != from.Books:
			return r.stale()
		}
		if err := r.free(b); err != nil {
			return err
		}
		return r.set(b, published, from.ID)
	})
	if err != nil {
		return Result{}, err
	}
	r.reach(ctx)
	if r.heard != nil {
		if err := r.obey(ctx); err != nil {
			return Result{}, err
		}
	}
	switch {
	case r.settles(r.books):
		return r.settle(ctx)
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
	if r.books.pending() != nil {
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
	if r.Front == nil || r.books.sum.Settings[published] != from.ID {
		return Result{}, twice
	}
	heard, err := r.Front.Look(ctx, r.account())
	if err != nil {
		return Result{}, err
	}
	heard.Comments, heard.Until = nil, ""
	r.heard, r.deaf = &heard, true
	if r.settles(r.books) {
		err := r.update(ctx, r.Program.Name+": start", nil, r.enterStart)
		if err != nil {
			return Result{}, err
		}
		r.reach(ctx)
		return r.settle(ctx)
	}
	before, sent := booksDigest(r.files), r.Front.Changes()
	r.reach(ctx)
	r.show(ctx)
	r.heard = nil // it is shown
	if before == booksDigest(r.files) && sent == r.Front.Changes() && len(r.warnings) == 0 {
		return Result{}, twice
	}
	return r.last(), nil
}

// last is the result of the last iteration that the books have.
func (r *run) last() Result {
	for i := len(r.books.log.Events) - 1; i >= 0; i-- {
		if e := r.books.log.Events[i]; e.Kind == history.Decided {
			return r.resultOf(e, e.Reasons)
		}
	}
	return r.result(history.Idle, "what waited is done")
}
