package app

import (
	"context"
	"path/filepath"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
)

// Refusals returns what asks why a program cannot run, so that the scheduler
// refuses what an iteration would. What depends on the machine that runs the
// iteration, such as an agent that is not installed, is recorded there. The
// repository of d may be nil: then what needs one is not asked.
func (d *Deps) Refusals(ctx context.Context, root string) func(*schedule.Standing) []program.Problem {
	var files []string
	if d.Repo != nil {
		files, _ = d.TrackedFiles(ctx) // without a commit, nothing is known of files
	}
	source := memory.Programs{Root: root, Dir: d.Options.Programs, Parse: program.Parse}
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
		if s.Pending && !github {
			return []program.Problem{{File: p.File, Severity: program.Error, Message: "its last iteration waits for CI: give --repo and a token"}}
		}
		return d.tunerRefusal(p, files)
	}
}

// tunerRefusal is the problem of a program for the tuner without anything to
// tune: that is a matter of its files, whatever the machine.
func (d *Deps) tunerRefusal(p *program.Program, files []string) []program.Problem {
	if p.Agent != "tuner" || len(p.Agents) > 0 || d.Repo == nil || files == nil {
		return nil
	}
	matcher := p.Matcher()
	var targets []string
	for _, file := range files {
		if matcher.Allows(file) {
			targets = append(targets, file)
		}
	}
	registry := NewRegistry(d.Env, d.Env.NewRunner(), process.NewMasker(d.Env.Environ))
	if _, err := registry.Usable("tuner", agent.Situation{Env: d.Env.Environ, Dir: d.Repo.Root, Targets: targets}); err != nil {
		return []program.Problem{{File: p.File, Severity: program.Error, Message: err.Error()}}
	}
	return nil
}
