package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/skill/evalrun"
	"github.com/org/autoloop/internal/skill/workspace"
)

// skillRunOptions are the flags of `iterate skill PATH`.
type skillRunOptions struct {
	skillEvalOptions

	executor, executorCommand, workspace, runs string
	count, stopAfter                           int
	noCaseRegression, fresh, yes, triggers     bool
	proposal                                   time.Duration
}

func (o *skillRunOptions) register(flags *pflag.FlagSet) {
	o.skillEvalOptions.register(flags)
	_ = flags.MarkHidden("out") // of eval alone
	flags.Lookup("agent").Usage = "who improves the skill, and works on the cases unless --executor says who\n" +
		"(default: --agent-command, else AUTOLOOP_AGENT, else models in Actions)"
	flags.StringVar(&o.executor, "executor", "", "who works on the cases")
	flags.StringVar(&o.executorCommand, "executor-command", "", "the command of the executor `command`")
	flags.StringVar(&o.workspace, "workspace", "", "the workspace `directory` (default: PATH-autoresearch)")
	flags.BoolVar(&o.fresh, "fresh", false, "begin a new workspace beside the one that is there")
	flags.BoolVarP(&o.yes, "yes", "y", false, "apply the best version at the end without asking")
	flags.IntVarP(&o.count, "iterations", "n", defaultIterations, "how many iterations to run at most")
	flags.IntVar(&o.stopAfter, "stop-after-reverts", defaultReverts, "how many reverts in a row end the run; 0 is off")
	flags.StringVar(&o.runs, "runs", "1", "how often each side is measured before a change is kept: a number, or auto")
	flags.BoolVar(&o.noCaseRegression, "no-case-regression", false, "turn down what loses a case that passed")
	flags.BoolVar(&o.triggers, "triggers", true, "run the trigger queries of the original and of the best version at the end")
	flags.DurationVar(&o.proposal, "proposal-timeout", 30*time.Minute, "what the improver has for one change")
}

const (
	defaultIterations = 5
	defaultReverts    = 3
)

// runSkill improves a skill in its workspace; the skill itself is only read.
func runSkill(ctx context.Context, env Env, dir string, o skillRunOptions) error {
	if o.count < 1 {
		return misuse.Errorf("-n %d: give at least one iteration", o.count)
	}
	if err := o.check(); err != nil {
		return err
	}
	if o.stopAfter < 0 || o.proposal <= 0 {
		return misuse.Errorf("--stop-after-reverts %d, --proposal-timeout %s: give 0 (off) or more, and a time above 0", o.stopAfter, o.proposal)
	}
	repeats, err := skill.ParseRuns(o.runs)
	if err != nil {
		return err
	}
	if o.out != "" {
		return misuse.Errorf("--out is of `iterate skill eval`; what iterations leave is in the workspace (--workspace)")
	}
	if err := skill.FinishRestore(ctx, env.Path(dir), env.Stderr); err != nil {
		return err
	}
	suited, err := evalrun.Load(env.Path(dir), ".", "")
	if err != nil {
		return err
	}
	if err := o.choose(ctx, env, "who improves the skill"); err != nil {
		return err
	}
	run, remove, err := tree.NewRunDir(env.TempDir())
	if err != nil {
		return err
	}
	defer remove()
	wiring, err := o.wire(ctx, env, suited, run)
	if err != nil {
		return err
	}
	w, err := skill.OpenOrCreate(ctx, o.place(env, env.Path(dir)), env.Path(dir), env.Stderr)
	if err != nil {
		return err
	}
	release, err := w.Hold()
	if err != nil {
		return err
	}
	defer release()
	if err := versionsOf(env, w).WarnOfChange(ctx); err != nil {
		return err
	}
	loop, measuring, err := o.loop(ctx, env, w, wiring)
	if err != nil {
		return err
	}
	loop.Runs = repeats
	goesOn, err := skill.GoesOn(w, loop.Name, o.count)
	if err != nil {
		return err
	}
	fmt.Fprint(o.text(env), goesOn)
	result := skillResult{Schema: 1, Name: loop.Name, Workspace: w.Dir, Iterations: []skillIteration{}}
	shown := newSkillProgress(env)
	measuring.Begin, loop.Improving = shown.Begin, shown.Improving
	measuring.Tell = func(line string) { shown.Tell(env.Stderr, line) }
	loop.Progress = func(row results.Row) { shown.Tell(o.text(env), result.add(row)) }
	ended, err := loop.Run(ctx)
	if err == nil && o.triggers {
		if err := measuring.Triggers(ctx); err != nil && ctx.Err() == nil {
			shown.Tell(env.Stderr, "warning: "+plain.Short(err.Error(), changeWidth))
		}
	}
	shown.Close()
	if err != nil {
		fmt.Fprint(env.Stderr, skill.BrokenOff(ctx, w, err))
		return err
	}
	fmt.Fprintf(o.text(env), "%s: %s; the best is v%d in %s\n", loop.Name, ended.Text(o.count), w.Best, w.Dir)
	result.Ended, result.BestVersion = ended, w.Best
	return o.conclude(ctx, env, w, result)
}

