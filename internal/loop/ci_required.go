package loop

import (
	"context"
	"slices"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/ci"
)

// ciRequired reports whether a candidate must pass CI. With `auto` it must when
// CI was ever seen on this program, when a workflow of the base runs on what is
// pushed, or when the base has checks: it never switches itself off. If that
// cannot be determined it returns true.
func (r *ciGate) ciRequired(ctx context.Context, base string) bool {
	switch {
	case r.thread.github == nil, r.program.CIGate == "off":
		return false
	case r.program.CIGate == "required", r.program.CIWorkflow != "", r.records.sum.CISeen:
		return true
	}
	starts, err := r.workflowStarts(ctx, base)
	if err == nil && !starts {
		starts, err = r.thread.github.HasCI(ctx, r.checkedBase(ctx, base))
	}
	if err != nil {
		r.warn("whether CI runs on the default branch was not read, so the change waits for CI: %v", err)
	}
	return err != nil || starts
}

// maxSkipped bounds how many commits in a row may ask CI to stay away.
const maxSkipped = 50

// checkedBase is the commit whose checks a base is known by: the base itself, or the
// nearest before it whose message does not ask CI to stay away.
func (r *ciGate) checkedBase(ctx context.Context, base string) string {
	at := base
	for range maxSkipped {
		commit, err := r.repo.ReadCommit(ctx, at)
		if err != nil || !ci.Skipped(commit.Message) || len(commit.Parents) == 0 {
			return at
		}
		at = commit.Parents[0]
	}
	return base
}

// workflowStarts reports whether a workflow of the base runs when a change of
// the target files is pushed.
func (r *ciGate) workflowStarts(ctx context.Context, base string) (bool, error) {
	entries, err := r.branches.entries(ctx, base)
	if err != nil {
		return false, err
	}
	var names, targets []string
	matcher := r.program.Matcher()
	for _, e := range entries {
		if ci.IsWorkflow(e.Path) {
			names = append(names, e.ID)
		} else if matcher.Target(e.Path) {
			targets = append(targets, e.Path)
		}
	}
	objects, err := r.repo.Cat(ctx, names...)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(objects, func(o git.Object) bool { return ci.StartsOnChange(o.Data, targets) }), nil
}
