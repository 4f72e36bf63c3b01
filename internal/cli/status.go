package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/schedule"
)

func newStatusCommand(env Env, o *iterateOptions) *cobra.Command {
	var asJSON bool
	var now string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how every program stands",
		Long: `Show every program with its state: last run, next due, lateness, best metric and target, and why it
does not run.`,
		Example: "  iterate status\n  iterate status --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return status(cmd.Context(), env, Scheduling{Options: o.Options, Now: now}, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	cmd.Flags().StringVar(&now, "now", "", "the time to look at (RFC 3339; default: the clock)")
	dirFlag(cmd.Flags(), &o.Options)
	githubFlags(cmd.Flags(), &o.Options)
	return cmd
}

func status(ctx context.Context, env Env, o Scheduling, asJSON bool) error {
	o.Program = ""
	plan, err := o.Plan(ctx, env, true)
	if err != nil {
		return err
	}
	list := []schedule.Status{}
	for _, s := range plan.Standings {
		list = append(list, s.Status().Linked(o.Page(env)))
	}
	if asJSON {
		return printEscapedJSON(env, list)
	}
	for _, warning := range plan.Warnings {
		fmt.Fprintln(env.Stderr, "warning:", warning)
	}
	if len(list) == 0 {
		fmt.Fprintln(env.Stdout, "no programs: make one with `iterate init NAME`")
		return nil
	}
	warnUncommitted(env, o.Uncommitted(ctx, env).String())
	fmt.Fprint(env.Stdout, schedule.StatusTable(list, plan.GeneratedAt).Fit(env.TableWidth()).String())
	fmt.Fprintf(env.Stdout, "a program is due from %d minutes before its time\n", int(schedule.Grace.Minutes()))
	return nil
}
