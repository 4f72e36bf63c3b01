package loop

import (
	"context"
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
)

// mergedHead is the head that the pull request had when it was merged, "" when it
// was not.
func (r *thread) mergedHead() string {
	if pull := r.pull(); pull != nil && pull.Merged {
		return pull.Head
	}
	return ""
}

// deletedByMerge reports whether the program branch, which was at a commit, is gone
// because its pull request was merged since this run looked at it: many repositories
// delete the branch then. What was made meanwhile goes on top of what was merged, and
// the next run replays it.
func (r *run) deletedByMerge(ctx context.Context, was string) bool {
	if r.comments == nil {
		return false
	}
	if head, err := r.head(ctx); err != nil || head != "" {
		return false
	}
	heard, err := r.GitHub.Look(ctx, r.account())
	if err != nil || heard.Pull == nil {
		return false
	}
	r.comments.Pull = heard.Pull
	return r.merged(was)
}

// placeOfDeleted is where the program branch stood that was deleted when its pull
// request was merged. GitHub keeps the commits of a pull request.
func (r *run) placeOfDeleted(ctx context.Context, was string, at position) (position, error) {
	pull := fmt.Sprintf("refs/pull/%d/head", r.comments.Pull.Number)
	if err := r.Repo.Remote(r.Memory.Remote).Obtain(ctx, was, pull); err != nil {
		return at, err
	}
	at.Old, at.Deleted = was, true
	return r.reconcileBranch(ctx, at)
}

// isAfterMerge reports whether commits were made on top of what was merged, while
// the default branch has that only as other commits, as a squash makes them.
func (r *run) isAfterMerge(ctx context.Context, commit, base string) (bool, error) {
	merged := r.mergedHead()
	if merged == "" || merged == commit {
		return false, nil
	}
	if _, known, err := r.Repo.Resolve(ctx, merged); err != nil || !known {
		return false, err
	}
	after, err := r.Repo.IsAncestor(ctx, merged, commit)
	if err != nil || !after {
		return false, err
	}
	whole, err := r.Repo.IsAncestor(ctx, merged, base)
	return !whole, err
}

// replay makes the commits after the merged head again, on top of base, but for those
// that base has: the default branch may have been merged into the program branch.
func (r *run) replay(ctx context.Context, commit, base string) (head string, count int, err error) {
	commits, err := r.Repo.Log(ctx, 0, commit, "^"+r.mergedHead(), "^"+base)
	if err != nil {
		return "", 0, err
	}
	head = base
	for _, c := range slices.Backward(commits) {
		if len(c.Parents) != 1 {
			continue // a merge of the default branch
		}
		tree, conflicts, err := r.threeWay(ctx, c.Parents[0], head, c.ID)
		if err != nil {
			return "", 0, err
		}
		if len(conflicts) > 0 {
			return "", 0, r.conflicts("what was merged", conflicts)
		}
		if head, err = r.Repo.CommitTree(ctx, tree, []string{head}, c.Message, c.Time); err != nil {
			return "", 0, err
		}
		count++
	}
	return head, count, nil
}

// replayPosition is where the branch stands once what was made after the merge is
// replayed.
func (r *run) replayPosition(ctx context.Context, at position) (position, error) {
	head, count, err := r.replay(ctx, at.Old, at.Base)
	if err != nil {
		return at, err
	}
	at.Head, at.Move = head, true
	at.Note = fmt.Sprintf("its pull request #%d was merged, and what came after it (%d commits) is replayed",
		r.comments.Pull.Number, count)
	return at, nil
}

// replayPending moves a candidate that waits for CI onto the default branch when
// its pull request was merged without it. Its numbers hold when its files are the
// same there; else it ends as not accepted, and is measured anew.
func (r *run) replayPending(ctx context.Context, e history.Decided) error {
	_, base, err := r.base(ctx)
	after := false
	if err == nil {
		after, err = r.isAfterMerge(ctx, e.Commit, base)
	}
	if err != nil || !after {
		return err
	}
	var refused *decision.Reason
	var changes []git.DiffEntry
	head, _, err := r.replay(ctx, e.Commit, base)
	if err == nil {
		changes, err = r.Repo.Changes(ctx, e.Commit, head)
	}
	if err == nil && head != base && len(changes) == 0 {
		replayed := e
		replayed.Commit, replayed.Parent = head, base
		err = r.write(ctx, fmt.Sprintf("iteration %d is replayed", e.Iteration),
			&git.RefUpdate{Ref: r.ref(), New: head, Old: e.Commit},
			func(b *records) error {
				r.enterPending(b, replayed)
				return nil
			})
		if refused = pushRefusal(err); refused == nil {
			return err
		}
	}
	r.warn("what came after the merge was not replayed: %v", err)
	e.Outcome = history.Rejected
	e.Reasons = append([]decision.Reason{{Kind: decision.MergedWithout}}, e.Reasons...)
	return r.recordFinal(ctx, e, nil, refused)
}
