package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/taskrun"
)

// Refusals returns what asks why a program cannot run, so that the scheduler
// refuses what an iteration would. What depends on the machine that runs the
// iteration, such as an agent that is not installed, is recorded there. The
// repository of d may be nil: then what needs one is not asked.
func (d *dependencies) Refusals(ctx context.Context) func(*schedule.Standing) []program.Problem {
	var files []string
	if d.Repo != nil {
		files, _ = d.TrackedFiles(ctx) // without a commit, nothing is known of files
	}
	source, root := d.Source(), d.Root
	github := d.GitHub != nil || d.Env.InActions()
	return func(s *schedule.Standing) []program.Problem {
		p := s.Program
		if p.Issue == 0 {
			file := p.File
			if !filepath.IsAbs(file) {
				file = filepath.Join(root, filepath.FromSlash(file))
			}
			if p = source.File(file); p.Name != s.Program.Name {
				p.Name = s.Program.Name
			}
			if s.Machine.DirectionGiven {
				p.GoOn(s.Machine.Direction)
			}
		}
		if found := p.Refusals(files, github); len(found) > 0 {
			return found
		}
		if s.Pending && s.Recorded() && !github {
			return []program.Problem{{File: p.File, Severity: program.Error, Message: program.WaitsForCI}}
		}
		return d.Unfit(ctx, p, root, files)
	}
}

// Unfit are the reasons that only a look into the repository shows for which an
// iteration of a program cannot begin: what it shares is not ignored, its suite
// cannot be read, or it names the tuner and has nothing to tune. Scheduler, validate,
// and iterate ask this once Refusals has none. Nil files are not known.
func (d *dependencies) Unfit(ctx context.Context, p *program.Program, root string, files []string) []program.Problem {
	if d.Repo == nil || files == nil || p.Unconfigured {
		return nil
	}
	err := d.unshared(ctx, p)
	if err == nil {
		err = readSuite(ctx, p, root)
	}
	if err == nil {
		err = d.untuned(p, root, files)
	}
	if err == nil {
		return nil
	}
	return []program.Problem{{File: p.File, Severity: program.Error, Message: err.Error()}}
}

// unshared says which path cannot be shared.
func (d *dependencies) unshared(ctx context.Context, p *program.Program) error {
	for _, name := range p.Share {
		var refused *tree.ShareError
		if err := tree.Shareable(ctx, d.Repo, name); errors.As(err, &refused) {
			return refused
		}
	}
	return nil
}

// readSuite says why the suite of a program cannot be read.
func readSuite(ctx context.Context, p *program.Program, root string) (err error) {
	switch p.Evaluation {
	case program.Skill:
		_, err = evalrun.Load(root, p.Skill, p.Evals)
	case program.Tasks:
		if info, failed := os.Stat(filepath.Join(root, filepath.FromSlash(p.Tasks))); failed != nil || !info.IsDir() {
			return misuse.Errorf("there is no directory %s, which `tasks` names: write its path from the root of the "+
				"repository", p.Tasks)
		}
		_, err = taskrun.Load(ctx, filepath.Join(root, filepath.FromSlash(p.Tasks)))
	case program.Metric:
	}
	var mistake *misuse.Error
	if !errors.As(err, &mistake) {
		return nil // what else is wrong shows where it is measured
	}
	return mistake
}

// untuned says that a program for the tuner has nothing to tune: that is a matter of
// its files, whatever the machine. An agent that was asked for by name replaces it.
func (d *dependencies) untuned(p *program.Program, root string, files []string) error {
	tunes := p.Agent == "tuner" && len(p.Agents) == 0 ||
		slices.ContainsFunc(p.Agents, func(one program.Proposer) bool { return one.Agent == "tuner" })
	if !tunes || d.Options.Agent != "" || d.Options.AgentCommand != "" {
		return nil
	}
	matcher := p.Matcher()
	targets := slices.DeleteFunc(slices.Clone(files), func(path string) bool { return !matcher.Allows(path) })
	registry := newRegistry(d.Env, d.Env.NewRunner(), process.NewMasker(d.Env.Environ))
	_, err := registry.Usable("tuner", agent.Situation{Env: d.Env.Environ, Dir: root, Targets: targets})
	return err
}
