package evalrun

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/sandbox"
	"github.com/org/autoloop/internal/suite/tasks"
)

// Side is one of the two configurations: Label names it in reports, such as a branch, and
// Dir has its files.
type Side struct{ Label, Dir string }

// TaskOptions say how a suite is run. The zero values of the first group choose the
// defaults; the second group must be set.
type TaskOptions struct {
	Runner
	// Agent names who works on tasks that name nobody.
	Agent string
	// Override lets Agent work on the tasks that name another, too.
	Override bool
	// Surroundings name whatever else runs depend on, such as their isolation, and the content
	// of the files that Command names: what a changed script does is not taken from what is kept.
	Surroundings string
	// Runs is how often each task is run, 0 for automatic.
	Runs       int
	Thresholds tasks.Thresholds
	// Fresh runs everything again instead of taking what is kept.
	Fresh bool

	// Config says which files of a side are its configuration.
	Config sandbox.Config
	// Agents finds an agent that can be used, by its name.
	Agents func(name string) (agent.Agent, error)
	// Archive keeps what is finished, and Session names this one in it.
	Archive *Archive
	Session string
}

// RunTasks runs the suite for a baseline and a candidate, and compares them. For a baseline alone
// it is run five times where a model is known to take part, else once, unless TaskOptions.Runs
// says how often; the runs serve a later comparison. What a task comes to is part of the
// report, also when its agent fails or its time runs out. An error means that there is no
// comparison: something about suite or configuration cannot be used (an error of Misuse), an
// agent is not there, the budget is used up, the disk is full, or ctx ended; what was
// finished until then is kept, and the next call goes on.
func RunTasks(ctx context.Context, s *TaskSuite, o TaskOptions, sides ...Side) (found tasks.Report, err error) {
	session, err := prepare(ctx, s, o, sides)
	if err != nil {
		return found, err
	}
	if err = session.measure(ctx); err == nil {
		found, err = session.report(ctx)
	}
	found.Expense = session.spent.Used() // kept runs cost nothing again
	return found, err
}

// TaskSuite is a task suite whose files are all right.
type TaskSuite struct {
	// Dir is where it is.
	Dir string
	// Tasks is in the order of their files.
	Tasks []suite.Task

	files *sandbox.Files
}

// LoadTasks reads the suite in a directory and looks at its fixtures. All that is
// wrong is one *misuse.Error.
func LoadTasks(ctx context.Context, dir string) (*TaskSuite, error) {
	files, err := sandbox.FindTasks(dir)
	if err != nil {
		return nil, misuse.New(err)
	}
	if len(files.List) == 0 {
		return nil, misuse.Errorf("there is no %s in %s or below it", suite.TaskFile, dir)
	}
	tasks, err := suite.ParseTasks(files.List, files.IsDir)
	if err != nil {
		return nil, misuse.New(err)
	}
	for _, task := range tasks {
		if err := sandbox.Inspect(ctx, files.Fixture(task)); err != nil {
			return nil, fmt.Errorf("%s: fixtureDir: %w", task.File, err)
		}
	}
	return &TaskSuite{Dir: dir, Tasks: tasks, files: files}, nil
}

// Judged reports whether a task of the suite has a rubric.
func (s *TaskSuite) Judged() bool {
	return slices.ContainsFunc(s.Tasks, func(t suite.Task) bool { return t.Rubric != nil })
}

// AgentConfig returns where coding agents keep the configuration of a project.
// What is personal is left out: it would be another one on every machine.
func AgentConfig() sandbox.Config {
	config, personal := commandline.All().Config()
	return sandbox.Config{Include: config, Exclude: append([]string{"**/*.local.*"}, personal...)}
}

// role is the part that a configuration has in a comparison.
type role int

const (
	theBaseline role = iota
	theCandidate
	roles
)

func (r role) String() string { return tasks.Sides[r] }

// prepared is a task, ready to be run.
type prepared struct {
	suite.Task

	agent     agent.Agent
	version   string // of the agent, "" when it is part of this binary
	templates [roles]*sandbox.Template
	keys      [roles]string // of the runs
}

