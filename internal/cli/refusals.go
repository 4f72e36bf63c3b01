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
		found := a.refused(ctx, p, files)
		if len(found) == 0 && s.Condition == schedule.Pending && s.Recorded() && !a.gated() {
			found = []program.Problem{{File: p.File, Severity: program.Error, Message: program.WaitsForCI}}
		}
		return found
	}
}

// gated reports whether CI's word can be had.
func (a *App) gated() bool { return a.GitHub != nil || a.InActions() }

// refused are the reasons for which a program cannot run, among these files.
func (a *App) refused(ctx context.Context, p *program.Program, files []string) []program.Problem {
	if found := p.Refusals(files, a.gated()); len(found) > 0 {
		return found
	}
	return a.unfit(ctx, p, files)
}

// unfit are the reasons that only a look into the repository shows for which an
// iteration of a program cannot begin: what it shares is not ignored, its suite
// cannot be read, or it names the tuner and has nothing to tune. Scheduler, validate,
// and iterate ask this once Refusals has none. Nil files are not known.
func (a *App) unfit(ctx context.Context, p *program.Program, files []string) []program.Problem {
	if a.Repo == nil || files == nil || p.Unconfigured {
		return nil
	}
	err := cmp.Or(a.unshared(ctx, p), a.readSuite(ctx, p), a.untuned(p, files))
	if err == nil {
		return nil
	}
	return []program.Problem{{File: p.File, Severity: program.Error, Message: err.Error()}}
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
func (a *App) untuned(p *program.Program, files []string) error {
	tunes := func(one program.Proposer) bool { return one.Agent == "tuner" }
	if a.Agent != "" || !slices.ContainsFunc(a.namedAgents(p), tunes) {
		return nil
	}
	_, err := a.registry(a.NewRunner()).Usable("tuner", a.situation(p, files))
	return err
}
