package sandbox

import (
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
	// maxSuiteDepth bounds how deep task files are looked for.
	maxSuiteDepth = 8
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
func FindTasks(dir string) (*Files, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the task suite: %w", err)
	}
	defer func() { _ = root.Close() }()
	suite := &Files{dir: dir}
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case !entry.IsDir():
			return nil
		case decision.DotGit(base), base == "node_modules", strings.Count(name, "/") > maxSuiteDepth:
			return fs.SkipDir
		}
		file := path.Join(name, format.TaskFile)
		if _, err := root.Lstat(filepath.FromSlash(file)); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		data, err := files.ReadRegular(root, file, maxTaskFile)
		if err != nil {
			return err
		}
		suite.List = append(suite.List, format.File{Path: file, Data: data})
		return fs.SkipDir
	})
	if err != nil {
		return nil, fmt.Errorf("read the task suite %s: %w", dir, err)
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
