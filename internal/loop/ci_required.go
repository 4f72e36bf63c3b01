package loop

import (
	"context"

	"github.com/org/autoloop/internal/github/ci"
)

// ciRequired reports whether a candidate must pass CI. With `auto` it must when
// CI was ever seen on this program, when a workflow of the base runs on what is
// pushed, when the base or the pull request has checks, or when rules require some: it
// never switches itself off. If that cannot be determined it returns true.
func (r *ciGate) ciRequired(ctx context.Context, base string) bool {
	switch {
	case r.GitHub == nil, r.Program.CIGate == "off":
		return false
	case r.Program.CIGate == "required", r.Program.CIWorkflow != "", r.records.sum.CISeen:
		return true
	}
	starts, into, elsewhere, err := r.workflows(ctx, base)
	if err == nil && !starts {
		starts, err = r.GitHub.HasCI(ctx, r.checkedBase(ctx, base), into, elsewhere)
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
		commit, err := r.Repo.ReadCommit(ctx, at)
		if err != nil || !ci.Skipped(commit.Message) || len(commit.Parents) == 0 {
			return at
		}
		at = commit.Parents[0]
	}
	return base
}

// workflows reports whether a workflow of the base runs when a change of the target
// files is pushed or in a pull request into the default branch, and which workflows do not.
func (r *ciGate) workflows(ctx context.Context, base string) (starts bool, into string, elsewhere []string, err error) {
	entries, err := r.Repo.LsTree(ctx, base)
	if err != nil {
		return false, "", nil, err
	}
	change := ci.Push{Branch: r.branch(), Into: r.records.sum.BaseBranch}
	if change.Into == "" {
		if change.Into, err = r.branches.defaultBranch(ctx); err != nil {
			return false, "", nil, err
		}
	}
	var files, ids []string
	matcher := r.Program.Matcher()
	for _, e := range entries {
		if ci.IsWorkflow(e.Path) {
			files, ids = append(files, e.Path), append(ids, e.ID)
		} else if matcher.Target(e.Path) {
			change.Files = append(change.Files, e.Path)
		}
	}
	objects, err := r.Repo.Cat(ctx, ids...)
	if err != nil {
		return false, "", nil, err
	}
	texts := map[string][]byte{}
	for i, o := range objects {
		texts[files[i]] = o.Data
		starts = starts || change.Starts(o.Data)
	}
	return starts, change.Into, change.Elsewhere(texts), nil
}
