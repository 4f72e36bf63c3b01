package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/loop/live"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
)

// Iterate runs the `iterate` binary and returns its exit code. It asks models
// through complete.
func Iterate(complete agent.Complete, repository string) func(context.Context, Env) int {
	return func(ctx context.Context, env Env) int {
		env = env.EscapeLog()
		env.Complete, env.ReleasedFrom = complete, repository
		return Run(ctx, env, newIterateCommand(env))
	}
}

// iterateOptions are the flags of `iterate`.
type iterateOptions struct {
	Options

	count int
	json  bool
	// dryRun goes as far as the decision and writes nothing.
	dryRun bool
	// failOn is the outcome that makes the exit code 1, "" for none.
	failOn string
}

func newIterateCommand(env Env) *cobra.Command {
	var o iterateOptions
	cmd := &cobra.Command{
		Use:   "iterate",
		Short: "Run iterations of one program: propose, measure, decide, keep or drop",
		Long: `Run one iteration (or -n of them) of a program: an agent changes the target files in a throw-away
tree, the evaluation measures the change in a second tree, and code decides. What is better becomes
a commit on branch autoloop/NAME; the records are kept on branch memory/autoloop. Your checkout,
index and current branch are not touched.

Without --program it takes the program that "scheduler" selected.`,
		Example: "  iterate --program speed\n  iterate --program speed -n 10 --agent tuner\n" +
			"  scheduler && iterate\n  iterate --program speed --dry-run --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return iterate(cmd.Context(), env, o)
		},
	}
	flags := cmd.Flags()
	programFlags(flags, env, &o)
	forceFlag(flags, &o)
	agentFlags(flags, &o)
	flags.IntVarP(&o.count, "iterations", "n", 1, "how many iterations to run at most")
	flags.BoolVar(&o.dryRun, "dry-run", false, "go as far as the decision and write nothing")
	flags.StringVar(&o.failOn, "fail-on", "",
		"end with exit code 1 after this `OUTCOME`: error (always when the unchanged files cannot be measured)")
	addGroup(cmd, "Run", newDemoCommand(env), newApplyCommand(env, &o))
	addGroup(cmd, "Run", newControlCommands(env, &o)...)
	addGroup(cmd, "Look", newStatusCommand(env, &o), newLogCommand(env, &o), newPageCommand(env, &o),
		newDoctorCommand(env, &o), newReplayCommand(env, &o))
	addGroup(cmd, "Write programs", newInitCommand(env, &o), newValidateCommand(env, &o), newPruneCommand(env, &o))
	addGroup(cmd, "Suites (skills and agent configurations)", newSkillCommand(env), newEvalCommand(env),
		newCompareCommand(env))
	addGroup(cmd, "Workflows", newJobCommand(env, &o))
	return cmd
}

// addGroup adds commands that stand together in `--help`.
func addGroup(root *cobra.Command, title string, list ...*cobra.Command) {
	if !root.ContainsGroup(title) {
		root.AddGroup(&cobra.Group{ID: title, Title: title + ":"})
	}
	for _, cmd := range list {
		cmd.GroupID = title
	}
	root.AddCommand(list...)
}

// programFlags say which program is meant, and where its branches and records are.
func programFlags(flags *pflag.FlagSet, env Env, o *iterateOptions) {
	flags.StringVar(&o.Program, "program", env.Getenv("AUTOLOOP_PROGRAM"),
		"the program to run (default: the scheduler's choice)")
	flags.StringVar(&o.Base, "base", "", "the default branch that the work is for")
	flags.StringVar(&o.CIWorkflow, "ci-workflow", "",
		"the `FILE` name of the workflow that is started for what is pushed (default: the program's)")
	sharedFlags(flags, &o.Options)
	flags.BoolVar(&o.json, "json", false, "print an array with an object for each iteration")
	dirFlag(flags, &o.Options)
}

// sharedFlags say where branches and records are: here alone, or on a remote and GitHub too.
func sharedFlags(flags *pflag.FlagSet, o *Options) {
	flags.StringVar(&o.Remote, "remote", "",
		"the git remote that branches and records are shared with (default: origin with GitHub)")
	githubFlags(flags, o)
}

