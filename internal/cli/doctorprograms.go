package cli

import (
	"context"
	"fmt"

	"github.com/org/autoloop/internal/doctor"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/iterate"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/store"
	"github.com/org/autoloop/internal/tree"
)

// inspectPrograms runs the evaluation of every program file twice.
func inspectPrograms(ctx context.Context, env Env, o iterateOptions, repo *git.Repo) ([]doctor.Finding, error) {
	all, err := store.Programs{Root: repo.Root, Dir: o.programs, Parse: program.Parse}.Load(true)
	if err != nil {
		return nil, err
	}
	var findings []doctor.Finding
	for _, p := range all {
		o.program = p.Name
		finding := doctor.Finding{Level: doctor.OK, Subject: "program " + p.Name}
		if found, err := repeatEvaluation(ctx, env, o, repo); err != nil {
			finding.Level, finding.Message, finding.Fix = doctor.Problem, err.Error(), "mend the program, or look closer with `iterate doctor --evaluation "+p.Name+"`"
		} else {
			finding.Message = describeRepeat(found)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		findings = append(findings, finding)
	}
	return findings, nil
}

// repeatEvaluation runs a program's evaluation twice; nil when a model takes
// part in it. An evaluation that cannot be used is an error.
func repeatEvaluation(ctx context.Context, env Env, o iterateOptions, repo *git.Repo) (*iterate.Inspection, error) {
	p, _, err := chooseProgram(ctx, env, repo, nil, o)
	if err != nil || p.Evaluation != program.Metric {
		return nil, err
	}
	runDir, err := newRunDir()
	if err != nil {
		return nil, err
	}
	defer func() { _ = tree.RemoveAll(runDir) }()
	repo = repo.WithTemp(runDir)
	runner, err := newRunner(ctx, env, repo, p, runDir)
	if err != nil {
		return nil, err
	}
	found, err := newIterateService(env, o, repo, p, runner, runDir).Repeat(ctx)
	if err == nil && found.Problem != "" {
		err = fmt.Errorf("the evaluation cannot be used: %s", found.Problem)
	}
	return &found, err
}

func describeRepeat(found *iterate.Inspection) string {
	switch {
	case found == nil:
		return "not run: a model takes part in its evaluation"
	case found.Noisy:
		return fmt.Sprintf("the evaluation runs and is noisy: %v", found.Samples)
	default:
		return fmt.Sprintf("the evaluation runs and repeats itself: %s", found.Median)
	}
}
