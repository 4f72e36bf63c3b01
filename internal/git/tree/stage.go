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
	links, err := s.storeLinks(ctx)
	if err != nil {
		return err
	}
	// Git reads the incumbent's attributes from the index as long as no others lie in the work directory.
	for _, attributes := range []bool{false, true} {
		if err == nil {
			err = s.put(ctx, "--stdin", s.copyFiles(attributes))
		}
	}
	if err == nil {
		err = s.put(ctx, "--index-info", links)
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

// copyFiles copies changed files to the work directory, either those of attributes or all
// others, and returns them after the deleted paths.
func (s *scan) copyFiles(attributes bool) []string {
	root, err := os.OpenRoot(s.Dir)
	if err == nil {
		defer root.Close()
	}
	var gone, there []string
	for i := range s.changes {
		c := &s.changes[i]
		deleted := c.Kind == decision.Deleted
		switch {
		case c.Refused != "" || c.NewMode == git.ModeSymlink || attributes != (isAttributes(c.Path) && !deleted):
		case deleted:
			gone = append(gone, c.Path)
		case root == nil:
			c.Refused = "cannot be read: " + files.Cause(err).Error()
		default:
			if s.copyFile(root, c); c.Refused == "" {
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
	if err := copyChanged(root, *c, filepath.Join(s.staged.path("work"), c.Path)); err != nil {
		c.Refused = "cannot be read: " + files.Cause(err).Error()
	}
}

// storeLinks writes the blobs of links, which must not lie in the work directory, and
// returns their index entries.
func (s *scan) storeLinks(ctx context.Context) (infos []string, err error) {
	var links []string
	var targets [][]byte
	for i := range s.changes {
		c := &s.changes[i]
		if c.Refused != "" || c.NewMode != git.ModeSymlink {
			continue
		}
		target, err := os.Readlink(s.path(c.Path))
		if err != nil {
			c.Refused = "is a link that cannot be read"
			continue
		}
		links, targets = append(links, c.Path), append(targets, []byte(target))
	}
	ids, err := s.Staged().HashObjects(ctx, targets...)
	for i, id := range ids {
		infos = append(infos, git.ModeSymlink+" "+id+"\t"+links[i])
	}
	return infos, err
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
