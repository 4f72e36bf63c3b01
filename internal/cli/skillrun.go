package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/skill/workspace"
	"github.com/org/autoloop/internal/suite/evalrun"
)

// skillRunOptions are the flags of `iterate skill PATH`.
type skillRunOptions struct {
	suiteOptions

	executor, workspace, runs string
	count                     int
	fresh, yes                bool
}

func (o *skillRunOptions) register(flags *pflag.FlagSet) {
	o.suiteOptions.register(flags)
	flags.Lookup("agent").Usage = "who improves the skill, and works on the cases unless the settings say who\n" +
		"(default: --agent-command, else AUTOLOOP_AGENT, else models in Actions)"
	flags.StringVar(&o.executor, "executor-command", "", "the `command` that works on the cases")
	flags.StringVar(&o.workspace, "workspace", "", "the workspace `directory` (default: PATH-autoresearch)")
	flags.BoolVar(&o.fresh, "fresh", false, "begin a new workspace beside the one that is there")
	flags.BoolVarP(&o.yes, "yes", "y", false, "apply the best version at the end without asking")
	flags.IntVarP(&o.count, "iterations", "n", defaultIterations, "how many iterations to run at most")
	flags.StringVar(&o.runs, "runs", "1", "how often each side is measured before a change is kept: a number, or auto")
}

const defaultIterations = 5

// read returns the settings, and how often each side is measured.
func (o *skillRunOptions) read(env Env) (p *program.Program, repeats int, err error) {
	if o.count < 1 {
		return nil, 0, misuse.Errorf("-n %d: give at least one iteration", o.count)
	}
	if p, err = o.suiteOptions.read(env, program.Skill); err != nil {
		return nil, 0, err
	}
	if o.executor != "" {
		p.Executor, p.ExecutorCommand = "", o.executor
	}
	if !o.flags.Changed("runs") {
		if o.runs = strconv.Itoa(p.Runs); p.Runs == 0 {
			o.runs = "auto"
		}
	}
	repeats, err = skill.ParseRuns(o.runs)
	return p, repeats, err
}

