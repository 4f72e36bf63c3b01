package cli

import (
	"context"
	"path/filepath"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/evals"
)

// skillSuite wires the evaluation of a skill, alone or inside a program's loop.
type skillSuite struct {
	suiteSetup

	// Dir is where this evaluation works, Keep where what it leaves is kept, and
	// Hidden is what executors do not see: suites, and trees that have them.
	Dir, Keep string
	Hidden    []string
}

// measureFor lets a service measure trees of the repository, and say who does.
func (l *skillSuite) measureFor(ctx context.Context, service *loop.Service) error {
	options, err := l.Options(ctx)
	if err != nil {
		return err
	}
	service.Eval = &evalrun.Evaluator{
		Options: options, Skill: l.Program.Skill, Evals: l.Program.Evals, Keep: l.Keep,
		Shell: &evaluation.Evaluator{Runner: options.Sandboxes.Runner, Masker: options.Masker},
	}
	service.Executor, err = l.ExecutedBy(ctx, options)
	return err
}

// Options builds all that an evaluation works with.
func (l *skillSuite) Options(ctx context.Context) (evalrun.Options, error) {
	p, env, command := l.Program, l.Env, l.Command()
	masker := process.NewMasker(env.Environ)
	runner, err := l.isolated(ctx, l.Dir, append(l.Hidden, l.Keep), command, p.Start)
	if err != nil {
		return evalrun.Options{}, err
	}
	worker, err := l.ready(ctx, l.executor(), command, runner, masker)
	if err != nil {
		return evalrun.Options{}, err
	}
	grader, none, err := l.judge(l.Dir, masker)
	if err != nil {
		return evalrun.Options{}, err
	}
	o := evalrun.Options{
		Agent: worker, Model: l.model(), Command: command, Env: p.Env, Jobs: p.Jobs, Timeout: p.EvaluationTimeout,
		Grader: grader, NoGrader: none, Masker: masker, Now: env.Now, Start: p.Start,
		Sandboxes: l.sandboxes(runner, masker), RunDir: filepath.Join(l.Dir, "cases"), Progress: l.progress,
	}
	return o, nil
}

func (l *skillSuite) progress(done, total int, c evals.CaseScore) {
	if l.Tell != nil {
		l.Tell(c.Line(done, total))
	}
}

// ExecutedBy describes who works on the cases, and who grades them.
func (l *skillSuite) ExecutedBy(ctx context.Context, o evalrun.Options) (*history.Executor, error) {
	return l.describe(ctx, o.Agent, o.Grader)
}
