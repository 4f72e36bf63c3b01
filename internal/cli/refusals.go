package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path"
	"slices"

	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
	"github.com/org/autoloop/internal/suite/evalrun"
)

// refusals returns what asks why a program cannot run, so that the scheduler
// refuses what an iteration would. What depends on the machine that runs the
// iteration, such as an agent that is not installed, is recorded there. The
// repository may be nil: then what needs one is not asked.
func (a *App) refusals(ctx context.Context) func(*schedule.Standing) []program.Problem {
	var files []string
	if a.Repo != nil {
		files, _ = a.trackedFiles(ctx) // without a commit, nothing is known of files
	}
	return func(s *schedule.Standing) []program.Problem {
		p := s.Program
		found := a.refused(ctx, p, files, a.gated())
		if len(found) == 0 && s.Condition == schedule.Pending && s.Recorded() && !a.gated() {
			found = refusal(p, program.WaitsForCI)
		}
		return found
	}
}

func refusal(p *program.Program, why string) program.Problems {
	return program.Problems{{File: p.File, Severity: program.Error, Message: why}}
}

// gated reports whether CI's word can be had.
func (a *App) gated() bool { return a.GitHub != nil || a.InActions() }

// refused are the reasons for which no iteration of a program can begin, among these
// files, nil where they are not known: those of Refusals, else what only a look into the
// repository shows. Scheduler, validate and iterate ask this.
func (a *App) refused(ctx context.Context, p *program.Program, files []string, gated bool) program.Problems {
	known := a.Repo != nil && files != nil && !p.Unconfigured
	var suite error
	if known {
		suite = a.readSuite(ctx, p)
	}
	found := p.Refusals(files, gated)
	if !known || len(found.Certain()) > 0 {
		return found
	}
	if err := cmp.Or(a.unshared(ctx, p), suite, a.untuned(ctx, p, files)); err != nil {
		found = append(found, refusal(p, err.Error())...)
	}
	return found
}

// unshared says which path cannot be shared.
func (a *App) unshared(ctx context.Context, p *program.Program) error {
	for _, name := range p.Share {
		var refused *tree.ShareError
		if err := tree.Shareable(ctx, a.Repo, name); errors.As(err, &refused) {
			return refused
		}
	}
	return nil
}

// readSuite says why the suite of a program cannot be read, and protects what the cases of a
// skill are given.
func (a *App) readSuite(ctx context.Context, p *program.Program) (err error) {
	switch p.Evaluation {
	case program.Skill:
		var skill *evalrun.Skill
		if skill, err = evalrun.Load(a.Checkout, p.Skill, p.Evals); err == nil {
			var inputs []string
			for _, c := range skill.Evals.Cases {
				for _, file := range c.Files {
					inputs = append(inputs, path.Join(p.Skill, file.From))
				}
			}
			p.ProtectInputs(inputs)
		}
	case program.Tasks:
		dir := a.inCheckout(p.Tasks)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return misuse.Errorf("there is no directory %s, which `tasks` names: write its path from the root of the "+
				"repository", p.Tasks)
		}
		_, err = evalrun.LoadTasks(ctx, dir)
	case program.Metric:
	}
	if mistake, is := errors.AsType[*misuse.Error](err); is {
		return mistake
	}
	return nil // what else is wrong shows where it is measured
}

// untuned says that a program for the tuner has nothing to tune: that is a matter of
// its files, whatever the machine. An agent that was asked for by name replaces it.
func (a *App) untuned(ctx context.Context, p *program.Program, files []string) error {
	tunes := func(one program.Proposer) bool { return one.Agent == "tuner" }
	if a.Agent != "" || !slices.ContainsFunc(a.namedAgents(p), tunes) {
		return nil
	}
	_, err := a.registry(a.NewRunner()).Ready(ctx, "tuner", a.situation(p, files))
	return err
}
