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
	heard, err := r.GitHub.Look(ctx, r.account())
	if err != nil || heard.Pull == nil {
		return false
	}
	r.comments.Pull = heard.Pull
	return r.merged(was)
}

// isAfterMerge reports whether a commit is what was merged, or was made on top of that while
// the default branch has it only as other commits, as a squash makes them.
func (r *run) isAfterMerge(ctx context.Context, merged, commit, base string) (bool, error) {
	if merged == "" || commit == "" || merged == commit {
		return merged != "" && merged == commit, nil
	}
	after, err := r.Repo.IsAncestor(ctx, merged, commit)
	if err != nil || !after {
		return false, err
	}
	whole, err := r.Repo.IsAncestor(ctx, merged, base)
	return !whole, err
}

// replay makes the commits after the merged head again, on top of base, but for those
// that base has: the default branch may have been merged into the program branch. It
// says so in a note.
func (r *run) replay(ctx context.Context, commit, base string) (head, note string, err error) {
	commits, err := r.Repo.Log(ctx, commit, "^"+r.mergedHead(), "^"+base)
	if err != nil {
		return "", "", err
	}
	head, note = base, fmt.Sprintf("its pull request #%d was merged", r.comments.Pull.Number)
	count := 0
	for _, c := range slices.Backward(commits) {
		if len(c.Parents) != 1 {
			continue // a merge of the default branch
		}
		tree, conflicts, err := r.threeWay(ctx, c.Parents[0], head, c.ID)
		if err != nil {
			return "", "", err
		}
		if len(conflicts) > 0 {
			return "", "", r.conflicts("what was merged", conflicts)
		}
		if head, err = r.Repo.CommitTree(ctx, tree, []string{head}, c.Message, c.Time); err != nil {
			return "", "", err
		}
		count++
	}
	if count > 0 {
		note += fmt.Sprintf(", and what came after it (%d commits) is replayed", count)
	}
	return head, note, nil
}

// replayPending moves a candidate that waits for CI onto the default branch when
// its pull request was merged without it. Its numbers hold when its files are the
// same there; else it ends as not accepted, and is measured anew.
func (r *run) replayPending(ctx context.Context, e history.Decided) error {
	_, base, err := r.base(ctx)
	after := false
	if err == nil {
		after, err = r.isAfterMerge(ctx, r.mergedHead(), e.Commit, base)
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
	return (&waiting{run: r, e: e}).final(ctx, history.Rejected, decision.Reason{Kind: decision.MergedWithout}, nil, refused)
}