// dirFlag says where the files of this machine are.
func dirFlag(flags *pflag.FlagSet, o *Options) {
	flags.StringVar(&o.Dir, "dir", "",
		"where autoloop.json and transcripts are (default: AUTOLOOP_DIR, else /tmp/gh-aw in Actions, else autoloop "+
			"in XDG_STATE_HOME or ~/.local/state)")
}

// githubFlags say which repository is used, here and on GitHub.
func githubFlags(flags *pflag.FlagSet, o *Options) {
	repositoryFlags(flags, o)
	flags.StringVar(&o.Name, "repo", "", "the repository on GitHub, as owner/name (default: GITHUB_REPOSITORY)")
	flags.BoolVar(&o.Local, "local", false, "use no remote and no GitHub, whatever the environment says")
}

// repositoryFlags say which repository is used here, and where its programs are.
func repositoryFlags(flags *pflag.FlagSet, o *Options) {
	repoDirFlag(flags, &o.RepoDir)
	flags.StringVar(&o.Programs, "programs", "", "directory of program files (default: .autoloop/programs)")
}

func repoDirFlag(flags *pflag.FlagSet, dir *string) {
	flags.StringVar(dir, "repo-dir", "", "the repository (default: here)")
}

// forceFlag runs a program that rests.
func forceFlag(flags *pflag.FlagSet, o *iterateOptions) {
	flags.BoolVar(&o.Force, "force", false, "iterate although the program is paused or completed; the ledger says so")
}

// agentFlags say who proposes.
func agentFlags(flags *pflag.FlagSet, o *iterateOptions) {
	flags.StringVar(&o.Agent, "agent", "",
		"who proposes, as \"iterate doctor\" lists them (default: the program's, else AUTOLOOP_AGENT)")
	flags.StringVar(&o.AgentCommand, "agent-command", "",
		"the command of the agent `command`, which is then the default agent (default: the program's)")
	flags.StringVar(&o.Model, "model", "", "the model that the agent uses")
	flags.StringVar(&o.BudgetUSD, "budget-usd", "",
		"begin no further iteration when this run has cost so many dollars, besides the program's budgets")
}

// iterate runs iterations one after the other.
func iterate(ctx context.Context, env Env, o iterateOptions) error {
	if o.count < 1 {
		return misuse.Errorf("-n %d: give at least one iteration", o.count)
	}
	if o.failOn != "" && o.failOn != string(history.Error) {
		return misuse.Errorf("--fail-on %s: give error; what was decided is no failure", o.failOn)
	}
	refused := recordRefusal
	if o.dryRun {
		refused = func(context.Context, iterateOptions, *dependencies, *loop.Service, error) error { return nil }
	}
	return withLoop(ctx, env, o, (*dependencies).CheckCIGate, refused,
		func(ctx context.Context, service *loop.Service) ([]loop.Result, error) {
			if !o.dryRun {
				results, err := runShown(ctx, env, service, o.count)
				return results, errors.Join(err, loop.Failed(results, o.failOn == string(history.Error)))
			}
			result, err := service.DryRun(ctx)
			if err != nil {
				return nil, err
			}
			results := []loop.Result{result}
			return results, loop.Failed(results, o.failOn == string(history.Error))
		})
}

// runShown runs iterations, and says on the repository's board what they are at.
func runShown(ctx context.Context, env Env, service *loop.Service, count int) ([]loop.Result, error) {
	run, err := live.New(service.Repo.CommonDir).Begin(service.Program.Name)
	if err != nil {
		return nil, err
	}
	defer run.Close()
	shown := service.Progress
	service.Progress = func(step loop.Step) {
		shown(step)
		run.Tell(live.Status{
			Program: step.Program, Iteration: step.Iteration, Stage: step.Name, Detail: step.Detail,
			Since: env.Now(),
		})
	}
	service.StopAsked = run.StopAsked
	return service.Run(ctx, count)
}

