package tree

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
)

// walk looks at a directory and, where tracked files are, below it. It follows
// no links.
func (s *scan) walk(dir string) {
	entries, err := os.ReadDir(s.path(dir))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.blind = true
			s.refuse(dir, "is a directory that cannot be read")
		}
		return
	}
	if dir != "" && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".git" }) {
		s.refuse(dir, "is a repository inside the repository")
		if !s.dirs[dir] {
			return
		}
	}
	for _, entry := range entries {
		name := entry.Name()
		if name == ".git" {
			continue // at the top the throw-away one, whatever became of it
		}
		if dir != "" {
			name = dir + "/" + name
		}
		s.visit(name, entry)
	}
}

func (s *scan) visit(name string, entry fs.DirEntry) {
	if slices.Contains(s.Shared, name) {
		s.trackedBelow(name)
		return
	}
	was, tracked := s.entries[name]
	switch {
	case decision.DotGit(entry.Name()):
		s.refuse(name, "has a name that some systems take for .git")
	case tracked && was.Type == "commit":
		if !entry.IsDir() {
			s.refuse(name, "is a submodule, which stays as it is")
		}
	case entry.IsDir() && s.dirs[name]:
		s.walk(name)
	case entry.IsDir():
		s.fresh = append(s.fresh, decision.Change{Path: name, NewMode: git.ModeDirectory})
	default:
		s.file(name, entry, was, tracked)
	}
}

// trackedBelow looks at what the commit has in a shared directory; the rest is not part of
// the tree.
func (s *scan) trackedBelow(dir string) {
	for name, was := range s.entries {
		if !strings.HasPrefix(name, dir+"/") {
			continue
		}
		if info, err := os.Lstat(s.path(name)); err == nil {
			s.file(name, fs.FileInfoToDirEntry(info), was, true)
		}
	}
}

// file takes in a path that is no directory, unless its stamp says that nobody
// touched it.
func (s *scan) file(name string, entry fs.DirEntry, was recorded, tracked bool) {
	info, err := entry.Info()
	if err != nil {
		return // gone again
	}
	if !tracked {
		s.fresh = append(s.fresh, s.describe(decision.Change{Path: name, Kind: decision.Added}, info))
		return
	}
	s.seen[name] = true
	if now := stampOf(info); was.stamp != now || !now.before(s.built) {
		s.changes = append(s.changes, s.describe(decision.Change{
			Path: name, Kind: decision.Modified,
			OldMode: was.Mode,
		}, info))
	}
}

func (s *scan) describe(c decision.Change, info fs.FileInfo) decision.Change {
	c.Size = info.Size()
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		c.NewMode = git.ModeSymlink
	case !info.Mode().IsRegular():
		c.Refused = "is no regular file but a " + special(info.Mode())
	case info.Size() > maxFile:
		c.Refused = tooLarge(info.Size())
	case info.Mode()&0o100 != 0:
		c.NewMode = git.ModeExecutable
	default:
		c.NewMode = git.ModeFile
	}
	return c
}

func special(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	default:
		return "device"
	}
}

// tooDeep bounds how far an untracked directory is followed.
func tooDeep(name string) bool { return strings.Count(name, "/") >= maxDepth }