// session is one comparison while it is worked on.
type comparison struct {
	TaskOptions

	// make makes a run; it is execute but in tests of the rules alone.
	make  func(ctx context.Context, u unit) (record, error)
	suite *TaskSuite
	sides [roles]Side
	tasks []*prepared
	spent *Spending
	mu    sync.Mutex // of what follows, while runs are made
	// records has the finished runs by task and role, in the order of repeats.
	records  map[unit]record
	warnings []string
	workers  map[string]*prepared // the first task of each agent, by its name
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
func prepare(ctx context.Context, loaded *TaskSuite, o TaskOptions, sides []Side) (*comparison, error) {
	s := &comparison{
		TaskOptions: o, suite: loaded, sides: [roles]Side{sides[0], sides[len(sides)-1]}, records: map[unit]record{},
		workers: map[string]*prepared{}, auto: o.Runs <= 0, standalone: len(sides) == 1,
		spent: &Spending{Budget: o.Budget, Begun: o.Now()},
	}
	s.make = s.execute
	overlays, err := s.overlays(ctx)
	if err != nil {
		return nil, err
	}
	for i, task := range loaded.Tasks {
		p := &prepared{Task: task}
		if err := s.assign(ctx, p); err != nil {
			return nil, err
		}
		for side := range roles {
			dir := filepath.Join(s.RunDir, fmt.Sprintf("template-%d-%v", i, side))
			fixture := loaded.files.Fixture(task)
			p.templates[side], err = sandbox.Compose(ctx, dir, fixture.Name, []sandbox.Fixture{fixture}, overlays[side])
			if err != nil {
				return nil, err
			}
			p.keys[side] = s.key(side, p)
		}
		s.tasks = append(s.tasks, p)
	}
	return s, nil
}

// overlays reads both configurations.
func (s *comparison) overlays(ctx context.Context) (overlays [roles]*sandbox.Overlay, err error) {
	for side := range roles {
		given := s.sides[side]
		if overlays[side], err = sandbox.ReadOverlay(ctx, side.String(), given.Dir, s.Config); err != nil {
			return overlays, err
		}
		if len(overlays[side].Files) == 0 {
			s.warn("the %s (%s) has no file of a configuration", side, given.Label)
		}
	}
	before, after := overlays[theBaseline], overlays[theCandidate]
	if len(before.Files) == 0 && len(after.Files) == 0 {
		return overlays, misuse.Errorf("neither the baseline (%s) nor the candidate (%s) has a file of a "+
			"configuration: there is nothing to compare; name the files with the key `target` (--settings)",
			s.sides[theBaseline].Label, s.sides[theCandidate].Label)
	}
	before.Against(after)
	if before.Files.Digest() == after.Files.Digest() {
		s.warn("baseline and candidate have the same configuration")
	}
	return overlays, nil
}

func (s *comparison) warn(format string, args ...any) {
	s.warnings = append(s.warnings, fmt.Sprintf(format, args...))
}

// assign finds the agent of a task.
func (s *comparison) assign(ctx context.Context, p *prepared) (err error) {
	name, named := AgentOf(p.Agent), p.File
	if chosen := AgentOf(s.Agent); name == "" || s.Override && chosen != name {
		if name != "" {
			s.warn("%s names agent %s; %s works on it, as this run says", p.File, p.Agent, s.Agent)
		}
		name, named = chosen, "the run's agent"
	}
	if name == "" {
		return misuse.Errorf("%s names no agent: choose one for the run (--agent), or give the task its own", p.File)
	}
	known := s.workers[name]
	if known == nil {
		if p.agent, err = s.Agents(name); err != nil {
			return misuse.Errorf("%s: %w", named, err)
		}
		if program, outside := p.agent.(agent.Installed); outside {
			if p.version, err = program.Version(ctx); err != nil {
				return misuse.Errorf("%s: ask agent %s for its version: %w", p.File, name, err)
			}
		}
		known, s.workers[name] = p, p
	}
	p.agent, p.version = known.agent, known.version
	return nil
}

// AgentOf is the name here of an agent that a task file, or a person, calls by one of
// its other names.
func AgentOf(name string) string { return commandline.All().Canonical(name) }
