package tree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

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
	if err := s.put(ctx, s.copyFiles(), "--stdin"); err != nil {
		return err
	}
	infos, err := s.storeApart(ctx)
	if err != nil {
		return err
	}
	if err := s.put(ctx, infos, "--index-info"); err != nil {
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

// Staged is the repository with what the last Scan found besides; nil when that was
// nothing.
func (t *Tree) Staged() *git.Repo {
	if t.staged == nil {
		return nil
	}
	return t.repo.At(t.staged.path("git"))
}

// item is a change and what update-index is told about it.
type item struct {
	at   int // in changes
	text string
}

// copyFiles copies changed files to the work directory and returns them after the
// deleted paths.
func (s *scan) copyFiles() []item {
	root, err := os.OpenRoot(s.Dir)
	if err == nil {
		defer func() { _ = root.Close() }()
	}
	var gone, there []item
	for i := range s.changes {
		c := &s.changes[i]
		switch {
		case c.Refused != "" || c.NewMode == git.ModeSymlink:
		case c.Kind == decision.Deleted:
			gone = append(gone, item{i, c.Path + "\x00"})
		case root == nil:
			c.Refused = "cannot be read: " + files.Cause(err).Error()
		default:
			if s.copyFile(root, c); c.Refused == "" && !isAttributes(c.Path) {
				there = append(there, item{i, c.Path + "\x00"})
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
	if err := copyChanged(root, *c, filepath.Join(target, filepath.FromSlash(c.Path))); err != nil {
		c.Refused = "cannot be read: " + files.Cause(err).Error()
	}
}

// storeApart writes the blobs of links and of attribute files, which must not
// lie in the work directory, and returns their index entries.
func (s *scan) storeApart(ctx context.Context) ([]item, error) {
	var links []int
	var targets [][]byte
	var infos []item
	add := func(at int, id string) {
		c := s.changes[at]
		infos = append(infos, item{at, fmt.Sprintf("%s %s\t%s\x00", c.NewMode, id, c.Path)})
	}
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
			links, targets = append(links, i), append(targets, []byte(target))
		case isAttributes(c.Path):
			id, err := s.storeAttributes(ctx, c.Path)
			if err != nil {
				return nil, err
			}
			add(i, id)
		}
	}
	ids, err := s.Staged().HashObjects(ctx, targets...)
	for at, id := range ids {
		add(links[at], id)
	}
	return infos, err
}

// storeAttributes writes the blob of an attributes file by the incumbent's rules.
func (s *scan) storeAttributes(ctx context.Context, name string) (string, error) {
	in, err := s.rules(ctx)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(s.staged.path("attributes"), filepath.FromSlash(name)))
	if err != nil {
		return "", err
	}
	out, err := s.staged.run(ctx, git.Input{WorkTree: in.WorkTree, Stdin: text}, "hash-object", "-w", "--stdin",
		"--path="+name)
	return strings.TrimSpace(string(out)), err
}

// maxUntaken bounds the search for paths that git does not store.
const maxUntaken = 20

// put hands items to update-index, how being --stdin or --index-info. When git does not take them they are tried
// in halves, to refuse those that are to blame.
func (s *scan) put(ctx context.Context, items []item, how string) error {
	if len(items) == 0 || s.untaken >= maxUntaken {
		return nil
	}
	var list strings.Builder
	for _, it := range items {
		list.WriteString(it.text)
	}
	in := git.Input{Stdin: []byte(list.String())}
	_, err := s.staged.run(ctx, in, "update-index", "--add", "--remove", "--replace", "-z", how)
	failed, refused := errors.AsType[*git.Error](err)
	if !refused || ctx.Err() != nil {
		return err
	}
	if len(items) == 1 {
		s.untaken++
		words, _, _ := strings.Cut(strings.TrimSpace(failed.Stderr), "\n")
		s.changes[items[0].at].Refused = "cannot be stored: " + words
		return nil
	}
	half := len(items) / 2
	return errors.Join(s.put(ctx, items[:half], how), s.put(ctx, items[half:], how))
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
	return errors.Join(err, file.Close())
}
