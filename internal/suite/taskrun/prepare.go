package taskrun

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/sandbox"
	"github.com/org/autoloop/internal/suite/work"
)

// role is the part that a configuration has in a comparison.
type role int

const (
	theBaseline role = iota
	theCandidate
	roles
)

func (r role) String() string { return [roles]string{"baseline", "candidate"}[r] }

// prepared is a task, ready to be run.
type prepared struct {
	format.Task

	agent     agent.Agent
	version   string // of the agent, "" when it is part of this binary
	templates [roles]*sandbox.Template
	keys      [roles]string // of the runs
}

// session is one comparison while it is worked on.
type session struct {
	Options

	// make makes a run; it is execute but in tests of the rules alone.
	make  func(ctx context.Context, u unit) (record, error)
	suite *TaskSuite
	sides [roles]Side
	tasks []*prepared
	spent *work.Spending
	mu    sync.Mutex // of what follows, while runs are made
	// records has the finished runs by task and role, in the order of repeats.
	records  map[unit]record
	warnings []string
	versions map[string]string // by the agent's name
	reused   int
	total    int
	auto     bool
	// standalone says that there is no candidate: the baseline is measured for itself.
	standalone bool
	// varies says that runs of the same configuration can differ.
	varies bool
}

// prepare makes everything ready before anything runs, so that what cannot
// work is found while nothing was spent.
func prepare(ctx context.Context, s *TaskSuite, baseline, candidate Side, o Options) (*session, error) {
	session := &session{
		Options: o, suite: s, sides: [roles]Side{baseline, candidate}, records: map[unit]record{},
		versions: map[string]string{},
	}
	session.auto, session.make = o.Runs <= 0, session.execute
	session.spent = &work.Spending{Budget: o.Budget, Begun: o.Now()}
	overlays, err := session.overlays(ctx)
	if err != nil {
		return nil, err
	}
	var faults []error
	for i, task := range s.Tasks {
		p := &prepared{Task: task}
		session.tasks = append(session.tasks, p)
		wrong, err := session.lay(ctx, i, p, overlays)
		if err != nil {
			return nil, err
		}
		faults = append(faults, session.assign(ctx, p), wrong)
	}
	if err := errors.Join(work.Once(faults)...); err != nil {
		return nil, misuse.New(err)
	}
	for _, p := range session.tasks {
		for side := range roles {
			p.keys[side] = session.key(side, p)
		}
	}
	return session, nil
}

// lay makes the templates of a task. What cannot be put into a sandbox is
// wrong; err is a failure of our own.
func (s *session) lay(ctx context.Context, number int, p *prepared, overlays [roles]*sandbox.Overlay) (wrong,
	err error,
) {
	for side, overlay := range overlays {
		dir := filepath.Join(s.RunDir, fmt.Sprintf("template-%d-%v", number, role(side)))
		p.templates[side], err = sandbox.Prepare(ctx, dir, s.suite.files.Fixture(p.Task), overlay)
		if _, is := errors.AsType[*sandbox.PathError](err); is {
			wrong = errors.Join(wrong, err)
		} else if err != nil {
			return nil, err
		}
	}
	return wrong, nil
}

// overlays reads both configurations.
func (s *session) overlays(ctx context.Context) ([roles]*sandbox.Overlay, error) {
	var overlays [roles]*sandbox.Overlay
	var faults []error
	for i, side := range s.sides {
		overlay, err := sandbox.ReadOverlay(ctx, role(i).String(), side.Dir, side.Config)
		if ctx.Err() != nil {
			return overlays, context.Cause(ctx)
		}
		overlays[i] = overlay
		if err == nil && len(overlay.Files) == 0 {
			s.warn("the %s (%s) has no file of a configuration", role(i), side.Label)
		}
		faults = append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return overlays, misuse.New(err)
	}
	if len(overlays[theBaseline].Files) == 0 && len(overlays[theCandidate].Files) == 0 {
		return overlays, misuse.Errorf(
			"neither the baseline (%s) nor the candidate (%s) has a file of a configuration: there is nothing to "+
				"compare; name the files with the key `target` (--settings)", s.sides[theBaseline].Label,
			s.sides[theCandidate].Label)
	}
	overlays[theBaseline].Against(overlays[theCandidate])
	if overlays[theBaseline].Files.Digest() == overlays[theCandidate].Files.Digest() {
		s.warn("baseline and candidate have the same configuration")
	}
	return overlays, nil
}

func (s *session) warn(format string, args ...any) {
	s.warnings = append(s.warnings, fmt.Sprintf(format, args...))
}

// assign finds the agent of a task.
func (s *session) assign(ctx context.Context, p *prepared) error {
	name, named := AgentOf(p.Agent), p.File
	if chosen := AgentOf(s.Agent); name == "" || s.Override && chosen != name {
		if name != "" {
			s.warn("%s names agent %s; %s works on it, as this run says", p.File, p.Agent, s.Agent)
		}
		name, named = chosen, "the run's agent"
	}
	if name == "" {
		return fmt.Errorf("%s names no agent: choose one for the run (--agent), or give the task its own", p.File)
	}
	found, err := s.Agents(name)
	if err != nil {
		return fmt.Errorf("%s: %w", named, err)
	}
	p.agent = found
	program, outside := found.(agent.Installed)
	if !outside {
		return nil
	}
	if known, asked := s.versions[found.Name()]; asked {
		p.version = known
		return nil
	}
	if p.version, err = program.Version(ctx); err != nil {
		return fmt.Errorf("%s: ask agent %s for its version: %w", p.File, found.Name(), err)
	}
	s.versions[found.Name()] = p.version
	return nil
}

// AgentOf is the name here of an agent that a task file, or a person, calls by one of
// its other names.
func AgentOf(name string) string { return commandline.All().Canonical(name) }
