package cli

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/suite/evals"
)

// MeasureBySuite makes a service measure by the suite of its program, if it has
// one. What it returns cleans up.
func (d *dependencies) MeasureBySuite(ctx context.Context, service *loop.Service) (closing func(), err error) {
	p := service.Program
	tell := func(text string) {
		service.Progress(loop.Step{Program: p.Name, Name: "measure", Detail: text, Minor: true})
	}
	switch p.Evaluation {
	case program.Tasks:
		suite := &taskSuite{suiteSetup: suiteSetup{
			Env: d.Env, Program: p, Root: service.Repo.Root,
			Named: p.File + ": executor", Agent: service.Agent.Name(), Model: service.Model, Tell: tell,
		}}
		service.Suite, service.Executor = suite, suite.ExecutedBy(ctx, service.RunDir)
	case program.Skill:
		return d.evaluateSkill(ctx, service, tell)
	case program.Metric:
	}
	return func() {}, nil
}

// evaluateSkill makes a service measure by the eval suite of the program's skill.
// What it returns cleans up.
func (d *dependencies) evaluateSkill(ctx context.Context, service *loop.Service, tell func(string)) (closing func(),
	err error,
) {
	dir, closing, err := tree.NewRunDir(d.Env.TempDir())
	if err != nil {
		return nil, err
	}
	p, repo := service.Program, service.Repo
	l := &skillSuite{Dir: dir, suiteSetup: suiteSetup{
		Env: d.Env, Quiet: true, Program: p, Root: repo.Root, Named: p.File + ": executor", Agent: service.Agent.Name(),
		Model: service.Model, Tell: tell,
	}}
	l.Hidden = []string{repo.CommonDir, repo.GitDir, service.RunDir}
	for _, name := range []string{path.Join(p.Skill, evals.Dir), p.Evals} {
		l.Hidden = append(l.Hidden, filepath.Join(repo.Root, filepath.FromSlash(name)))
	}
	if l.Keep, err = d.skillKeep(p); err == nil {
		err = l.measureFor(ctx, service)
	}
	if err != nil {
		closing()
		return nil, err
	}
	return closing, nil
}

// keptRuns is how many runs of a program are kept with their outputs.
const keptRuns = 20

// skillKeep makes the directory in which a run keeps its evaluations, after the
// oldest of those that are too many were removed.
func (d *dependencies) skillKeep(p *program.Program) (string, error) {
	output, err := d.Env.OutputDir(d.Options.Dir)
	if err != nil {
		return "", err
	}
	above := filepath.Join(output, "skills", p.Name)
	dir := filepath.Join(above, d.Env.NewRunID())
	if err := files.MakeTrusted(dir, 0o700); err != nil {
		return "", fmt.Errorf("keep what evaluations leave: %w", err)
	}
	runs, err := os.ReadDir(above) // sorted, and their names begin with the time
	if err != nil {
		return "", fmt.Errorf("keep what evaluations leave: %w", err)
	}
	runs = slices.DeleteFunc(runs, func(e os.DirEntry) bool { return !e.IsDir() || !isRunID(e.Name()) })
	for _, old := range runs[:max(0, len(runs)-keptRuns)] {
		if err := tree.RemoveAll(filepath.Join(above, old.Name())); err != nil {
			return "", fmt.Errorf("remove an old run: %w", err)
		}
	}
	return dir, nil
}
