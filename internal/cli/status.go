package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/schedule"
)

func (a *App) newStatusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how every program stands",
		Long: `Show every program with its state: last run, next due, lateness, best metric and target, and why it
does not run.`,
		Example: "  iterate status\n  iterate status --json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return misuse.Errorf("status shows all programs; `iterate log %s` shows one", args[0])
			}
			return nil
		},
		RunE: run(a.status),
	}
	a.jsonFlag(cmd)
	a.nowFlag(cmd)
	a.dirFlag(cmd)
	a.githubFlags(cmd)
	return cmd
}

func (a *App) status(ctx context.Context, _ []string) error {
	if err := a.look(ctx); err != nil {
		return err
	}
	plan, err := a.plan(ctx, true)
	if err != nil {
		return err
	}
	list := []schedule.Status{}
	for _, s := range plan.Standings {
		list = append(list, s.Status(a.repositoryPage()))
	}
	if a.JSON {
		return a.printJSON(list)
	}
	a.warn(plan.Warnings...)
	if len(list) == 0 {
		fmt.Fprintln(a.Stdout, "no programs: make one with `iterate init NAME`")
		return nil
	}
	a.warn(a.uncommitted(ctx).Files()...)
	fmt.Fprint(a.Stdout, schedule.StatusTable(list, plan.GeneratedAt).Fit(a.TableWidth()).String())
	fmt.Fprintf(a.Stdout, "a program is due from %d minutes before its time\n", int(schedule.Grace.Minutes()))
	return nil
}
