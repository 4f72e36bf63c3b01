package loop

import (
	"context"
	"maps"
	"strings"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history/memory"
)

// changesOf are the differences of two fingerprints without what runs of other programs
// record in between: the memory branch, as long as it still begins with what it was and has this
// program's records as they were. What was obtained of a remote moves with every fetch, and
// nothing is decided by it.
func (r *team) changesOf(ctx context.Context, before, after git.Fingerprint) ([]string, error) {
	before, after = maps.Clone(before), maps.Clone(after)
	for key, now := range after {
		ref, is := strings.CutPrefix(key, "ref ")
		was := before[key]
		if !is || was == now {
			continue
		}
		theirs, err := strings.HasPrefix(ref, git.ObtainedRefs), error(nil)
		if strings.HasSuffix(ref, "/"+memory.MemoryBranch) {
			theirs, err = r.othersRecorded(ctx, was, now)
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
