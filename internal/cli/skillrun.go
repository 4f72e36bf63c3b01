package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/suite/evalrun"
)

// skillRunOptions are the flags of `iterate skill PATH`.
type skillRunOptions struct {
	executor, workspace string
	count               int
	fresh               bool
}

func (a *App) skillFlags(cmd *cobra.Command, o *skillRunOptions) {
	flags := cmd.Flags()
	a.suiteFlags(cmd)
	flags.Lookup("agent").Usage = "who improves the skill, and works on the cases unless the settings say who\n" +
		"(default: --agent-command, else AUTOLOOP_AGENT, else models in Actions)"
	flags.StringVar(&o.executor, "executor-command", "", "the `command` that works on the cases")
	flags.StringVar(&o.workspace, "workspace", "", "the workspace `directory` (default: PATH-autoresearch)")
	flags.BoolVar(&o.fresh, "fresh", false, "begin a new workspace beside the one that is there")
	a.yesFlag(cmd, "apply the best version at the end without asking")
	flags.IntVarP(&o.count, "iterations", "n", 5, "how many iterations to run at most")
	flags.String("runs", "1", "how often each side is measured before a change is kept: a number, or auto")
}

// runSkill improves a skill in its workspace; the skill itself is only read, until the best
// version is to be applied.
func (a *App) runSkill(ctx context.Context, dir string, p *program.Program, o *skillRunOptions) (*skillResult,
	error,
) {
	if o.count < 1 {
		return nil, misuse.Errorf("-n %d: give at least one iteration", o.count)
	}
	if o.executor != "" {
		p.Executor, p.ExecutorCommand = "", o.executor
	}
	dir = a.Path(dir)
	place := skill.WorkspaceBeside(dir)
	if o.workspace != "" {
		place = a.Path(o.workspace)
	}
	if o.fresh {
		place = skill.FreshDir(place)
	}
	suite, err := evalrun.Load(dir, ".", "")
	if err != nil {
		return nil, err
	}
	if p.Agent = a.chooseAgent(p); p.Agent == "" {
		return nil, nobody("who improves the skill")
	}
	loop, err := a.newSkillLoop(ctx, p, suite, place)
	if err != nil {
		return nil, err
	}
	w, err := skill.OpenOrCreate(ctx, place, dir, a.Stderr)
	if err != nil {
		return nil, err
	}
	release, err := w.Hold()
	if err != nil {
		return nil, err
	}
	defer release()
	versions := a.versionsOf(w)
	if err := versions.WarnOfChange(ctx); err != nil {
		return nil, err
	}
	if loop.Suite, err = versions.Suite(ctx); err != nil {
		return nil, err
	}
	name := loop.Suite.Name
	loop.Workspace, loop.Most = w, o.count
	if kept := skill.Kept(w, o.count); kept != "" {
		fmt.Fprintf(a.Stdout, "%s: going on: %s\n", name, kept)
	}
	result := &skillResult{Schema: 1, Name: name, Workspace: w.Dir, Iterations: []results.Row{}}
	if err := a.improve(ctx, loop, result); err != nil {
		if kept := skill.Kept(w, o.count); kept != "" {
			fmt.Fprintf(a.Stderr, "%s; the same command goes on from there\n", kept)
		}
		return nil, err
	}
	result.BestVersion = w.Best
	ended := string(result.Ended)
	if result.Ended == skill.Exhausted {
		ended = render.Count(o.count, "iteration") + " done"
	}
	fmt.Fprintf(a.Stdout, "%s: %s; the best is v%d in %s\n", name, ended, w.Best, w.Dir)
	if result.Applied, err = versions.Offer(ctx, a.Yes); err == nil && a.JSON {
		result.Report, _, err = versions.Report(ctx, skill.BestVersion)
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

// improve runs the loop, and shows what goes on.
func (a *App) improve(ctx context.Context, loop *skill.Loop, result *skillResult) (err error) {
	shown := newProgress(a.Env)
	defer shown.Close()
	tell := func(to io.Writer, line string) { shown.Between(func() { fmt.Fprintln(to, line) }) }
	loop.Begin, loop.Say = shown.Begin, shown.Say
	loop.Tell = func(line string) { tell(a.Stderr, line) }
	loop.Progress = func(row results.Row) {
		result.Iterations = append(result.Iterations, row)
		value := "not measured"
		if row.Score != nil {
			value = render.Figure(row.Score)
		}
		tell(a.Stdout, fmt.Sprintf("iteration %d: %s, %s: %s", row.Iteration, row.Action, value,
			render.Rounded(plain.Short(row.Changelog, changeWidth))[0]))
	}
	if result.Ended, err = loop.Run(ctx); err != nil {
		return err
	}
	if err := loop.Triggers(ctx); err != nil && ctx.Err() == nil {
		tell(a.Stderr, "warning: "+plain.Short(err.Error(), changeWidth))
	}
	return nil
}

// newSkillLoop finds improver, executor and grader, and that they can do what the suite
// asks for, before there is a workspace.
func (a *App) newSkillLoop(ctx context.Context, p *program.Program, suite *evalrun.Skill, place string) (*skill.Loop,
	error,
) {
	dir, err := a.newRunDir(a.TempDir())
	if err != nil {
		return nil, err
	}
	setup := a.suiteSetup(p, a.Dir, p.Agent, "")
	options, err := setup.evals(ctx, dir, place, suite.Dir)
	fmt.Fprint(a.Stderr, setup.notes)
	if err != nil {
		return nil, err
	}
	options.Setup = p.Setup
	if err := options.Fit(suite); err != nil {
		return nil, err
	}
	command := setup.absolute(p.AgentCommand)
	runner, _, err := setup.isolated(ctx, dir, nil, command) // which was spoken of
	if err != nil {
		return nil, err
	}
	improver, err := a.ready(ctx, runner, p.Agent,
		agent.Request{Command: command, Dir: a.Dir})
	if err != nil {
		return nil, err
	}
	executor, err := setup.describe(ctx, options.Agent, options.Grader)
	if err != nil {
		return nil, err
	}
	executor.Server = strings.TrimSpace(p.Setup + "\n" + p.Start)
	versions := filepath.Join(dir, "versions") // whoever works in the directory of a run holds the lock of that
	return &skill.Loop{
		Evaluate: evalrun.Run, Options: options, Dir: versions, Executor: *executor, Improver: improver, Program: p,
		Command: command, Now: a.Now,
		Home: func() (string, []string, error) {
			home, err := os.MkdirTemp(dir, "home-")
			if err != nil {
				return "", nil, err
			}
			environ, err := a.CommandEnviron(home, p.Env)
			return home, environ, err
		},
	}, os.Mkdir(versions, 0o700)
}

// skillResult is `iterate skill PATH --json`.
type skillResult struct {
	Schema      int         `json:"schema"`
	Name        string      `json:"name"`
	Ended       skill.Ended `json:"ended"`
	Workspace   string      `json:"workspace"`
	BestVersion int         `json:"best_version"`
	// Iterations are those of this run; the report has them all.
	Iterations []results.Row `json:"iterations"`
	// Applied says that the skill is the best version at the end of this run.
	Applied bool               `json:"applied"`
	Report  render.SkillReport `json:"report"`
}

// changeWidth bounds what is said of a change and of what became of it.
const changeWidth = 300
