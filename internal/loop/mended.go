package loop

import (
	"context"
	"fmt"
	"time"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/loop/proposal"
)

// enterFix puts what mends a pending iteration on top of the branch, and that
// it waits for CI anew into the books.
func (r *run) enterFix(ctx context.Context, at position, e, checked history.Event, a *attempt) error {
	number := r.records.fixes(e.Iteration) + 1
	commit, err := r.fixCommit(ctx, e, a, number)
	if err != nil {
		return err
	}
	checked.Summary = a.reply.Summary
	next := r.decided(r.records, at, a, commit)
	next.Outcome, next.Summary, next.Proposal = history.PendingCI, e.Summary, 0
	next.Reasons = append(next.Reasons, fmt.Sprintf("CI fix %d: %s", number, summary(a)))
	update := &git.RefUpdate{Ref: r.ref(), New: commit, Old: e.Commit}
	return r.write(ctx, fixMessage(r.Program.Name, e, number), update, func(b *records) error {
		return r.addFix(b, checked, a.measured, next)
	})
}

func fixMessage(name string, e history.Event, number int) string {
	return fmt.Sprintf("%s: iteration %d, fix %d for CI", name, e.Iteration, number)
}

func (r *run) fixCommit(ctx context.Context, e history.Event, a *attempt, number int) (string, error) {
	message := fmt.Sprintf("[Autoloop: %s] Iteration %d: fix CI (%d)\n\n%s\n\nAutoloop-Iteration: %d\nAutoloop-Metric: %s\nAutoloop-Run: %s\n",
		r.Program.Name, e.Iteration, number, summary(a), e.Iteration, a.decision.Best, r.id) + r.SignOff
	return r.Repo.CommitTree(ctx, a.tree, []string{e.Commit}, message, r.Now().Truncate(time.Second))
}

func (r *run) addFix(b *records, checked history.Event, measured []history.Event, next history.Event) error {
	for _, event := range append([]history.Event{checked}, measured...) {
		if err := r.add(b, event); err != nil {
			return err
		}
	}
	return r.enterPending(b, next)
}

// publishFix records an attempt to mend what CI found. What CI says is asked
// again: the bundle's word for it is not taken.
func (r *run) publishFix(ctx context.Context, from proposal.Bundle) (Result, error) {
	pending := r.records.pending()
	if r.comments == nil || pending == nil || pending.Commit != from.Branch {
		return Result{}, refuse("it is stale: no iteration waits for CI with commit %.12s; propose again", from.Branch)
	}
	e := *pending
	h, err := unpack(from, r.Masker)
	if err != nil {
		return Result{}, err
	}
	at, err := r.mends(ctx, from, e)
	if err != nil {
		return Result{}, err
	}
	if err := h.judged(at, history.PendingCI); err != nil {
		return Result{}, err
	}
	verdict := r.verdict(ctx, e)
	if !r.isRed(e, verdict) || r.fixesExhausted(e, verdict.Signature()) != "" {
		return Result{}, refuse("it is stale: CI does not ask to mend %.12s; propose again", e.Commit)
	}
	number, commit, a := r.records.fixes(e.Iteration)+1, "", h.attempt
	var update *git.RefUpdate
	if h.kept() {
		a.reply.Summary = h.checked.Summary
		if err := r.rebuild(ctx, from, at, e.Commit, a); err != nil {
			return Result{}, err
		}
		if commit, err = r.fixCommit(ctx, e, a, number); err != nil {
			return Result{}, err
		}
		update = &git.RefUpdate{Ref: r.ref(), New: commit, Old: e.Commit}
	}
	r.step("record", fmt.Sprintf("fix %d", number))
	err = r.update(ctx, fixMessage(r.Program.Name, e, number), update, func(b *records) error {
		if err := r.begins(b, from); err != nil || h.putOff != nil {
			if err == nil {
				err = r.enterPutOff(b, *h.putOff)
			}
			return err
		}
		checked := *h.checked
		checked.Commit, checked.Reason, checked.Reasons = e.Commit, verdict.Signature(), verdict.Words()
		if checked.Problem = state.Inline(checked.Problem, 300); !h.kept() {
			return r.add(b, checked)
		}
		next, err := h.decision(r, b, at, commit)
		if err != nil {
			return err
		}
		checked.Problem, checked.Agent, checked.Usage, checked.Durations, checked.Evaluation = "", "", nil, nil, nil
		next.Summary, next.Proposal = e.Summary, 0
		return r.addFix(b, checked, h.measured, next)
	})
	if err != nil {
		return Result{}, err
	}
	r.answerComments(ctx)
	if h.putOff != nil {
		return r.result(history.Idle, r.stopped), nil
	}
	return r.waitForCI(ctx)
}

// mends is where the pending iteration stands, held against the bundle.
func (r *run) mends(ctx context.Context, from proposal.Bundle, e history.Event) (position, error) {
	head, err := r.Memory.HeadOf(ctx, r.ref())
	if err != nil {
		return position{}, err
	}
	if head != e.Commit {
		return position{}, refuse("it is stale: branch %s has moved since; propose again", r.branch())
	}
	if err := r.deepen(ctx); err != nil {
		return position{}, err
	}
	at, err := r.positionOf(ctx, e)
	if err != nil {
		return at, err
	}
	if from.Base != at.Base || from.BaseBranch != at.BaseBranch {
		return at, refuse("it was made from commit %.12s of %s, and the baseline is of %.12s of %s", from.Base, from.BaseBranch, at.Base, at.BaseBranch)
	}
	tree, err := r.treeOf(ctx, e.Commit)
	if err == nil && tree != from.Incumbent {
		err = refuse("it was made from other files than those of %s", r.branch())
	}
	return at, err
}