// place is where the workspace of a skill is, or will be.
func (o *skillRunOptions) place(env Env, dir string) string {
	place := workspace.Beside(dir)
	if o.workspace != "" {
		place = env.Path(o.workspace)
	}
	if o.fresh {
		place = workspace.FreshDir(place)
	}
	return place
}

// skillWiring is who works on a skill and its cases.
type skillWiring struct {
	loop     *app.SkillSuite
	options  evalrun.Options
	versions string // a directory in which snapshots are unpacked
	improver agent.Agent
	command  string
}

// wire finds improver, executor and grader, and that they can do what the suite
// asks for, before a workspace is made.
func (o *skillRunOptions) wire(ctx context.Context, env Env, suited *evalrun.Skill, run string) (*skillWiring, error) {
	p := &program.Program{
		File: "iterate skill", Executor: o.executor, ExecutorCommand: o.executorCommand, AgentCommand: o.command, Model: o.model, Start: o.start,
		Judge: o.judge, JudgeModel: o.judgeModel, Env: o.env, Jobs: o.jobs, Network: o.network, Isolation: o.isolation,
	}
	named := "--agent"
	if o.executor != "" || o.executorCommand != "" {
		named = "--executor"
	}
	w := &skillWiring{versions: filepath.Join(run, "versions"), loop: &app.SkillSuite{
		Env: env, Program: p, Root: env.Dir, Agent: o.agent, Named: named, Dir: run, Keep: o.place(env, suited.Dir), Hidden: []string{suited.Dir},
		Tell: func(text string) { fmt.Fprintln(env.Stderr, text) },
	}}
	err := os.Mkdir(w.versions, 0o700)
	if err == nil {
		w.options, err = w.loop.Options(ctx)
	}
	if err != nil {
		return nil, err
	}
	w.options.Timeout, w.options.Setup = o.timeout, o.setup
	if err := w.options.Fit(suited); err != nil {
		return nil, err
	}
	quiet := env
	quiet.Stderr = io.Discard // isolation was spoken of, and the improver's is the same
	w.improver, w.command, err = o.improver(ctx, quiet, p, run)
	return w, err
}

// loop is the improvement in a workspace.
func (o *skillRunOptions) loop(ctx context.Context, env Env, w *workspace.Workspace, wiring *skillWiring) (*skill.Loop, *skill.SuiteEvals, error) {
	suited, err := versionsOf(env, w).Suite(ctx)
	if err != nil {
		return nil, nil, err
	}
	measuring := &skill.SuiteEvals{Workspace: w, Suited: suited, Options: wiring.options, Dir: wiring.versions}
	executor, err := app.SuiteExecutor(ctx, env, wiring.options)
	if err != nil {
		return nil, nil, err
	}
	executor.Server = strings.TrimSpace(o.setup + "\n" + o.start)
	homes := 0
	return &skill.Loop{
		Executor:  *executor,
		Workspace: w, Evals: measuring, Improver: wiring.improver, Model: o.model, Command: wiring.command, Name: suited.Name,
		Most: o.count, StopAfter: o.stopAfter, NoCaseRegression: o.noCaseRegression, Timeout: o.proposal, Now: env.Now,
		Home: func() (string, []string, error) {
			homes++
			home := filepath.Join(wiring.loop.Dir, fmt.Sprintf("home-%d", homes))
			environ, err := env.CommandEnviron(home, o.env)
			return home, environ, err
		},
	}, measuring, nil
}

// improver finds who changes the skill, and its command.
func (o *skillRunOptions) improver(ctx context.Context, env Env, p *program.Program, run string) (agent.Agent, string, error) {
	only := &program.Program{AgentCommand: p.AgentCommand}
	text := (&app.TaskSuite{Program: only, Root: env.Dir}).WorkerCommand()
	runner := env.NewRunner()
	var err error
	if runner.Isolation, err = app.Isolate(ctx, env, p, runner, run, nil, app.NamedFiles(env, text)); err != nil {
		return nil, "", err
	}
	found, err := app.NewRegistry(env, runner, process.NewMasker(env.Environ)).Ready(ctx, o.agent, agent.Situation{Env: env.Environ, Command: text, Dir: env.Dir})
	if err != nil && ctx.Err() == nil {
		err = misuse.New(err)
	}
	return found, text, err
}
