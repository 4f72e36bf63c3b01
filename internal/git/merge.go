package git

import (
	"context"
	"errors"

	"github.com/org/autoloop/internal/process"
)

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
