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
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/suite"
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

// refused says that a path of a fixture or a configuration cannot be put into a sandbox: a
// fault of what was given, not of Autoloop.
func refused(where, name, format string, args ...any) error {
	return misuse.Errorf("%s: %q %w", where, name, fmt.Errorf(format, args...))
}

// scanner reads a directory but for git directories; where names it in errors.
func scanner(root *os.Root, where string) *files.Scanner {
	return &files.Scanner{
		Root: root, MaxEntries: maxEntries, MaxBytes: maxBytes, MaxDepth: maxDepth,
		Skip: func(name string) bool { return decision.DotGit(path.Base(name)) },
		Fault: func(name string, err error) error {
			if limit, is := errors.AsType[*files.LimitError](err); is {
				return refused(where, name, "%s", limit.Reason)
			}
			return refused(where, name, "cannot be read: %w", files.Cause(err))
		},
	}
}

// read lists what a scanner finds; a special file is refused.
func read(ctx context.Context, s *files.Scanner, where string) (Manifest, error) {
	found, err := s.Read(ctx)
	if at := slices.IndexFunc(found, Entry.IsSpecial); at >= 0 {
		return nil, refused(where, found[at].Path, "is neither a file nor a directory nor a link")
	}
	return found, err
}

// readLeft reads what an agent left as it is: what cannot be copied or read is
// an entry without a digest, and too much is cut off.
func readLeft(ctx context.Context, root *os.Root) (Manifest, error) {
	s := scanner(root, "")
	s.Fault = func(string, error) error { return nil }
	return s.Read(ctx)
}

// checkLinks refuses links that leave the directory. os.Root's way of resolving
// decides; where nothing is at a link's end, its words decide too. A configuration may not
// have those either: the agent would find nothing.
func checkLinks(root *os.Root, m Manifest, where string, dangling bool) error {
	const leaves = "is a link that leaves the sandbox"
	for _, e := range m {
		if !e.IsLink() {
			continue
		}
		end := path.Join(path.Dir(e.Path), filepath.ToSlash(e.Target))
		_, err := root.Stat(e.Path)
		switch gone := errors.Is(err, fs.ErrNotExist); {
		case !filepath.IsLocal(end):
			return refused(where, e.Path, leaves)
		case err != nil && !gone:
			return refused(where, e.Path, leaves+" or cannot be followed: %w", files.Cause(err))
		case gone && !dangling:
			return refused(where, e.Path, "is a link to %q, which is not part of the configuration; put a copy in its "+
				"place, or select that too", e.Target)
		}
	}
	return nil
}

const (
	// maxSuiteDepth bounds how deep task files are looked for.
	maxSuiteDepth = 8
	// maxTaskFile bounds what is read of a task file; the parser takes less.
	maxTaskFile = 2 << 20
)

// Files are the task files of a suite.
type Files struct {
	// List has the files by their paths.
	List map[string][]byte

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
	defer root.Close()
	found := &Files{List: map[string][]byte{}, dir: dir}
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil, !entry.IsDir():
			return err
		case decision.DotGit(base), base == "node_modules", strings.Count(name, "/") > maxSuiteDepth:
			return fs.SkipDir
		}
		file := path.Join(name, suite.TaskFile)
		data, err := files.ReadRegular(root, file, maxTaskFile)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		}
		found.List[file] = data
		return fs.SkipDir
	})
	if err != nil {
		return nil, fmt.Errorf("read the task suite %s: %w", dir, err)
	}
	return found, nil
}

// IsDir reports whether a clean path of the suite is a directory that is
// reached through no link.
func (f *Files) IsDir(name string) bool {
	info, err := files.Unlinked(f.dir, name)
	return err == nil && info.IsDir()
}

// Fixture is a task's fixture, without the task files of the suite.
func (f *Files) Fixture(task suite.Task) Fixture {
	return Fixture{
		Name: "fixture of " + task.ID,
		Dir:  filepath.Join(f.dir, task.Fixture),
		Leave: func(name string) bool {
			_, is := f.List[path.Join(task.Fixture, name)]
			return is
		},
	}
}
