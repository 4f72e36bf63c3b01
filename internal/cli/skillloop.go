package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/skill/evalrun"
	"github.com/org/autoloop/internal/skill/evals"
	"github.com/org/autoloop/internal/tasks/sandbox"
	"github.com/org/autoloop/internal/tasks/taskrun"
)

// skillLoop wires the evaluation of a skill, alone or inside a program's loop.
type skillLoop struct {
	env     Env
	program *program.Program
	// root is where the files that the executor's command names are looked for.
	root string
	// agent works on the cases unless the program says who. model is its own; ""
	// is the program's.
	agent, model string
	// named is what names the executor, for messages.
	named string
	// dir is where this evaluation works, keep where what it leaves is kept, and
	// hidden is what executors do not see: suites, and trees that have them.
	dir, keep string
	hidden    []string
	// heard says that isolation was spoken of already.
	heard bool
	tell  func(string)
}

// evaluateSkill makes a service measure by the eval suite of the program's skill.
// What it returns cleans up.
func evaluateSkill(ctx context.Context, env Env, o iterateOptions, service *loop.Service, tell func(string)) (closing func(), err error) {
	dir, closing, err := tree.NewRunDir(env.TempDir())
	if err != nil {
		return nil, err
	}
	p, repo := service.Program, service.Repo
	l := &skillLoop{env: env, program: p, root: repo.Root, named: p.File + ": executor", agent: service.Agent.Name(), model: service.Model, dir: dir, heard: true, tell: tell}
	l.hidden = []string{repo.CommonDir, repo.GitDir, service.RunDir}
	for _, name := range []string{path.Join(p.Skill, evals.Dir), p.Evals} {
		l.hidden = append(l.hidden, filepath.Join(repo.Root, filepath.FromSlash(name)))
	}
	if l.keep, err = skillKeep(env, o, service.Program); err == nil {
		err = l.measureFor(ctx, service)
	}
	if err != nil {
		closing()
		return nil, err
	}
	return closing, nil
}

// measureFor lets a service measure trees of the repository, and say who does.
func (l *skillLoop) measureFor(ctx context.Context, service *loop.Service) error {
	options, err := l.options(ctx)
	if err != nil {
		return err
	}
	service.Eval = &evalrun.Evaluator{
		Options: options, Skill: l.program.Skill, Evals: l.program.Evals, Keep: l.keep,
		Shell: &evaluation.Evaluator{Runner: options.Sandboxes.Runner, Masker: options.Masker},
	}
	service.Executor, err = executorOf(ctx, l.env, options)
	return err
}

// options builds all that an evaluation works with.
func (l *skillLoop) options(ctx context.Context) (evalrun.Options, error) {
	p, env := l.program, l.env
	masker := process.NewMasker(env.Environ)
	executor := &taskLoop{env: env, program: p, root: l.root, agent: l.agent, model: l.model}
	text := executor.command()
	runner, err := l.runner(ctx, text)
	if err != nil {
		return evalrun.Options{}, err
	}
	worker, err := l.executor(ctx, taskrun.AgentOf(executor.executor()), text, runner, masker)
	if err != nil {
		return evalrun.Options{}, err
	}
	setting := tasksOptions{judge: p.Judge, judgeModel: p.JudgeModel}
	grader, none, err := setting.chooseJudge(env, &tasksPlace{run: l.dir}, masker)
	if err != nil {
		return evalrun.Options{}, err
	}
	o := evalrun.Options{
		Agent: worker, Model: executor.executorModel(), Command: text, Env: p.Env, Jobs: p.Jobs, NoGrader: none, Masker: masker, Now: env.Now, Start: p.Start,
		Sandboxes: &sandbox.Maker{Runner: runner, Masker: masker, Environ: l.environ, Offline: !p.Network, Remove: tree.RemoveAll},
		RunDir:    filepath.Join(l.dir, "cases"), Progress: l.progress,
	}
	if grader != nil {
		o.Grader = grader
	}
	return o, nil
}

func (l *skillLoop) environ(home string, names []string) ([]string, error) {
	if err := os.MkdirAll(filepath.Join(home, "tmp"), 0o700); err != nil {
		return nil, err
	}
	return process.Environment(l.env.Environ, home, names), nil
}

func (l *skillLoop) progress(done, total int, c evals.CaseScore) {
	if l.tell == nil {
		return
	}
	l.tell(caseLine(done, total, c))
}

// caseLine says what a case came to.
func caseLine(done, total int, c evals.CaseScore) string {
	text := fmt.Sprintf("%d of %d cases: %s passed %d of %d", done, total, c.ID, c.Passed, c.Total)
	if c.Problem != "" {
		text += ": " + plain.Short(c.Problem, changeWidth)
	}
	return text
}

// runner isolates executors: they see neither the suite nor what is kept.
func (l *skillLoop) runner(ctx context.Context, text string) (*process.Runner, error) {
	runner, env := l.env.NewRunner(), l.env
	if l.heard {
		env.Stderr = io.Discard
	}
	var err error
	runner.Isolation, err = app.Isolate(ctx, env, l.program, runner, l.dir, append(l.hidden, l.keep), append(app.NamedFiles(l.env, text), app.NamedFiles(l.env, l.program.Start)...))
	return runner, err
}

// executor finds who works on the cases.
func (l *skillLoop) executor(ctx context.Context, name, text string, runner *process.Runner, masker process.Masker) (agent.Agent, error) {
	if name == (agent.Tuner{}).Name() {
		return nil, misuse.Errorf("%s: the tuner works on no eval case; name who does with `executor`", l.named)
	}
	found, err := app.NewRegistry(l.env, runner, masker).Ready(ctx, name, agent.Situation{Env: l.env.Environ, Command: text, Dir: l.root})
	if err != nil && ctx.Err() == nil {
		return nil, misuse.Errorf("%s: %w", l.named, err)
	}
	return found, err
}

// keptRuns is how many runs of a program are kept with their outputs.
const keptRuns = 20

// skillKeep makes the directory in which a run keeps its evaluations, after the
// oldest of those that are too many were removed.
func skillKeep(env Env, o iterateOptions, p *program.Program) (string, error) {
	output, err := env.OutputDir(o.Dir)
	if err != nil {
		return "", err
	}
	above := filepath.Join(output, "skills", p.Name)
	dir := filepath.Join(above, env.NewRunID())
	if err := files.MakeTrusted(dir, 0o700); err != nil {
		return "", fmt.Errorf("keep what evaluations leave: %w", err)
	}
	runs, err := os.ReadDir(above) // sorted, and their names begin with the time
	if err != nil {
		return "", fmt.Errorf("keep what evaluations leave: %w", err)
	}
	runs = slices.DeleteFunc(runs, func(e os.DirEntry) bool { return !e.IsDir() || !app.IsRunID(e.Name()) })
	for _, old := range runs[:max(0, len(runs)-keptRuns)] {
		if err := tree.RemoveAll(filepath.Join(above, old.Name())); err != nil {
			return "", fmt.Errorf("remove an old run: %w", err)
		}
	}
	return dir, nil
}