// runSkill improves a skill in its workspace; the skill itself is only read.
func runSkill(ctx context.Context, env Env, dir string, o *skillRunOptions) error {
	p, repeats, err := o.read(env)
	if err != nil {
		return err
	}
	if w, err := workspace.OpenWorkspace(o.beside(env, env.Path(dir))); err == nil {
		if err := skill.FinishApply(ctx, w, env.Stderr); err != nil {
			return err
		}
	}
	suited, err := evalrun.Load(env.Path(dir), ".", "")
	if err != nil {
		return err
	}
	if p.Agent = chooseAgent(env, p); p.Agent == "" {
		return nobody(ctx, env, "who improves the skill")
	}
	run, remove, err := tree.NewRunDir(env.TempDir())
	if err != nil {
		return err
	}
	defer remove()
	wiring, err := o.wire(ctx, env, p, suited, run)
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
	shown := newProgress(env)
	tell := func(to io.Writer, line string) { shown.Between(func() { fmt.Fprintln(to, line) }) }
	measuring.Begin, loop.Improving = shown.Begin, func(iteration int, line string) {
		if line == "" {
			shown.Begin(fmt.Sprintf("iteration %d: the improver works", iteration))
		} else {
			shown.Say(line)
		}
	}
	measuring.Tell = func(line string) { tell(env.Stderr, line) }
	loop.Progress = func(row results.Row) { tell(o.text(env), result.add(row)) }
	ended, err := loop.Run(ctx)
	if err == nil {
		if err := measuring.Triggers(ctx); err != nil && ctx.Err() == nil {
			tell(env.Stderr, "warning: "+plain.Short(err.Error(), changeWidth))
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
	if o.fresh {
		return workspace.FreshDir(o.beside(env, dir))
	}
	return o.beside(env, dir)
}

// beside is where it is when no new one is asked for.
func (o *skillRunOptions) beside(env Env, dir string) string {
	if o.workspace != "" {
		return env.Path(o.workspace)
	}
	return workspace.Beside(dir)
}

// skillWiring is who works on a skill and its cases.
type skillWiring struct {
	*skillSuite

	options  evalrun.Options
	versions string // a directory in which snapshots are unpacked
	improver agent.Agent
	command  string
}

// wire finds improver, executor and grader, and that they can do what the suite
// asks for, before a workspace is made.
func (o *skillRunOptions) wire(ctx context.Context, env Env, p *program.Program, suited *evalrun.Skill,
	run string,
) (*skillWiring, error) {
	named := "--agent"
	if p.Executor != "" || p.ExecutorCommand != "" {
		named = "--executor-command"
	}
	w := &skillWiring{versions: filepath.Join(run, "versions"), skillSuite: &skillSuite{
		suiteSetup: suiteSetup{Env: env, Program: p, Root: env.Dir, Agent: p.Agent, Named: named, Tell: tellOn(env)},
		Dir:        run, Keep: o.place(env, suited.Dir), Hidden: []string{suited.Dir},
	}}
	err := os.Mkdir(w.versions, 0o700)
	if err == nil {
		w.options, err = w.Options(ctx)
	}
	if err != nil {
		return nil, err
	}
	w.options.Setup = p.Setup
	if err := w.options.Fit(suited); err != nil {
		return nil, err
	}
	w.Quiet = true // isolation was spoken of, and the improver's is the same
	w.improver, w.command, err = w.Improver(ctx, run)
	return w, err
}

// loop is the improvement in a workspace.
func (o *skillRunOptions) loop(ctx context.Context, env Env, w *workspace.Workspace, wiring *skillWiring) (*skill.Loop,
	*skill.SuiteEvals, error,
) {
	suited, err := versionsOf(env, w).Suite(ctx)
	if err != nil {
		return nil, nil, err
	}
	measuring := &skill.SuiteEvals{Workspace: w, Suited: suited, Options: wiring.options, Dir: wiring.versions}
	executor, err := wiring.ExecutedBy(ctx, wiring.options)
	if err != nil {
		return nil, nil, err
	}
	p := wiring.Program
	executor.Server = strings.TrimSpace(p.Setup + "\n" + p.Start)
	homes := 0
	return &skill.Loop{
		Executor:  *executor,
		Workspace: w, Evals: measuring, Improver: wiring.improver, Model: p.Model, Command: wiring.command,
		Name: suited.Name,
		Most: o.count, StopAfter: p.StopAfterReverts, NoCaseRegression: p.NoCaseRegression, Timeout: p.Timeout,
		Now: env.Now,
		Home: func() (string, []string, error) {
			homes++
			home := filepath.Join(wiring.Dir, fmt.Sprintf("home-%d", homes))
			environ, err := env.CommandEnviron(home, p.Env)
			return home, environ, err
		},
	}, measuring, nil
}

// skillResult is `iterate skill PATH --json`.
type skillResult struct {
	Schema      int         `json:"schema"`
	Name        string      `json:"name"`
	Ended       skill.Ended `json:"ended"`
	Workspace   string      `json:"workspace"`
	BestVersion int         `json:"best_version"`
	// Iterations are those of this run; the report has them all.
	Iterations []skillIteration `json:"iterations"`
	// Applied says that the skill is the best version at the end of this run.
	Applied bool               `json:"applied"`
	Report  render.SkillReport `json:"report"`
}

type skillIteration struct {
	Iteration int            `json:"iteration"`
	Score     *metric.Value  `json:"score"` // null when nothing was measured
	Action    results.Action `json:"action"`
	Changelog string         `json:"changelog"`
}

// changeWidth bounds what is said of a change and of what became of it.
const changeWidth = 300

// add takes an iteration that ended, and returns a line about it.
func (r *skillResult) add(row results.Row) string {
	r.Iterations = append(r.Iterations, skillIteration{row.Iteration, row.Score, row.Action, row.Changelog})
	value := "not measured"
	if row.Score != nil {
		value = render.Figure(row.Score)
	}
	return fmt.Sprintf("iteration %d: %s, %s: %s", row.Iteration, row.Action, value,
		render.Rounded(plain.Short(row.Changelog, changeWidth))[0])
}

// text is where a run says what it does.
func (o *skillRunOptions) text(env Env) io.Writer {
	if o.json {
		return env.Stderr
	}
	return env.Stdout
}

// conclude shows the report, asks whether the best version is to be applied,
// and prints the result.
func (o *skillRunOptions) conclude(ctx context.Context, env Env, w *workspace.Workspace, result skillResult) error {
	speaking := env
	speaking.Stdout = o.text(env)
	versions := versionsOf(speaking, w)
	var err error
	if result.Applied, err = versions.Offer(ctx, o.yes); err != nil || !o.json {
		return err
	}
	if result.Report, _, err = versions.Report(ctx, skill.BestVersion); err != nil {
		return err
	}
	return printJSON(env, result)
}
