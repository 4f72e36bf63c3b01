package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/tasks/format"
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

	dir  string
	seen int
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
	found := &Files{dir: dir}
	if err := found.walk(ctx, root, "."); err != nil {
		return nil, fmt.Errorf("read the task suite %s: %w", dir, err)
	}
	slices.SortFunc(found.List, func(a, b format.File) int { return strings.Compare(a.Path, b.Path) })
	return found, nil
}

func (f *Files) walk(ctx context.Context, root *os.Root, dir string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	name := path.Join(dir, format.TaskFile)
	data, err := readTask(root, name)
	if err == nil {
		f.List = append(f.List, format.File{Path: name, Data: data})
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if strings.Count(dir, "/") >= maxSuiteDepth {
		return nil
	}
	names, err := namesIn(root, dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if f.seen++; f.seen > maxSuitePaths {
			return fmt.Errorf("it has more than %d paths beside its tasks", maxSuitePaths)
		}
		below := path.Join(dir, name)
		info, err := root.Lstat(filepath.FromSlash(below))
		if err != nil || !info.IsDir() || decision.DotGit(name) || name == "node_modules" {
			continue
		}
		if err := f.walk(ctx, root, below); err != nil {
			return err
		}
	}
	return nil
}

func readTask(root *os.Root, name string) ([]byte, error) {
	file, err := openRegular(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, maxTaskFile))
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
