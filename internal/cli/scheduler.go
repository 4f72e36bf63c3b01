package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/sync"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/loop"
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
	var out string
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
			return a.selectProgram(cmd.Context(), asked, out)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&a.Output, "dir", "",
		"where autoloop.json is written (default: as that of iterate, and with --compat /tmp/gh-aw)")
	a.nowFlag(cmd)
	a.githubFlags(cmd)
	flags.StringVar(&out, "out", "", "write the choice to this file (default: autoloop.json in --dir)")
	flags.StringVar(&asked.Forced, "program", a.RequestedProgram(),
		"run this program, whatever its schedule (default: AUTOLOOP_PROGRAM)")
	flags.IntVar(&asked.Max, "max", 1, "how many due programs the matrix may hold")
	parsed(cmd, &asked.Shard, "shard", "select from part I of N of the programs, as `I/N`", parseShard)
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
	if err := a.CheckBranch(a.Base); err != nil && !a.Compat {
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
	if err := a.ReportPlan(plan, file); err != nil {
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

// parseShard reads "2/5".
func parseShard(text string) (shard schedule.Shard, err error) {
	_, err = fmt.Sscanf(text, "%d/%d", &shard.Index, &shard.Of)
	if err != nil || shard.Index < 1 || shard.Index > shard.Of || text != fmt.Sprintf("%d/%d", shard.Index, shard.Of) {
		return shard, errors.New("give a part such as 2/5")
	}
	return shard, nil
}

// outputDir is where autoloop.json is: the flag's directory, else the one of
// AUTOLOOP_DIR, else one of the user alone, or for callers of the original scheduler
// theirs. Whether another user could write there is looked at before it is used.
func (a *App) outputDir() (string, error) {
	dir := cmp.Or(a.Output, a.Getenv("AUTOLOOP_DIR"))
	switch {
	case dir != "":
		dir = a.Path(dir)
	case a.InActions(), a.Compat:
		dir = sharedOutput
	default:
		if dir = a.stateDir(); dir == "" {
			return "", misuse.Errorf("there is no directory for autoloop.json and transcripts: set AUTOLOOP_DIR or " +
				"HOME, or give one with --dir")
		}
	}
	return dir, misuse.New(files.Trusted(dir))
}

// notRepository is the error of a directory that has no programs and is in no
// repository: the user is in the wrong place.
func (a *App) notRepository() error { return misuse.Errorf("%s: %w", a.Checkout, git.ErrNotRepository) }

// input reads everything that scheduling looks at, in what is open.
func (a *App) input(ctx context.Context) (in schedule.Input, err error) {
	programs, err := a.source().Load(false)
	if err != nil {
		return in, misuse.New(err)
	}
	if a.Repo == nil && a.GitHub == nil && len(programs) == 0 && !a.Compat {
		return in, a.notRepository()
	}
	output, err := a.outputDir()
	if err != nil {
		return in, err
	}
	states := memory.States{Dir: filepath.Join(output, "repo-memory", "autoloop")}
	if a.Repo != nil {
		states.Branch = &memory.Memory{Repo: a.Repo, Now: a.Now} // of here, as a workflow fetched it
	}
	in = schedule.Input{
		Now: cmp.Or(a.At, a.Now()).UTC(), Programs: programs, Stopped: a.Stopped(), RepoDir: a.Checkout,
		Refusals: a.refusals(ctx), Alive: a.alive(ctx),
		Ledger: func(name string) (*history.Log, error) { return states.Ledger(ctx, name) },
	}
	if err = states.Load(ctx); err != nil {
		return in, err
	}
	in.States, in.Unreadable = states.Texts, states.Failed
	if !states.Copied {
		in.Branch = memory.MemoryBranch
	}
	in.Warnings = append(states.Warnings, a.changedPrograms(ctx)...)
	if a.GitHub == nil {
		return in, nil
	}
	return in, a.addIssues(ctx, &in)
}

// addIssues adds the issue programs, and the repository's word on whether anything may run.
func (a *App) addIssues(ctx context.Context, in *schedule.Input) (err error) {
	in.Issues, err = schedule.DiscoverIssues(ctx, a.GitHub, sync.ProgramLabel, in.Programs, in.States)
	if err != nil {
		return err
	}
	if len(in.Issues.Programs) > 0 {
		in.Programs = slices.DeleteFunc(in.Programs, checkout.Single)
	}
	in.Programs = append(in.Programs, in.Issues.Programs...)
	if in.Stopped == "" {
		in.Stopped = a.repositoryStopped(ctx)
	}
	return nil
}

// plan decides what would run now if nobody asked for a program; with all, whether it could
// is asked of every program.
func (a *App) plan(ctx context.Context, all bool) (*schedule.Plan, error) {
	in, err := a.input(ctx)
	if err != nil {
		return nil, err
	}
	in.All = all
	return schedule.Choose(in)
}

// notDue says why the program that was asked for is not to run now, in the scheduler's
// words; "" when it is due, or in error, which running it says. A job that waited for
// another one of the same program asks before it begins: what was due when it was started
// may be done by now.
func (a *App) notDue(ctx context.Context) (string, error) {
	if err := a.look(ctx); err != nil {
		return "", err
	}
	plan, err := a.plan(ctx, false)
	if err != nil {
		return "", err
	}
	for _, standing := range plan.Standings {
		if standing.Program.Name == a.Program {
			return standing.Skip, nil
		}
	}
	return "", nil
}

// addSelected adds what is known of the selected program alone: where the text
// of an issue program is, and the pull request that is open.
func (a *App) addSelected(ctx context.Context, in schedule.Input, plan *schedule.Plan) error {
	dir, err := a.outputDir()
	if err != nil {
		return err
	}
	if err := schedule.WriteIssuePrograms(dir, in.Issues.Programs); err != nil {
		return err
	}
	if plan.Selected == nil {
		return nil
	}
	if _, issue := plan.IssuePrograms[*plan.Selected]; issue {
		plan.SelectedFile = new(filepath.Join(dir, "issue-programs", *plan.Selected+".md"))
	}
	pull, err := schedule.OpenPull(ctx, a.GitHub, loop.BranchPrefix+*plan.Selected)
	if api.Reported(err) {
		return ctx.Err()
	}
	if err != nil {
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("whether a pull request is open was not read: %v", err))
		return ctx.Err()
	}
	plan.ExistingPR = pull
	return nil
}

// writePlan writes autoloop.json, whole or not at all, to a file, "" for the usual one.
func (a *App) writePlan(plan *schedule.Plan, out string) (file string, err error) {
	if out != "" {
		return a.Path(out), plan.Write(a.Path(out))
	}
	dir, err := a.outputDir()
	if err != nil {
		return "", err
	}
	if err := files.MakeTrusted(dir, 0o755); err != nil {
		return "", misuse.New(err)
	}
	file = filepath.Join(dir, schedule.PlanFile)
	return file, plan.Write(file)
}
