// Package sandbox gives a task a directory of its own: a fresh copy of its
// fixture with the configuration under test laid over it. Afterwards it tells
// what changed there and runs the task's checks, confined to that directory.
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

// Entry is one path of a directory; it has no digest where nothing was read: a
// special file, one over the limit or one that cannot be opened.
type Entry = files.Entry

// Manifest is all paths of a directory, sorted, directories among them.
type Manifest = files.Manifest

const (
	// maxEntries and maxBytes bound a directory that is copied.
	maxEntries = 100_000
	maxBytes   = 2 << 30
	// maxDepth bounds how deep directories are followed.
	maxDepth = 64
)

// scanner reads a directory but for git directories; where names it in errors.
func scanner(root *os.Root, where string) *files.Scanner {
	return &files.Scanner{
		Root: root, MaxEntries: maxEntries, MaxBytes: maxBytes, MaxDepth: maxDepth,
		Skip: func(name string) bool { return decision.DotGit(path.Base(name)) },
		Fault: func(name string, err error) error {
			if limit, is := errors.AsType[*files.LimitError](err); is {
				return &PathError{Where: where, Path: name, Reason: limit.Reason}
			}
			return &PathError{Where: where, Path: name, Reason: "cannot be read: " + files.Cause(err).Error()}
		},
	}
}

// read lists what a scanner finds; a special file is refused.
func read(ctx context.Context, s *files.Scanner, where string) (Manifest, error) {
	found, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range found {
		if e.IsSpecial() {
			return nil, &PathError{Where: where, Path: e.Path, Reason: "is neither a file nor a directory nor a link"}
		}
	}
	return found, s.Hash(ctx, found)
}

// readLeft reads what an agent left as it is: what cannot be copied or read is
// an entry without a digest, and too much is cut off.
func readLeft(ctx context.Context, root *os.Root) (Manifest, error) {
	s := scanner(root, "")
	s.Fault = func(string, error) error { return nil }
	return s.Read(ctx)
}

// checkLinks refuses links that leave the directory. The kernel's own way of
// resolving decides, by way of os.Root; where nothing is at a link's end, its
// words decide.
func checkLinks(root *os.Root, m Manifest, where string) error {
	for _, e := range m {
		if !e.IsLink() {
			continue
		}
		if why := wrongLink(root, e); why != "" {
			return &PathError{Where: where, Path: e.Path, Reason: why}
		}
	}
	return nil
}

func wrongLink(root *os.Root, e Entry) string {
	const leaves = "is a link that leaves the sandbox"
	target := filepath.ToSlash(e.Target)
	if strings.HasPrefix(target, "/") || filepath.IsAbs(e.Target) || filepath.VolumeName(e.Target) != "" {
		return leaves
	}
	if end := path.Join(path.Dir(e.Path), target); end == ".." || strings.HasPrefix(end, "../") {
		return leaves
	}
	_, err := root.Stat(filepath.FromSlash(e.Path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return leaves + " or cannot be followed: " + files.Cause(err).Error()
	}
	return ""
}

// PathError says that a path of a fixture or a configuration cannot be put
// into a sandbox. It is a fault of what was given, not of Autoloop.
type PathError struct {
	// Where names the fixture or the configuration, Path the path in it.
	Where, Path, Reason string
}

// Error gives where, path and reason.
func (e *PathError) Error() string {
	return fmt.Sprintf("%s: %q %s", e.Where, e.Path, e.Reason)
}

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
