package loop

import (
	"context"
	"errors"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/proposal"
)

// positionOfProposal finds the position that the proposal was made from, and
// refuses the proposal when a branch has moved since.
func (r *branches) positionOfProposal(ctx context.Context, from *proposal.Proposal) (position, error) {
	at := position{Base: from.Base}
	var err error
	if at.BaseBranch, err = r.defaultBranch(ctx); err != nil {
		return at, err
	}
	if at.BaseBranch != from.BaseBranch {
		return at, proposal.Refuse("it is for branch %q, not for %q", from.BaseBranch, at.BaseBranch)
	}
	head, err := r.baseCommit(ctx, at.BaseBranch)
	if err != nil {
		return at, err
	}
	if err := r.deepen(ctx); err != nil {
		return at, err
	}
	_, known, err := r.Repo.Resolve(ctx, from.Base)
	if err == nil && known {
		known, err = r.Repo.IsAncestor(ctx, from.Base, head)
	}
	if err != nil {
		return at, err
	}
	if !known {
		return at, proposal.Refuse("it was made from commit %.12s, which is not on %s", from.Base, at.BaseBranch)
	}
	at, err = r.place(ctx, at)
	if err == nil && at.Old == "" && r.merged(from.Branch) {
		at, err = r.placeOfDeleted(ctx, from.Branch, at)
	}
	var conflict *conflictError
	if at.Old != from.Branch || errors.As(err, &conflict) {
		return at, proposal.Refuse("it is stale: branch %s has moved since; propose again", r.branch())
	}
	if err != nil {
		return at, err
	}
	tree, _, err := r.Repo.TreeOf(ctx, at.Head)
	if err == nil && tree != from.Incumbent && r.merged(at.Old) {
		// It was merged after the proposal: what is kept goes on top, and is replayed.
		at.Move, at.Note = false, ""
		if at, err = r.reconcileBranch(ctx, at); err == nil {
			tree, _, err = r.Repo.TreeOf(ctx, at.Head)
		}
	}
	if err != nil {
		return at, err
	}
	if tree != from.Incumbent {
		return at, proposal.Refuse("it was made from other files than those of %s", r.branch())
	}
	at, err = r.identified(ctx, at)
	at.identity.Executor = from.Executor()
	return at, err
}

// positionOfFix is where the pending iteration stands. It refuses a bundle that was
// made from another position.
func (r *branches) positionOfFix(ctx context.Context, from proposal.Bundle, e history.Decided) (position, error) {
	head, err := r.Memory.HeadOf(ctx, r.ref())
	if err != nil {
		return position{}, err
	}
	if head != e.Commit {
		return position{}, proposal.Refuse("it is stale: branch %s has moved since; propose again", r.branch())
	}
	if err := r.deepen(ctx); err != nil {
		return position{}, err
	}
	at, err := r.positionOf(ctx, e)
	if err != nil {
		return at, err
	}
	if from.Base != at.Base || from.BaseBranch != at.BaseBranch {
		return at, proposal.Refuse("it was made from commit %.12s of %s, and the baseline is of %.12s of %s", from.Base,
			from.BaseBranch, at.Base, at.BaseBranch)
	}
	tree, _, err := r.Repo.TreeOf(ctx, at.From)
	if err == nil && tree != from.Incumbent {
		err = proposal.Refuse("it was made from other files than those of %s", r.branch())
	}
	return at, err
}
