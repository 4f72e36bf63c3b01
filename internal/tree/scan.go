package tree

import (
	"bytes"
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

	"github.com/org/autoloop/internal/gate"
	"github.com/org/autoloop/internal/git"
)

// maxFile is the size of the largest file that a candidate may change.
const maxFile = 10 << 20

// Scan says in which paths the tree differs from what it was built from, in
// order. What git ignores by the built tree's own rules is not part of it.
func (t *Tree) Scan(ctx context.Context) ([]gate.Change, error) {
	s := &scan{Tree: t, seen: map[string]bool{}}
	if err := s.walk(""); err != nil {
		return nil, fmt.Errorf("look for changes: %w", err)
	}
	for path, was := range t.entries {
		if !s.seen[path] && was.entry.Type == "blob" {
			s.changes = append(s.changes, gate.Change{Path: path, Kind: gate.Deleted, OldMode: was.entry.Mode})
		}
	}
	if err := s.dropIgnored(ctx); err != nil {
		return nil, err
	}
	if err := s.identify(ctx); err != nil {
		return nil, err
	}
	slices.SortFunc(s.changes, func(a, b gate.Change) int { return strings.Compare(a.Path, b.Path) })
	return s.changes, nil
}

type scan struct {
	*Tree
	seen    map[string]bool
	changes []gate.Change
	ruled   bool // the directory of rules is there
}

func (s *scan) walk(dir string) error {
	entries, err := os.ReadDir(s.path(dir))
	if errors.Is(err, fs.ErrPermission) {
		s.changes = append(s.changes, gate.Change{Path: dir, Kind: gate.Modified, Refused: "is a directory that cannot be read"})
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		if dir != "" {
			name = dir + "/" + name
		}
		if err := s.visit(name, entry); err != nil {
			return err
		}
	}
	return nil
}

func (s *scan) visit(name string, entry fs.DirEntry) error {
	if name == ".git" || slices.Contains(s.shared, name) {
		return nil
	}
	was, tracked := s.entries[name]
	if entry.IsDir() {
		if tracked && was.entry.Type == "commit" {
			s.seen[name] = true // a submodule stays as it is
			return nil
		}
		if _, err := os.Lstat(s.path(name + "/.git")); err == nil {
			s.changes = append(s.changes, gate.Change{Path: name, Kind: gate.Added, Refused: "is a repository inside the repository"})
			return nil
		}
		return s.walk(name)
	}
	info, err := entry.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	s.seen[name] = true
	if tracked && was.stamp == stampOf(info) {
		return nil
	}
	s.changes = append(s.changes, s.change(name, info, was, tracked))
	return nil
}

// change describes a path that is new or has another stamp; identify drops it
// again when its content turns out to be the same.
func (s *scan) change(name string, info fs.FileInfo, was recorded, tracked bool) gate.Change {
	c := gate.Change{Path: name, Kind: gate.Added, NewMode: modeOf(info), Size: info.Size()}
	if tracked {
		c.OldMode = was.entry.Mode
		c.Kind = gate.Modified
		if (c.NewMode == git.ModeSymlink) != (c.OldMode == git.ModeSymlink) {
			c.Kind = gate.Type
		}
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		c.LinkTarget, _ = os.Readlink(s.path(name))
		if s.leaves(name, c.LinkTarget) {
			c.Refused = "is a link that leaves the tree"
		}
	case !info.Mode().IsRegular():
		c.Refused = "is no regular file"
	case info.Size() > maxFile:
		c.Refused = fmt.Sprintf("has %d bytes, more than %d", info.Size(), maxFile)
	}
	return c
}

func modeOf(info fs.FileInfo) string {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return git.ModeSymlink
	case info.Mode()&0o100 != 0:
		return git.ModeExecutable
	default:
		return git.ModeFile
	}
}

// leaves reports whether a link points out of the tree, by its text or through
// other links.
func (s *scan) leaves(name, target string) bool {
	if target == "" || filepath.IsAbs(target) {
		return true
	}
	inside := filepath.Join(filepath.Dir(filepath.FromSlash(name)), target)
	if !filepath.IsLocal(inside) || strings.EqualFold(strings.Split(filepath.ToSlash(inside), "/")[0], ".git") {
		return true
	}
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return true
	}
	defer func() { _ = root.Close() }()
	_, err = root.Stat(filepath.FromSlash(name))
	return err != nil && !errors.Is(err, fs.ErrNotExist)
}

// dropIgnored removes new files that the built tree's rules ignore. The rules
// are taken from there, not from what the agent may have written.
func (s *scan) dropIgnored(ctx context.Context) error {
	var paths bytes.Buffer
	for _, c := range s.changes {
		if c.Kind == gate.Added {
			paths.WriteString(plainly + c.Path + "\x00")
		}
	}
	if paths.Len() == 0 {
		return nil
	}
	in, err := s.rules(ctx)
	if err != nil {
		return err
	}
	in.Stdin = paths.Bytes()
	out, err := s.repo.Run(ctx, in, "check-ignore", "--no-index", "-z", "--stdin")
	var failed *git.Error
	if errors.As(err, &failed) && failed.ExitCode == 1 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ask git what it ignores: %w", err)
	}
	ignored := map[string]bool{}
	for path := range strings.SplitSeq(string(out), "\x00") {
		ignored[strings.TrimPrefix(path, plainly)] = true
	}
	s.changes = slices.DeleteFunc(s.changes, func(c gate.Change) bool { return c.Kind == gate.Added && ignored[c.Path] })
	return nil
}

// plainly in front of a path keeps git from reading magic into it.
const plainly = "./"

// rules is a call that sees the built tree's .gitignore and .gitattributes
// files and no others: its work tree is a directory with these alone.
func (s *scan) rules(ctx context.Context) (git.Input, error) {
	in := git.Input{WorkTree: filepath.Join(s.private, "rules"), Env: []string{"GIT_INDEX_FILE=" + filepath.Join(s.private, "none")}}
	if s.ruled {
		return in, nil
	}
	if err := os.MkdirAll(in.WorkTree, 0o700); err != nil {
		return in, err
	}
	var paths []string
	for name := range s.entries {
		if base := path.Base(name); base == ".gitignore" || base == ".gitattributes" {
			paths = append(paths, name)
		}
	}
	s.ruled = true
	if len(paths) == 0 {
		return in, nil
	}
	write := s.input()
	write.WorkTree, write.Stdin = in.WorkTree, []byte(strings.Join(paths, "\x00")+"\x00")
	_, err := s.repo.Run(ctx, write, "checkout-index", "--force", "--quiet", "-z", "--stdin")
	return in, err
}

// read reads a changed file without following a link that a racing process
// may have put in its place.
func (t *Tree) read(name string) ([]byte, error) {
	root, err := os.OpenRoot(t.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	local := filepath.FromSlash(name)
	before, err := root.Lstat(local)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is no regular file", name)
	}
	file, err := root.Open(local)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	after, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(before, after) {
		return nil, fmt.Errorf("%q was replaced while it was read", name)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%q grew while it was read", name)
	}
	return data, err
}
