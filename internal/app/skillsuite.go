package app

import (
	"context"
	"io"
	"path/filepath"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/skill/evalrun"
	"github.com/org/autoloop/internal/skill/evals"
	"github.com/org/autoloop/internal/tasks/sandbox"
	"github.com/org/autoloop/internal/tasks/taskrun"
)

// SkillSuite wires the evaluation of a skill, alone or inside a program's loop.
type SkillSuite struct {
	Env     Env
	Program *program.Program
	// Root is where the files that the executor's command names are looked for.
	Root string
	// Agent works on the cases unless the program says who. Model is its own; ""
	// is the program's.
	Agent, Model string
	// Named is what names the executor, for messages.
	Named string
	// Dir is where this evaluation works, Keep where what it leaves is kept, and
	// Hidden is what executors do not see: suites, and trees that have them.
	Dir, Keep string
	Hidden    []string
	// Quiet says that isolation was spoken of already.
	Quiet bool
	Tell  func(string)
}

// measureFor lets a service measure trees of the repository, and say who does.
func (l *SkillSuite) measureFor(ctx context.Context, service *loop.Service) error {
	options, err := l.Options(ctx)
	if err != nil {
		return err
	}
	service.Eval = &evalrun.Evaluator{
		Options: options, Skill: l.Program.Skill, Evals: l.Program.Evals, Keep: l.Keep,
		Shell: &evaluation.Evaluator{Runner: options.Sandboxes.Runner, Masker: options.Masker},
	}
	service.Executor, err = SuiteExecutor(ctx, l.Env, options)
	return err
}

// Options builds all that an evaluation works with.
func (l *SkillSuite) Options(ctx context.Context) (evalrun.Options, error) {
	p, env := l.Program, l.Env
	masker := process.NewMasker(env.Environ)
	executor := &TaskSuite{Env: env, Program: p, Root: l.Root, Agent: l.Agent, Model: l.Model}
	text := executor.WorkerCommand()
	runner, err := l.runner(ctx, text)
	if err != nil {
		return evalrun.Options{}, err
	}
	worker, err := l.executor(ctx, taskrun.AgentOf(executor.executor()), text, runner, masker)
	if err != nil {
		return evalrun.Options{}, err
	}
	setting := TaskRun{Judge: p.Judge, JudgeModel: p.JudgeModel}
	grader, none, err := setting.chooseJudge(env, &TaskPlace{run: l.Dir}, masker)
	if err != nil {
		return evalrun.Options{}, err
	}
	o := evalrun.Options{
		Agent: worker, Model: executor.executorModel(), Command: text, Env: p.Env, Jobs: p.Jobs, NoGrader: none, Masker: masker, Now: env.Now, Start: p.Start,
		Sandboxes: &sandbox.Maker{Runner: runner, Masker: masker, Environ: env.CommandEnviron, Offline: !p.Network, Remove: tree.RemoveAll},
		RunDir:    filepath.Join(l.Dir, "cases"), Progress: l.progress,
	}
	if grader != nil {
		o.Grader = grader
	}
	return o, nil
}

func (l *SkillSuite) progress(done, total int, c evals.CaseScore) {
	if l.Tell == nil {
		return
	}
	l.Tell(c.Line(done, total))
}

// runner isolates executors: they see neither the suite nor what is kept.
func (l *SkillSuite) runner(ctx context.Context, text string) (*process.Runner, error) {
	runner, env := l.Env.NewRunner(), l.Env
	if l.Quiet {
		env.Stderr = io.Discard
	}
	var err error
	runner.Isolation, err = Isolate(ctx, env, l.Program, runner, l.Dir, append(l.Hidden, l.Keep), append(NamedFiles(l.Env, text), NamedFiles(l.Env, l.Program.Start)...))
	return runner, err
}

// executor finds who works on the cases.
func (l *SkillSuite) executor(ctx context.Context, name, text string, runner *process.Runner, masker process.Masker) (agent.Agent, error) {
	if name == (agent.Tuner{}).Name() {
		return nil, misuse.Errorf("%s: the tuner works on no eval case; name who does with `executor`", l.Named)
	}
	found, err := NewRegistry(l.Env, runner, masker).Ready(ctx, name, agent.Situation{Env: l.Env.Environ, Command: text, Dir: l.Root})
	if err != nil && ctx.Err() == nil {
		return nil, misuse.Errorf("%s: %w", l.Named, err)
	}
	return found, err
}

// SuiteExecutor describes who works on the cases, and who grades them.
func SuiteExecutor(ctx context.Context, env Env, o evalrun.Options) (*history.Executor, error) {
	if o.Grader == nil {
		return Executor(ctx, env, o.Agent, o.Model, o.Command, nil)
	}
	return Executor(ctx, env, o.Agent, o.Model, o.Command, o.Grader)
}
