package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
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
	repeats, err := o.repeats()
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
	w, err := o.open(ctx, env, env.Path(dir))
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
	if err := o.sayWhereItGoesOn(env, w, loop.Name); err != nil {
		return err
	}
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
		sayWhatIsKept(ctx, env, w, err)
		return err
	}
	fmt.Fprintf(o.text(env), "%s: %s; the best is v%d in %s\n", loop.Name, endedText(ended, o.count), w.Best, w.Dir)
	result.Ended, result.BestVersion = ended, w.Best
	return o.conclude(ctx, env, w, result)
}

// endedText says why a run of so many iterations ended.
func endedText(ended skill.Ended, count int) string {
	if ended == skill.Exhausted {
		return render.Count(count, "iteration", "iterations") + " done"
	}
	return string(ended)
}

// sayWhatIsKept says how to go on after an interrupt, or when somebody who was
// needed gave no answer.
func sayWhatIsKept(ctx context.Context, env Env, w *workspace.Workspace, cause error) {
	what := "interrupted"
	if ctx.Err() == nil {
		var silent *evalrun.NoAnswerError
		if what = "broken off"; !errors.As(cause, &silent) {
			return
		}
	}
	table, err := w.Results()
	if err != nil {
		return
	}
	kept := "nothing was measured yet"
	if best, last := standing(table.Rows()); len(table.Rows()) > 0 {
		kept = fmt.Sprintf("iterations 0 to %d and v%d, the best, are kept", last, best)
	}
	fmt.Fprintf(env.Stderr, "%s: %s in %s; the same command goes on from there\n", what, kept, w.Dir)
}

// standing is the best version of a table and its last iteration.
func standing(rows []results.Row) (best, last int) {
	for _, row := range rows {
		last = max(last, row.Iteration)
		if row.Action != results.Reverted {
			best = row.Iteration
		}
	}
	return best, last
}

// sayWhereItGoesOn says what an earlier run left.
func (o *skillRunOptions) sayWhereItGoesOn(env Env, w *workspace.Workspace, name string) error {
	table, err := w.Results()
	if err != nil || len(table.Rows()) == 0 {
		return err
	}
	best, last := standing(table.Rows())
	left := ""
	if w.Run.Resumes(o.count) {
		done, _ := w.Run.Done(table.Rows())
		left = fmt.Sprintf("; it finishes the run that was interrupted, %d of %d are left", o.count-done, o.count)
	}
	_, err = fmt.Fprintf(o.text(env), "%s: going on from v%d, iteration %d%s\n", name, best, last+1, left)
	return err
}

// repeats reads --runs: 0 is auto.
func (o *skillRunOptions) repeats() (int, error) {
	if strings.EqualFold(o.runs, "auto") {
		return 0, nil
	}
	const most = 1000
	needed := statistics.RunsNeeded(skill.Confidence)
	runs, err := strconv.Atoi(o.runs)
	if err != nil || runs < 1 || runs > most || runs > 1 && runs < needed {
		return 0, misuse.Errorf("--runs %q: give `auto`, 1 for a plain comparison, or a number from %d to %d (fewer can never reach a confidence of %g)",
			o.runs, needed, most, skill.Confidence)
	}
	return runs, nil
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

// open continues the workspace, or makes it.
func (o *skillRunOptions) open(ctx context.Context, env Env, dir string) (*workspace.Workspace, error) {
	place := o.place(env, dir)
	if _, err := os.Lstat(filepath.Join(place, "manifest.json")); errors.Is(err, fs.ErrNotExist) && !workspace.Foreign(place) {
		return workspace.Create(ctx, place, dir)
	}
	w, err := skill.Open(ctx, place, env.Stderr)
	if err != nil {
		return nil, err
	}
	return w, ofThisSkill(w, dir)
}

// ofThisSkill refuses the workspace of another skill. One whose skill is not
// where it was is taken for this one's.
func ofThisSkill(w *workspace.Workspace, dir string) error {
	here, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	there, err := filepath.EvalSymlinks(w.Skill)
	if err == nil && there != here {
		return misuse.Errorf("%s is the workspace of %s, not of %s: name another with --workspace", w.Dir, there, here)
	}
	w.Skill = here
	return nil
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
