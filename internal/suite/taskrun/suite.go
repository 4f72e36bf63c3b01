package taskrun

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/sandbox"
)

// TaskSuite is a task suite whose files are all right.
type TaskSuite struct {
	// Dir is where it is.
	Dir string
	// Tasks is in the order of their files.
	Tasks []format.Task

	files *sandbox.Files
}

// Load reads the suite in a directory and looks at its fixtures. All that is
// wrong is one *misuse.Error.
func Load(ctx context.Context, dir string) (*TaskSuite, error) {
	files, err := sandbox.FindTasks(dir)
	if err != nil {
		return nil, misuse.New(err)
	}
	if len(files.List) == 0 {
		return nil, misuse.Errorf("there is no %s in %s or below it", format.TaskFile, dir)
	}
	tasks, problems := format.Parse(files.List, files.IsDir)
	if err := problems.Err(); err != nil {
		return nil, misuse.New(err)
	}
	var faults []error
	for _, task := range tasks {
		err := sandbox.Inspect(ctx, files.Fixture(task))
		var refused *sandbox.PathError
		switch {
		case errors.As(err, &refused):
			faults = append(faults, fmt.Errorf("%s: fixtureDir: %w", task.File, err))
		case err != nil:
			return nil, err
		}
	}
	if len(faults) > 0 {
		return nil, misuse.New(errors.Join(faults...))
	}
	return &TaskSuite{Dir: dir, Tasks: tasks, files: files}, nil
}

// Judged reports whether a task of the suite has a rubric.
func (s *TaskSuite) Judged() bool {
	return slices.ContainsFunc(s.Tasks, func(t format.Task) bool { return t.Rubric != nil })
}
