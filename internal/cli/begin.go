package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/schedule"
)

func newBeginCommand(env Env, o *iterateOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "begin",
		Short: "Record that iterations begin in jobs that cannot write, before an agent works there",
		Long: `Record the start of an iteration: its lease, its number, and what it may use of the budgets.
"iterate job propose" works under that start in another job of the same run, and "iterate job
publish" settles it. A start that nobody settles counts as interrupted, with all that was reserved.

Without --program it begins every program of the scheduler's matrix. In Actions the outputs has-work
and matrix have the programs that begin.`,
		Example: "  scheduler --max 4 && iterate job begin\n  iterate job begin --program speed",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return begin(cmd.Context(), env, *o)
		},
	}
	programFlags(cmd.Flags(), env, o)
	forceFlag(cmd.Flags(), o)
	return cmd
}

// begin records starts and says which programs begin.
func begin(ctx context.Context, env Env, o iterateOptions) error {
	if why := env.Stopped(); why != "" {
		fmt.Fprintf(env.Stderr, "%s: nothing begins; set it to false to go on\n", why)
		return printReservations(env, nil, o.json)
	}
	if err := env.Actions().CheckBranch(o.Base); err != nil {
		return err
	}
	deps, err := openDeps(ctx, env, o.Options)
	if err != nil {
		return err
	}
	names := []string{o.Program}
	if o.Program == "" {
		if names, err = matrix(env, o, deps.Repo.Root); err != nil {
			return err
		}
	} else if why := deps.RepositoryStopped(ctx); why != "" {
		fmt.Fprintf(env.Stderr, "the repository's variable %s: nothing begins; set it to false to go on\n", why)
		names = nil
	}
	made, err := deps.Reserve(ctx, names)
	if err != nil {
		return err
	}
	return printReservations(env, made, o.json)
}

// matrix names the programs that the scheduler selected.
func matrix(env Env, o iterateOptions, root string) ([]string, error) {
	dir, err := env.OutputDir(o.Dir)
	if err != nil {
		return nil, err
	}
	return schedule.ReadMatrix(filepath.Join(dir, schedule.PlanFile), root)
}

// printReservations also sets the outputs. That no program could begin because of
// errors is an error.
func printReservations(env Env, made []loop.Reservation, asJSON bool) error {
	if err := env.Actions().ReportReservations(made); err != nil {
		return err
	}
	if asJSON {
		if made == nil {
			made = []loop.Reservation{}
		}
		if err := printEscapedJSON(env, made); err != nil {
			return err
		}
	}
	failed := ""
	for _, one := range made {
		switch {
		case one.Failed:
			failed = fmt.Sprintf("%s: %s", one.Program, one.Reason)
			fmt.Fprintf(env.Stderr, "error: %s\n", failed)
		case asJSON:
		case one.Begun:
			fmt.Fprintf(env.Stdout, "%s: iteration %d begins (run %s)\n", one.Program, one.Iteration, one.RunID)
		default:
			fmt.Fprintf(env.Stdout, "%s: does not begin: %s\n", one.Program, one.Reason)
		}
		for _, warning := range one.Warnings {
			fmt.Fprintln(env.Stderr, "warning:", warning)
		}
	}
	for _, one := range made {
		if !one.Failed {
			return nil
		}
	}
	if failed != "" {
		return &ExitError{Code: ExitFailed}
	}
	return nil
}
