package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program/checkout"
	"github.com/org/autoloop/internal/schedule"
	"github.com/org/autoloop/internal/setup"
)

// Scheduler runs the `scheduler` binary and returns its exit code.
func Scheduler(ctx context.Context, env Env) int {
	a := &App{Env: env.EscapeLog()}
	return Run(ctx, a.Env, a.newSchedulerCommand())
}

func (a *App) newSchedulerCommand() *cobra.Command {
	var out, part string
	var asked schedule.Input
	cmd := &cobra.Command{
		Use:   "scheduler",
		Short: "Pick the most overdue program and write autoloop.json",
		Long: `Read all program files and their states, pick the program that is most overdue, and write the
choice to autoloop.json for "iterate" and for workflows. Nothing else is changed.`,
		Example: "  scheduler\n  scheduler --program speed          # whatever its schedule\n" +
			"  scheduler --max 4                  # a matrix of up to four programs",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asked.Max < 1 {
				return misuse.Errorf("--max %d: give at least one", asked.Max)
			}
			var err error
			if asked.Shard, err = parseShard(part); err != nil {
				return err
			}
			return a.selectProgram(cmd.Context(), asked, out)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&a.Output, "dir", "",
		"where autoloop.json is written (default: as that of iterate, and with --compat /tmp/gh-aw)")
	flags.StringVar(&a.At, "now", "", "the time to schedule at (RFC 3339; default: the clock)")
	a.githubFlags(cmd)
	flags.StringVar(&out, "out", "", "write the choice to this file (default: autoloop.json in --dir)")
	flags.StringVar(&asked.Forced, "program", a.Actions().RequestedProgram(),
		"run this program, whatever its schedule (default: AUTOLOOP_PROGRAM)")
	flags.IntVar(&asked.Max, "max", 1, "how many due programs the matrix may hold")
	flags.StringVar(&part, "shard", "", "select from part I of N of the programs, as I/N")
	flags.BoolVar(&a.Compat, "compat", false, "exit codes and output of the original scheduler")
	flags.BoolVar(&a.JSON, "json", false, "print the choice as JSON too")
	a.addCompletion(cmd)
	return cmd
}

func (a *App) selectProgram(ctx context.Context, asked schedule.Input, out string) error {
	if err := a.look(ctx); err != nil {
		return err
	}
	if a.Compat && a.Programs == "" {
		written, err := setup.OriginalTemplate(a.Checkout)
		if err != nil {
			return err
		}
		if written { // as the original scheduler did before anything else
			fmt.Fprintf(a.Stdout, "BOOTSTRAPPED: created %s/example.md locally (agent will create a draft PR)\n",
				checkout.DefaultPrograms)
		}
	}
	if err := a.Actions().CheckBranch(a.Base); err != nil && !a.Compat {
		return err
	}
	in, err := a.input(ctx)
	if err != nil {
		return err
	}
	if a.Compat && a.GitHub == nil && a.repository() != "" && a.Token() != "" {
		in.Warnings = append(in.Warnings,
			fmt.Sprintf("could not fetch issue-based programs: %q is no repository", a.repository()))
	}
	in.Forced, in.Max, in.Shard = asked.Forced, asked.Max, asked.Shard
	plan, forced := schedule.Choose(in)
	if a.GitHub != nil {
		if err := a.addSelected(ctx, in, plan); err != nil {
			return err
		}
	}
	if a.Compat {
		plan.Compat()
	}
	file, err := a.writePlan(plan, out)
	if err != nil {
		return err
	}
	if err := a.Actions().ReportPlan(plan, file); err != nil {
		return err
	}
	switch {
	case a.Compat:
		text, failed := plan.CompatText(in, forced)
		if fmt.Fprint(a.Stdout, text); !failed {
			return nil
		}
		return verdict(forced, failed)
	case forced != nil:
		return misuse.New(forced)
	case !a.JSON:
		a.warn(plan.Warnings...)
	}
	return a.print(plan, fmt.Sprintf("%swritten: %s\n", plan.Text(), file))
}

// parseShard reads "2/5"; "" is everything.
func parseShard(text string) (shard schedule.Shard, err error) {
	if text == "" {
		return shard, nil
	}
	_, err = fmt.Sscanf(text, "%d/%d", &shard.Index, &shard.Of)
	if err != nil || shard.Index < 1 || shard.Index > shard.Of || text != fmt.Sprintf("%d/%d", shard.Index, shard.Of) {
		return shard, misuse.Errorf("--shard %q is no part such as 2/5", text)
	}
	return shard, nil
}
