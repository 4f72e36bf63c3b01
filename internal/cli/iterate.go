package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/render/live"
)

// Iterate runs the `iterate` binary and returns its exit code. It asks models
// through complete.
func Iterate(complete agent.Complete, repository string) func(context.Context, Env) int {
	return func(ctx context.Context, env Env) int {
		a := &App{Env: env.EscapeLog()}
		a.Complete, a.ReleasedFrom = complete, repository
		defer a.close()
		return Run(ctx, a.Env, a.newIterateCommand())
	}
}

func (a *App) newIterateCommand() *cobra.Command {
	var count int
	var dryRun bool
	var failOn string
	cmd := &cobra.Command{
		Use:   "iterate",
		Short: "Run iterations of one program: propose, measure, decide, keep or drop",
		Long: `Run one iteration (or -n of them) of a program: an agent changes the target files in a throw-away
tree, the evaluation measures the change in a second tree, and code decides. What is better becomes
a commit on branch autoloop/NAME; the records are kept on branch memory/autoloop. Your checkout,
index and current branch are not touched.`,
		Example: "  iterate --program speed\n  iterate --program speed -n 10 --agent tuner\n" +
			"  scheduler && iterate\n  iterate --program speed --dry-run --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case count < 1:
				return misuse.Errorf("-n %d: give at least one iteration", count)
			case failOn != "" && failOn != string(history.Error):
				return misuse.Errorf("--fail-on %s: give error; what was decided is no failure", failOn)
			}
			return a.iterate(cmd.Context(), count, dryRun, failOn != "")
		},
	}
	a.programFlags(cmd)
	a.agentFlags(cmd)
	cmd.Flags().IntVarP(&count, "iterations", "n", 1, "how many iterations to run at most")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "go as far as the decision and write nothing")
	cmd.Flags().StringVar(&failOn, "fail-on", "",
		"end with exit code 1 after this `OUTCOME`: error (always when the unchanged files cannot be measured)")
	addGroup(cmd, "Run", a.newDemoCommand(), a.newApplyCommand(), a.newPauseCommand(), a.newResumeCommand(),
		a.newUndoCommand(), a.newNoteCommand())
	addGroup(cmd, "Look", a.newStatusCommand(), a.newLogCommand(), a.newPageCommand(), a.newDoctorCommand(),
		a.newReplayCommand())
	addGroup(cmd, "Write programs", a.newInitCommand(), a.newValidateCommand(), a.newPruneCommand())
	addGroup(cmd, "Suites (skills and agent configurations)", a.newSkillCommand(), a.newEvalCommand(),
		a.newCompareCommand())
	addGroup(cmd, "Workflows", a.newJobCommand())
	a.addCompletion(cmd)
	return cmd
}

// addGroup adds commands that stand together in `--help`.
func addGroup(root *cobra.Command, title string, list ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title + ":"})
	for _, cmd := range list {
		cmd.GroupID = title
	}
	root.AddCommand(list...)
}

// iterate runs iterations one after the other.
func (a *App) iterate(ctx context.Context, count int, dryRun, failOnError bool) error {
	refused := a.recordRefusal
	if dryRun {
		refused = nil
	}
	return a.withLoop(ctx, true, refused, func(ctx context.Context, service *loop.Service) (
		results []render.Result, err error,
	) {
		if !dryRun {
			results, err = a.runShown(ctx, service, count)
		} else if result, err := service.DryRun(ctx); err != nil {
			return nil, err
		} else {
			results = []render.Result{result}
		}
		return results, errors.Join(err, failed(results, failOnError))
	})
}

// runShown runs iterations, and says on the repository's board what they are at.
func (a *App) runShown(ctx context.Context, service *loop.Service, count int) ([]render.Result, error) {
	run, err := live.New(service.Repo.CommonDir).Begin(service.Program.Name)
	if err != nil {
		return nil, err
	}
	defer run.Close()
	shown := service.Progress
	service.Progress = func(s live.Status) {
		shown(s)
		run.Tell(s)
	}
	return service.Run(ctx, count)
}

// withLoop does something with the loop of a program, and prints the results; with gate
// what needs CI's word is refused where GitHub is left out. Where nobody can work on the program here, refused is told why, with a loop
// that neither proposes nor measures.
func (a *App) withLoop(ctx context.Context, gate bool,
	refused func(context.Context, *loop.Service, error) error,
	do func(context.Context, *loop.Service) ([]render.Result, error),
) error {
	if err := a.CheckBranch(a.Base); err != nil {
		return err
	}
	if err := a.openRun(ctx); err != nil {
		return err
	}
	if why := a.paused(ctx); why != "" {
		fmt.Fprintf(a.Stderr, "%s: nothing runs; set it to false to go on\n", why)
		return a.deliver(nil, nil)
	}
	p, err := a.selected(ctx)
	if err != nil {
		return err
	}
	if p == nil {
		if a.JSON {
			return a.deliver(nil, idle("", "nothing selected"))
		}
		fmt.Fprintln(a.Stdout, "nothing is selected: no program is due")
		return a.deliver(nil, nil)
	}
	a.warn(a.uncommitted(ctx).Of(p)...)
	shown := newProgress(a.Env)
	var results []render.Result
	var service *loop.Service
	if gate {
		err = p.GateRefusal(a.GitHub != nil).Err()
	}
	if err == nil {
		service, err = a.newLoop(ctx, p)
	}
	refusal := err != nil
	if err == nil {
		service.Progress, service.Ended = shown.Step, shown.Ended
		results, err = do(ctx, service)
		out, is := errors.AsType[*memory.CheckedOutError](err)
		refusal = is && out.Ref != "refs/heads/"+memory.MemoryBranch
	}
	shown.Close()
	if refusal && refused != nil && ctx.Err() == nil { // what was interrupted is no fault of the program
		err = errors.Join(err, refused(ctx, a.recorder(ctx, p), err))
	}
	if service == nil {
		return err
	}
	return errors.Join(err, a.deliver(p, results))
}

// idle is the result of a run that does not begin.
func idle(name, why string) []render.Result {
	return []render.Result{{
		Program: name, Outcome: history.Idle, Reasons: decision.Lines{decision.Say(why)},
	}}
}

// recordRefusal records what kept the program that the scheduler selected from
// running here, so that it does not keep others from their turn. What a person
// asked for by name is theirs to correct.
func (a *App) recordRefusal(ctx context.Context, recorder *loop.Service, why error) error {
	if selected := a.Program == "" || a.InActions(); !selected || a.Agent != "" {
		return nil
	}
	_, err := recorder.Refusing(why.Error()).Run(ctx, 1)
	return err
}
