package evalrun

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/misuse"
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
	// Progress, optional, is told how far it is, in a line, after each run; calls do not overlap.
	Progress func(line string)

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
func RunTasks(ctx context.Context, s *TaskSuite, o TaskOptions, sides ...Side) (found Report, err error) {
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
	Tasks []tasks.Task

	files *sandbox.Files
}

// Load reads the suite in a directory and looks at its fixtures. All that is
// wrong is one *misuse.Error.
func LoadTasks(ctx context.Context, dir string) (*TaskSuite, error) {
	files, err := sandbox.FindTasks(dir)
	if err != nil {
		return nil, misuse.New(err)
	}
	if len(files.List) == 0 {
		return nil, misuse.Errorf("there is no %s in %s or below it", tasks.TaskFile, dir)
	}
	tasks, problems := tasks.Parse(files.List, files.IsDir)
	fault := problems.Err()
	for i := 0; i < len(tasks) && fault == nil; i++ {
		err := sandbox.Inspect(ctx, files.Fixture(tasks[i]))
		if _, is := errors.AsType[*misuse.Error](err); is {
			err = fmt.Errorf("%s: fixtureDir: %w", tasks[i].File, err)
		}
		if err != nil {
			return nil, err
		}
	}
	if fault != nil {
		return nil, misuse.New(fault)
	}
	return &TaskSuite{Dir: dir, Tasks: tasks, files: files}, nil
}

// Judged reports whether a task of the suite has a rubric.
func (s *TaskSuite) Judged() bool {
	return slices.ContainsFunc(s.Tasks, func(t tasks.Task) bool { return t.Rubric != nil })
}

// AgentConfig returns where coding agents keep the configuration of a project.
// What is personal is left out: it would be another one on every machine.
func AgentConfig() sandbox.Config {
	config, personal := commandline.All().Config()
	return sandbox.Config{Include: config, Exclude: append([]string{"**/*.local.*"}, personal...)}
}
