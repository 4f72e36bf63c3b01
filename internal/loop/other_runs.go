package loop

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
)

// A key of a fingerprint is that of a ref when it begins with this.
const refKey = "ref "

// changesOf are the differences of two fingerprints without the refs that runs of
// other programs moved in between: the memory branch, as long as it still begins with what it
// was and has this program's records as they were, and branches that are where the
// records say. What an agent moves is not. What was obtained of a remote moves with every
// fetch, and nothing is decided by it.
func (r *team) changesOf(ctx context.Context, before, after git.Fingerprint) ([]string, error) {
	before, after = maps.Clone(before), maps.Clone(after)
	memoryBranch := "refs/heads/" + memory.MemoryBranch
	head := after[refKey+memoryBranch]
	for key, now := range after {
		ref, is := strings.CutPrefix(key, refKey)
		was := before[key]
		if !is || was == now {
			continue
		}
		var theirs bool
		var err error
		switch branch := branchOf(ref); {
		case strings.HasPrefix(ref, git.ObtainedRefs):
			theirs = true
		case branch == memory.MemoryBranch:
			theirs, err = r.othersRecorded(ctx, was, now)
		case strings.HasPrefix(branch, BranchPrefix) && branch != r.branch():
			theirs, err = r.onRecord(ctx, head, strings.TrimPrefix(branch, BranchPrefix), now, false)
		case strings.HasPrefix(branch, failedPrefix):
			name, _, _ := strings.Cut(strings.TrimPrefix(branch, failedPrefix), "/")
			theirs, err = r.onRecord(ctx, head, name, now, true)
		}
		if err != nil {
			return nil, err
		}
		if theirs {
			delete(before, key)
			delete(after, key)
		}
	}
	return before.Diff(after), nil
}

// branchOf is the branch that a ref is, or is about: what is known of a remote's.
func branchOf(ref string) string {
	if branch, is := strings.CutPrefix(ref, "refs/heads/"); is {
		return branch
	}
	for _, above := range []string{"refs/remotes/", "refs/autoloop/seen/"} {
		if rest, is := strings.CutPrefix(ref, above); is {
			_, branch, _ := strings.Cut(rest, "/")
			return branch
		}
	}
	return ""
}

// othersRecorded reports whether the memory branch went on without a change of this
// program's records.
func (r *team) othersRecorded(ctx context.Context, was, now string) (bool, error) {
	if was == "" {
		return false, nil
	}
	if on, err := r.Repo.IsAncestor(ctx, was, now); err != nil || !on {
		return false, err
	}
	return r.Memory.Same(ctx, was, now, r.Program.Name)
}

// onRecord reports whether the ledger of another program says that its branch is at a
// commit now, or for one that CI turned down that it was.
func (r *team) onRecord(ctx context.Context, head, name, commit string, failed bool) (bool, error) {
	if head == "" {
		return false, nil
	}
	files, err := r.Memory.At(ctx, head, name)
	if err != nil {
		return false, ctx.Err()
	}
	log, err := files.Log()
	if err != nil {
		return false, nil //nolint:nilerr // it is another program's, and says nothing
	}
	summary := log.Summary()
	waiting := summary.Standing.Waiting()
	if failed {
		// A branch of what CI turned down is made when that is recorded.
		return slices.ContainsFunc(log.Events, func(e history.Event) bool {
			made, is := e.(*history.Decided)
			return is && made.Commit == commit
		}), nil
	}
	return summary.Incumbent == commit || waiting != nil && waiting.Commit == commit, nil
}
