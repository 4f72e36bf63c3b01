package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/loop"
)

func newReplayCommand(env Env, o *iterateOptions) *cobra.Command {
	var asJSON bool
	var remote string
	cmd := &cobra.Command{
		Use:   "replay [PROGRAM]",
		Short: "Compute every decision again from the ledger, and say where the records disagree",
		Long: "Compute every decision of a program again from the measurements in its ledger alone, and hold the\n" +
			"state, the table of results and the commits of the program branch against it. Nothing is run and\n" +
			"nothing is written. Without a name every program that has records is replayed.\n\n" +
			"The exit code is 1 when anything disagrees.",
		Example: "  iterate replay speed\n  iterate replay --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o := *o
			o.Remote = remote
			return replay(cmd.Context(), env, o, args, asJSON)
		},
	}
	cmd.Flags().StringVar(&remote, "remote", "", "the git remote that the records are shared with, such as origin")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print an object for each program")
	return cmd
}

// errDisagree is the verdict of a replay that found something; it was printed.
var errDisagree = errors.New("the records disagree with the ledger's measurements")

func replay(ctx context.Context, env Env, o iterateOptions, names []string, asJSON bool) error {
	deps, err := app.Open(ctx, env, o.Options)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		states, _, err := deps.Memory.States(ctx)
		if err != nil {
			return err
		}
		for name := range states {
			names = append(names, name)
		}
		slices.Sort(names)
	}
	reports := map[string]audit.Report{}
	found := 0
	for _, name := range names {
		records, err := deps.Memory.Records(ctx, name, loop.BranchPrefix+name)
		if err != nil {
			return err
		}
		reports[name] = audit.Audit(decision.Known(), records)
		found += len(reports[name].Findings)
	}
	if err := printReplay(env, names, reports, asJSON); err != nil {
		return err
	}
	if found > 0 {
		return errDisagree
	}
	return nil
}

func printReplay(env Env, names []string, reports map[string]audit.Report, asJSON bool) error {
	if asJSON {
		return printJSON(env, reports)
	}
	if len(names) == 0 {
		fmt.Fprintln(env.Stdout, "no program has records yet")
	}
	for _, name := range names {
		report := reports[name]
		fmt.Fprintf(env.Stdout, "%s: %d iterations, %d decisions computed again", name, report.Decisions, report.Repeated)
		if report.Old > 0 {
			fmt.Fprintf(env.Stdout, ", %d from before rules were recorded", report.Old)
		}
		if len(report.Findings) == 0 {
			fmt.Fprintln(env.Stdout, ": the records agree")
			continue
		}
		fmt.Fprintf(env.Stdout, ": %d disagreements\n", len(report.Findings))
		for _, finding := range report.Findings {
			fmt.Fprintf(env.Stdout, "  %s, iteration %d: %s\n", finding.Where, finding.Iteration, finding.Message)
		}
	}
	return nil
}
