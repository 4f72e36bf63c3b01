package cli

import (
	"context"

	"github.com/org/autoloop/internal/schedule"
)

// notDue says why the program that was asked for is not to run now, in the
// scheduler's words; "" when it is due, or in error, which running it says. A
// job that waited for another one of the same program asks before it begins:
// what was due when it was started may be done by now.
func notDue(ctx context.Context, env Env, o iterateOptions) (string, error) {
	hub, err := o.Client(env)
	if err != nil {
		return "", err
	}
	options := schedulerOptions{repoDir: o.RepoDir, programs: o.Programs, dir: o.Dir, max: 1, GitHub: o.GitHub}
	in, err := options.input(ctx, env, hub)
	if err != nil {
		return "", err
	}
	plan, err := schedule.Choose(in)
	if err != nil {
		return "", err
	}
	for _, s := range plan.Standings {
		if s.Program.Name == o.Program {
			return s.Skip, nil
		}
	}
	return "", nil
}
