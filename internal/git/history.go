package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/process"
)

// IsAncestor says whether a is b or one of its ancestors. A commit that is not here, as when
// its branch was deleted before this clone saw it, is not.
func (r *Repo) IsAncestor(ctx context.Context, a, b string) (bool, error) {
	if a == b {
		return true, nil
	}
	_, err := r.Run(ctx, "merge-base", "--is-ancestor", a, b)
	failed, is := errors.AsType[*Error](err)
	if SaysNo(err) || is && strings.Contains(failed.Stderr, "Not a valid commit name") {
		return false, nil
	}
	return err == nil, err
}

// AheadBehind counts the commits that only a has, and those that only b has.
// In a shallow clone that cannot be known, and is an error.
func (r *Repo) AheadBehind(ctx context.Context, a, b string) (ahead, behind int, err error) {
	if r.IsShallow() {
		return 0, 0, errors.New("the clone is shallow, its history is cut off; run git fetch --unshallow")
	}
	out, err := line(r.Run(ctx, "rev-list", "--left-right", "--count", "--end-of-options", a+"..."+b))
	if err != nil {
		return 0, 0, err
	}
	if _, err := fmt.Sscanf(out, "%d\t%d", &ahead, &behind); err != nil {
		return 0, 0, fmt.Errorf("compare %s with %s: git rev-list printed %q", a, b, out)
	}
	return ahead, behind, nil
}

// MergeBase is the best common ancestor; ok is false without one.
func (r *Repo) MergeBase(ctx context.Context, a, b string) (id string, ok bool, err error) {
	return r.found(ctx, "merge-base", a, b)
}

// IsShallow says whether the history is cut off.
func (r *Repo) IsShallow() bool {
	_, err := os.Lstat(filepath.Join(r.CommonDir, "shallow"))
	return err == nil
}

// MergeTree merges theirs into ours without touching any file. Without
// conflicts tree is the result; otherwise conflicts are the paths that have
// them and tree is not to be used.
func (r *Repo) MergeTree(ctx context.Context, ours, theirs string) (tree string, conflicts []string, err error) {
	out, err := r.Run(ctx, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
	// Exit 1 is a conflict, and also a name that stands for nothing: only the
	// first comes with a tree.
	if err != nil && (!SaysNo(err) || len(out) == 0) {
		return "", nil, fmt.Errorf("merge %s: %w", theirs, err)
	}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if err != nil {
		return "", fields[1:], nil //nolint:nilerr // a conflict is an answer
	}
	return fields[0], nil, nil
}

// MergeInto merges a branch into the one that is checked out, in the user's
// own work tree and with the user's own configuration, hooks and identity: it
// is the one call that acts as the user would.
func (r *Repo) MergeInto(ctx context.Context, environ []string, branch, message string) error {
	out, err := process.Output(ctx, r.Root, newEnvironment(environ).base, nil, "git", "merge", "--quiet", "--no-edit",
		"-m", message, branch)
	if exit, ok := errors.AsType[*process.ExitError](err); ok {
		return &Error{Args: []string{"merge", branch}, ExitCode: exit.Code, Stderr: string(exit.Stderr) + string(out)}
	}
	return err
}
