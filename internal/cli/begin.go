package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/schedule"
)

func (a *App) newBeginCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "begin",
		Short: "Record that iterations begin in jobs that cannot write, before an agent works there",
		Long: `Record the start of an iteration: its lease, its number, and what it may use of the budgets. A start
that no "iterate job publish" settles counts as interrupted, with all that was reserved.

Without --program it begins every program of the scheduler's matrix. In Actions the outputs has-work
and matrix have the programs that begin.`,
		Example: "  scheduler --max 4 && iterate job begin\n  iterate job begin --program speed",
		Args:    cobra.NoArgs,
		RunE:    run(a.begin),
	}
	a.programFlags(cmd)
	a.forceFlag(cmd)
	return cmd
}

// begin records starts, for jobs that cannot write, and says which programs begin. A
// program that cannot begin keeps no other from it: its reservation says why.
func (a *App) begin(ctx context.Context, _ []string) error {
	if err := a.Actions().CheckBranch(a.Base); err != nil {
		return err
	}
	if err := a.open(ctx); err != nil {
		return err
	}
	if why := a.paused(ctx); why != "" {
		fmt.Fprintf(a.Stderr, "%s: nothing begins; set it to false to go on\n", why)
		return a.printReservations([]loop.Reservation{})
	}
	names := []string{a.Program}
	if a.Program == "" {
		dir, err := a.outputDir()
		if err != nil {
			return err
		}
		if names, err = schedule.ReadPlan(filepath.Join(dir, schedule.PlanFile), a.Checkout); err != nil {
			return err
		}
	}
	made := []loop.Reservation{}
	for _, name := range names {
		a.Program = name
		recorder, err := a.selectedRecorder(ctx)
		var one loop.Reservation
		if err == nil {
			one, err = recorder.Reserve(ctx)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			one = loop.Reservation{Program: name, Reason: err.Error(), Failed: true}
		}
		made = append(made, one)
	}
	return a.printReservations(made)
}

// printReservations also sets the outputs. That no program could begin because of
// errors is an error.
func (a *App) printReservations(made []loop.Reservation) error {
	if err := a.Actions().ReportReservations(made); err != nil {
		return err
	}
	text, failed := "", 0
	for _, one := range made {
		switch {
		case one.Failed:
			failed++
			fmt.Fprintf(a.Stderr, "error: %s: %s\n", one.Program, one.Reason)
		case one.Begun:
			text += fmt.Sprintf("%s: iteration %d begins (run %s)\n", one.Program, one.Iteration, one.RunID)
		default:
			text += fmt.Sprintf("%s: does not begin: %s\n", one.Program, one.Reason)
		}
		a.warn(one.Warnings...)
	}
	return verdict(a.print(made, text), failed > 0 && failed == len(made))
}