// refusalHandler does what is to be done when nobody can work on a program here; the
// service neither proposes nor measures.
type refusalHandler func(ctx context.Context, o iterateOptions, deps *dependencies, recorder *loop.Service,
	why error) error

// withLoop does something with the loop of a program that check lets pass, and
// prints the results.
func withLoop(ctx context.Context, env Env, o iterateOptions, check func(*dependencies, *program.Program) error,
	refused refusalHandler,
	do func(context.Context, *loop.Service) ([]loop.Result, error),
) error {
	if why := env.Stopped(); why != "" {
		fmt.Fprintf(env.Stderr, "%s: nothing runs; set it to false to go on\n", why)
		return deliver(env, o, nil, nil)
	}
	if err := env.Actions().CheckBranch(o.Base); err != nil {
		return err
	}
	deps, remove, err := openRun(ctx, env, o.Options)
	if err != nil {
		return err
	}
	defer remove()
	p, issue, err := deps.Program(ctx)
	if err != nil {
		return err
	}
	if p == nil {
		if !o.json {
			fmt.Fprintln(env.Stdout, "nothing is selected: no program is due")
			return reportRun(env, o, nil, nil)
		}
		return deliver(env, o, nil, []loop.Result{{
			Outcome: history.Idle,
			Reasons: decision.Lines{decision.Say("nothing selected")},
		}})
	}
	if o.Program != "" {
		if why := deps.RepositoryStopped(ctx); why != "" {
			fmt.Fprintf(env.Stderr, "the repository's variable %s: nothing runs; set it to false to go on\n", why)
			return deliver(env, o, p, nil)
		}
	}
	if !env.InActions() { // a checkout of Actions is as it was committed
		warnUncommitted(env, lookUncommitted(ctx, deps.Repo, o.Programs).Of(p)...)
	}
	shown := newProgress(env)
	service, closing, err := newLoop(ctx, deps, p, issue, check, shown.Step)
	if err != nil {
		shown.Close()
		if ctx.Err() == nil { // what was interrupted is no fault of the program
			err = errors.Join(err, refused(ctx, o, deps, deps.Recorder(ctx, p, issue), err))
		}
		return err
	}
	defer closing()
	service.Ended = shown.Ended
	results, err := do(ctx, service)
	shown.Close()
	if out, is := errors.AsType[*memory.CheckedOutError](err); is && out.Ref != "refs/heads/"+memory.MemoryBranch &&
		ctx.Err() == nil {
		err = errors.Join(err, refused(ctx, o, deps, deps.Recorder(ctx, p, issue), err))
	}
	if printed := deliver(env, o, p, results); printed != nil {
		return errors.Join(err, printed)
	}
	return err
}

// warnUncommitted says what is not committed; nothing for "".
func warnUncommitted(env Env, texts ...string) {
	for _, text := range texts {
		if text != "" {
			fmt.Fprintln(env.Stderr, "warning:", text)
		}
	}
}

// newLoop makes the loop of a program that check lets pass. closing cleans up.
func newLoop(ctx context.Context, deps *dependencies, p *program.Program, issue *api.Issue,
	check func(*dependencies, *program.Program) error, tell func(loop.Step),
) (service *loop.Service, closing func(), err error) {
	if err := check(deps, p); err != nil {
		return nil, nil, err
	}
	if service, err = deps.Loop(ctx, p, issue); err != nil {
		return nil, nil, err
	}
	service.Progress = tell
	closing, err = deps.MeasureBySuite(ctx, service)
	return service, closing, err
}

// recordRefusal records what kept the program that the scheduler selected from
// running here, so that it does not keep others from their turn. What a person
// asked for by name is theirs to correct.
func recordRefusal(ctx context.Context, o iterateOptions, deps *dependencies, recorder *loop.Service, why error) error {
	if selected := o.Program == "" || deps.Env.InActions(); !selected || o.Agent != "" {
		return nil
	}
	_, err := recorder.RecordRefusal(ctx, why.Error())
	return err
}
