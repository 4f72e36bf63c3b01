package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/schedule"
	"github.com/org/autoloop/internal/setup"
)

// Scheduler runs the `scheduler` binary and returns its exit code.
func Scheduler(ctx context.Context, env Env) int {
	env = env.EscapeLog()
	return Run(ctx, env, newSchedulerCommand(env))
}

// schedulerOptions are the flags of `scheduler`.
type schedulerOptions struct {
	Scheduling

	out, shard string
	json       bool
}

func newSchedulerCommand(env Env) *cobra.Command {
	var o schedulerOptions
	cmd := &cobra.Command{
		Use:   "scheduler",
		Short: "Pick the most overdue program and write autoloop.json",
		Long: `Read all program files and their states, pick the program that is most overdue, and write the
choice to autoloop.json for "iterate" and for workflows. Nothing else is changed.`,
		Example: "  scheduler\n  scheduler --program speed          # whatever its schedule\n" +
			"  scheduler --max 4                  # a matrix of up to four programs",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return selectProgram(cmd.Context(), env, o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Dir, "dir", "",
		"working directory of autoloop.json and repo-memory (default: AUTOLOOP_DIR, else /tmp/gh-aw in Actions and "+
			"with --compat, else autoloop in XDG_STATE_HOME or ~/.local/state)")
	flags.StringVar(&o.Now, "now", "", "the time to schedule at (RFC 3339; default: the clock)")
	githubFlags(flags, &o.Options)
	flags.StringVar(&o.out, "out", "", "write the choice to this file (default: autoloop.json in --dir)")
	flags.StringVar(&o.Program, "program", env.Actions().RequestedProgram(),
		"run this program, whatever its schedule (default: AUTOLOOP_PROGRAM)")
	flags.IntVar(&o.Max, "max", 1, "how many due programs the matrix may hold")
	flags.StringVar(&o.shard, "shard", "", "select from part I of N of the programs, as I/N")
	flags.BoolVar(&o.Compat, "compat", false, "exit codes and output of the original scheduler")
	flags.BoolVar(&o.json, "json", false, "print the choice as JSON too")
	return cmd
}

func selectProgram(ctx context.Context, env Env, o schedulerOptions) error {
	if o.Max < 1 {
		return misuse.Errorf("--max %d: give at least one", o.Max)
	}
	if o.Compat && o.Programs == "" {
		if err := writeCompatTemplate(ctx, env, o); err != nil {
			return err
		}
	}
	if err := env.Actions().CheckBranch(o.Base); err != nil && !o.Compat {
		return err
	}
	shard, err := parseShard(o.shard)
	if err != nil {
		return err
	}
	hub, err := o.Client(env)
	if err != nil {
		return err
	}
	in, err := o.Input(ctx, env, hub)
	if err != nil {
		return err
	}
	if o.Compat && hub == nil && o.Repository(env) != "" && env.Token() != "" {
		in.Warnings = append(in.Warnings,
			fmt.Sprintf("could not fetch issue-based programs: %q is no repository", o.Repository(env)))
	}
	in.Shard = shard
	plan, forced := schedule.Choose(in)
	if hub != nil {
		if err := o.AddSelected(ctx, env, hub, in, plan); err != nil {
			return err
		}
	}
	if o.Compat {
		plan.Compat()
	}
	file, err := o.WritePlan(env, plan, o.out)
	if err != nil {
		return err
	}
	if err := env.Actions().ReportPlan(plan, file); err != nil {
		return err
	}
	if o.Compat {
		text, failed := plan.CompatText(in, forced)
		if fmt.Fprint(env.Stdout, text); failed {
			return &ExitError{Code: ExitFailed, Err: forced}
		}
		return nil
	}
	if forced != nil {
		return misuse.New(forced)
	}
	if o.json {
		return printEscapedJSON(env, plan)
	}
	fmt.Fprint(env.Stdout, plan.Text())
	fmt.Fprint(env.Stderr, plan.WarningText())
	fmt.Fprintf(env.Stdout, "written: %s\n", file)
	return nil
}

// writeCompatTemplate does what the original scheduler did before anything else.
func writeCompatTemplate(ctx context.Context, env Env, o schedulerOptions) error {
	root, _, err := findCheckout(ctx, env, o.RepoDir)
	if err != nil {
		return err
	}
	written, err := setup.OriginalTemplate(root)
	if written {
		fmt.Fprintf(env.Stdout, "BOOTSTRAPPED: created %s/example.md locally (agent will create a draft PR)\n",
			memory.DefaultPrograms)
	}
	return err
}

// parseShard reads "2/5"; "" is everything.
func parseShard(text string) (schedule.Shard, error) {
	if text == "" {
		return schedule.Shard{}, nil
	}
	index, of, _ := strings.Cut(text, "/")
	i, errIndex := strconv.Atoi(index)
	n, errOf := strconv.Atoi(of)
	if errIndex != nil || errOf != nil || i < 1 || i > n {
		return schedule.Shard{}, misuse.Errorf("--shard %q is no part such as 2/5", text)
	}
	return schedule.Shard{Index: i, Of: n}, nil
}
