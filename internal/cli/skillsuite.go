package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render/live"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/evalrun"
)

// measureBySuite makes a service measure by the suite of its program, if it has one.
func (a *App) measureBySuite(ctx context.Context, service *loop.Service) error {
	p := service.Program
	setup := a.suiteSetup(p, a.Checkout, service.Agents[0].Name(), service.Agents[0].Model)
	setup.tell = func(text string) {
		service.Progress(live.Status{Program: p.Name, Stage: "measure", Detail: text, Since: a.Now(), Minor: true})
	}
	switch p.Evaluation {
	case program.Tasks:
		suite := &taskSuite{suiteSetup: setup}
		service.Suite, service.Executor = suite, suite.executedBy(ctx, service.RunDir)
	case program.Skill:
		return a.measureBySkill(ctx, service, setup)
	case program.Metric:
	}
	return nil
}

// measureBySkill makes a service measure trees of the repository by the eval suite of the
// program's skill, which executors do not see, and say who does.
func (a *App) measureBySkill(ctx context.Context, service *loop.Service, setup suiteSetup) error {
	dir, err := a.newRunDir(a.TempDir())
	if err != nil {
		return err
	}
	p := service.Program
	keep, err := a.skillKeep(p)
	if err != nil {
		return err
	}
	options, err := setup.evals(ctx, dir, keep, a.Repo.CommonDir, a.Repo.GitDir, service.RunDir,
		a.inCheckout(path.Join(p.Skill, suite.EvalsDir)), a.inCheckout(p.Evals))
	if err != nil {
		return err
	}
	service.Eval = &evalrun.Evaluator{
		Options: options, Skill: p.Skill, Evals: p.Evals, Keep: keep,
		Shell: &evaluation.Evaluator{Runner: setup.commands, Masker: options.Masker},
	}
	service.Executor, err = setup.describe(ctx, options.Agent, options.Grader)
	return err
}

func (a *App) inCheckout(name string) string {
	return filepath.Join(a.Checkout, name)
}

// evals builds all that an evaluation of a skill works with in a directory. What it leaves is
// in keep, which executors see as little as what is hidden.
func (s *suiteSetup) evals(ctx context.Context, dir, keep string, hidden ...string) (o evalrun.Options, err error) {
	o = evalrun.Options{Timeout: s.program.EvaluationTimeout, Start: s.program.Start}
	if o.Runner, err = s.runner(ctx, dir, append(hidden, keep)...); err == nil {
		o.Agent, err = s.worker(ctx, s.executor, s.commands)
	}
	return o, err
}

// keptRuns is how many runs of a program are kept with their outputs.
const keptRuns = 20

// skillKeep makes the directory in which a run keeps its evaluations, after the
// oldest of those that are too many were removed.
func (a *App) skillKeep(p *program.Program) (string, error) {
	output, err := a.outputDir()
	if err != nil {
		return "", err
	}
	above := filepath.Join(output, "skills", p.Name)
	dir := filepath.Join(above, a.NewRunID())
	err = files.MakeTrusted(dir, 0o700)
	var runs []os.DirEntry // sorted, and their names begin with the time
	if err == nil {
		runs, err = os.ReadDir(above)
	}
	runs = slices.DeleteFunc(runs, func(e os.DirEntry) bool { return !e.IsDir() || !runID().MatchString(e.Name()) })
	for _, old := range runs[:max(0, len(runs)-keptRuns)] {
		err = errors.Join(err, files.RemoveAll(filepath.Join(above, old.Name())))
	}
	if err != nil {
		return "", fmt.Errorf("keep what evaluations leave: %w", err)
	}
	return dir, nil
}
