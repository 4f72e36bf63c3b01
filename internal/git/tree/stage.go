package tree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
)

// stage makes a tree object of the changes in the control directory, as `git add`
// would but with the incumbent's attributes, and takes those that it has. Content is
// copied once and read no more from the tree.
func (s *scan) stage(ctx context.Context) error {
	if err := s.readIndex(); err != nil {
		return err
	}
	paths := s.copyFiles()
	infos, err := s.storeApart(ctx)
	if err != nil {
		return err
	}
	if err = s.put(ctx, "--stdin", paths); err == nil {
		err = s.put(ctx, "--index-info", infos)
	}
	if failed, refused := errors.AsType[*git.Error](err); refused && ctx.Err() == nil && !files.Full(err) {
		words, _, _ := strings.Cut(strings.TrimSpace(failed.Stderr), "\n")
		s.refuse("", "has a change that cannot be stored: "+words)
		return nil
	}
	if err != nil {
		return err
	}
	tree, err := s.staged.run(ctx, git.Input{}, "write-tree")
	if err != nil {
		return err
	}
	s.found = strings.TrimSpace(string(tree))
	found, err := Changes(ctx, s.Staged(), s.id, s.found)
	if err != nil {
		return err
	}
	taken := map[string]bool{}
	for _, c := range found {
		taken[c.Path] = true
	}
	for _, c := range s.changes {
		if c.Refused == "" && c.Kind == decision.Added && !taken[c.Path] {
			c.Refused = "cannot be stored: git does not take it" // it says so and goes on
		}
		if c.Refused != "" {
			found = append(found, c)
		}
	}
	s.changes = found
	return nil
}

// put hands entries to update-index, how being --stdin or --index-info.
func (s *scan) put(ctx context.Context, how string, entries []string) error {
	if len(entries) == 0 {
		return nil
	}
	in := git.Input{Stdin: []byte(strings.Join(entries, "\x00") + "\x00")}
	_, err := s.staged.run(ctx, in, "update-index", "--add", "--remove", "--replace", "-z", how)
	return err
}

// Staged is the repository with what the last Scan found besides; nil when that was
// nothing.
func (t *Tree) Staged() *git.Repo {
	if t.staged == nil {
		return nil
	}
	return t.repo.At(t.staged.path("git"))
}

// copyFiles copies changed files to the work directory and returns them after the
// deleted paths.
func (s *scan) copyFiles() []string {
	root, err := os.OpenRoot(s.Dir)
	if err == nil {
		defer root.Close()
	}
	var gone, there []string
	for i := range s.changes {
		c := &s.changes[i]
		switch {
		case c.Refused != "" || c.NewMode == git.ModeSymlink:
		case c.Kind == decision.Deleted:
			gone = append(gone, c.Path)
		case root == nil:
			c.Refused = "cannot be read: " + files.Cause(err).Error()
		default:
			if s.copyFile(root, c); c.Refused == "" && !isAttributes(c.Path) {
				there = append(there, c.Path)
			}
		}
	}
	return append(gone, there...)
}

func (s *scan) copyFile(root *os.Root, c *decision.Change) {
	if s.bytes += c.Size; s.bytes > maxTotal {
		c.Refused = tooMuch
		return
	}
	target := s.staged.path("work")
	if isAttributes(c.Path) {
		target = s.staged.path("attributes") // where git takes no notice of them
	}
	if err := copyChanged(root, *c, filepath.Join(target, c.Path)); err != nil {
		c.Refused = "cannot be read: " + files.Cause(err).Error()
	}
}

// storeApart writes the blobs of links and of attribute files, which must not
// lie in the work directory, and returns their index entries.
func (s *scan) storeApart(ctx context.Context) (infos []string, err error) {
	var apart []*decision.Change
	var targets [][]byte
	for i := range s.changes {
		c := &s.changes[i]
		switch {
		case c.Refused != "" || c.Kind == decision.Deleted:
		case c.NewMode == git.ModeSymlink:
			target, err := os.Readlink(s.path(c.Path))
			if err != nil {
				c.Refused = "is a link that cannot be read"
				continue
			}
			apart, targets = append(apart, c), append(targets, []byte(target))
		case isAttributes(c.Path):
			id, err := s.storeAttributes(ctx, c.Path)
			if err != nil {
				return nil, err
			}
			infos = append(infos, info(c, id))
		}
	}
	ids, err := s.Staged().HashObjects(ctx, targets...)
	for i, id := range ids {
		infos = append(infos, info(apart[i], id))
	}
	return infos, err
}

// info is the index entry of a change.
func info(c *decision.Change, id string) string {
	return fmt.Sprintf("%s %s\t%s", c.NewMode, id, c.Path)
}

// storeAttributes writes the blob of an attributes file by the incumbent's rules.
func (s *scan) storeAttributes(ctx context.Context, name string) (string, error) {
	in, err := s.rules(ctx)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(s.staged.path("attributes"), name))
	if err != nil {
		return "", err
	}
	out, err := s.staged.run(ctx, git.Input{WorkTree: in.WorkTree, Stdin: text}, "hash-object", "-w", "--stdin",
		"--path="+name)
	return strings.TrimSpace(string(out)), err
}

// copyChanged copies the content of a changed file to target. A path that became a
// link, a pipe or another file since it was looked at is an error, and so is a
// way to it that leaves the tree.
func copyChanged(root *os.Root, c decision.Change, target string) (err error) {
	source, err := files.OpenRegular(root, c.Path)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	var permissions os.FileMode = 0o600
	if c.NewMode == git.ModeExecutable {
		permissions = 0o700
	}
	file, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, permissions)
	if err != nil {
		return err
	}
	n, err := io.Copy(file, io.LimitReader(source, maxFile+1))
	if err == nil && n > maxFile {
		err = fmt.Errorf("it grew beyond %d bytes while it was read", maxFile)
	}
	// a time that no built file has, so that git takes the copy for another file
	return errors.Join(err, file.Close(), os.Chtimes(target, time.Unix(1, 0), time.Unix(1, 0)))
}
