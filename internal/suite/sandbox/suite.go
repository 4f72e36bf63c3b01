package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/suite/format"
)

const (
	// maxSuiteDepth bounds how deep task files are looked for, maxSuitePaths how
	// many paths are looked at.
	maxSuiteDepth = 8
	maxSuitePaths = 100_000
	// maxTaskFile bounds what is read of a task file; the parser takes less.
	maxTaskFile = 2 << 20
)

// Files are the task files of a suite.
type Files struct {
	// List has the files, sorted by path.
	List []format.File

	dir string
}

// FindTasks finds the task files in a directory and below it. A directory that
// has one is a task, and no further ones are looked for in it: a file of that
// name deep in a fixture is the fixture's own.
func FindTasks(ctx context.Context, dir string) (*Files, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the task suite: %w", err)
	}
	defer func() { _ = root.Close() }()
	seen := 0
	scanner := files.Scanner{
		Root: root,
		Skip: func(name string) bool {
			seen++
			base := path.Base(name)
			return seen > maxSuitePaths || decision.DotGit(base) || base == "node_modules"
		},
		Keep: func(name string) bool { return path.Base(name) == format.TaskFile },
		Within: func(dir string) bool {
			above := path.Dir(dir)
			_, err := root.Lstat(filepath.FromSlash(path.Join(above, format.TaskFile)))
			return errors.Is(err, fs.ErrNotExist) && strings.Count(above, "/") < maxSuiteDepth
		},
	}
	found, err := scanner.List(ctx)
	if err == nil && seen > maxSuitePaths {
		err = fmt.Errorf("it has more than %d paths beside its tasks", maxSuitePaths)
	}
	if err != nil {
		return nil, fmt.Errorf("read the task suite %s: %w", dir, err)
	}
	suite := &Files{dir: dir}
	for _, e := range found {
		data, err := files.ReadRegular(root, e.Path, maxTaskFile)
		if err != nil {
			return nil, fmt.Errorf("read the task suite %s: %w", dir, err)
		}
		suite.List = append(suite.List, format.File{Path: e.Path, Data: data})
	}
	return suite, nil
}

// IsDir reports whether a clean path of the suite is a directory that is
// reached through no link.
func (f *Files) IsDir(name string) bool {
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }()
	at := "."
	for part := range strings.SplitSeq(name, "/") {
		at = path.Join(at, part)
		if info, err := root.Lstat(filepath.FromSlash(at)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// Fixture is a task's fixture, without the task files of the suite.
func (f *Files) Fixture(task format.Task) Fixture {
	return Fixture{
		Name: "fixture of " + task.ID,
		Dir:  filepath.Join(f.dir, filepath.FromSlash(task.Fixture)),
		Leave: func(name string) bool {
			full := path.Join(task.Fixture, name)
			return slices.ContainsFunc(f.List, func(file format.File) bool { return file.Path == full })
		},
	}
}
