// Package tree builds throw-away trees: plain directories with the files of a
// commit, in which agents and evaluations work. Nothing is read back from them
// but file contents and modes.
package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
)

// Options change how a tree is built.
type Options struct {
	// Head is the commit that is HEAD of a throw-away .git in the tree, so that agents and
	// evaluations can ask for history, files and versions; "" makes none. A tree that is
	// not the commit's is shown as if it were: two trees that are compared have one version.
	Head string
	// Share lists git-ignored paths that are copied from the main checkout.
	Share []string
}

// Tree is a built tree. While an agent or an evaluation runs in it, all that is
// known about it is in memory: beside Dir there is nothing of ours to tamper with.
type Tree struct {
	// Dir is the tree's absolute path.
	Dir string
	// Absent are the submodules that the main checkout does not have.
	Absent []string

	repo    *git.Repo
	id      string      // of the tree object
	self    fs.FileInfo // Dir
	entries map[string]recorded
	index   []byte // that git has of the entries
	shared  []string
	// sharedFiles are the files below the shared paths.
	sharedFiles map[string]stamp
	// sharedDirs are the directories there.
	sharedDirs map[string]stamp
	built      time.Time // by the clock of the file system
	staged     *control  // what the last Scan found; nil before
	found      string    // its tree object
}

// recorded is a tracked file as it was right after building.
type recorded struct {
	git.TreeEntry
	stamp stamp
}

// Build writes the files of a commit or tree into dir, which must not exist;
// its parent is made: scans work in it. Links, modes and
// line ends are as the commit's own attributes say. Neither filters nor
// anything else that the repository or its user configure take part.
func Build(ctx context.Context, repo *git.Repo, treeish, dir string, o Options) (*Tree, error) {
	t := &Tree{Dir: dir, repo: repo}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, fmt.Errorf("build tree: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("build tree: %w", err)
	}
	self, err := os.Lstat(dir)
	if err != nil {
		return nil, fmt.Errorf("build tree: %w", err)
	}
	t.self = self
	if err := t.fill(ctx, treeish, o); err != nil {
		return nil, errors.Join(fmt.Errorf("build tree of %s: %w", treeish, err), RemoveAll(dir))
	}
	return t, nil
}

func (t *Tree) fill(ctx context.Context, treeish string, o Options) (err error) {
	id, ok, err := t.repo.TreeOf(ctx, treeish)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("%s is no commit or tree of the repository", treeish)
	}
	t.id = id
	c, err := newControl(t.repo, filepath.Dir(t.Dir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.remove()) }()
	entries, err := t.repo.LsTree(ctx, treeish)
	if err != nil {
		return err
	}
	if err := t.complete(ctx); err != nil {
		return err
	}
	if _, err := c.run(ctx, git.Input{}, "read-tree", t.id); err != nil {
		return err
	}
	if _, err := c.run(ctx, git.Input{WorkTree: t.Dir}, "checkout-index", "--index", "--quiet", "--all"); err != nil {
		return err
	}
	if err := t.record(c, entries); err != nil {
		return err
	}
	if err := t.share(ctx, o.Share); err != nil {
		return err
	}
	if o.Head == "" {
		return nil
	}
	return t.addRepository(ctx, c, o.Head)
}

// record remembers every tracked file's stamp, to tell later what changed.
func (t *Tree) record(c *control, entries []git.TreeEntry) (err error) {
	t.entries = make(map[string]recorded, len(entries))
	for _, entry := range entries {
		written := recorded{TreeEntry: entry}
		if info, err := os.Lstat(t.path(entry.Path)); err == nil {
			written.stamp = stampOf(info)
		}
		t.entries[entry.Path] = written
	}
	t.built = settle(c.dir)
	t.index, err = os.ReadFile(c.path("index"))
	return err
}

// path is that of an entry, whose name is clean.
func (t *Tree) path(name string) string {
	return t.Dir + string(filepath.Separator) + filepath.FromSlash(name)
}

func (t *Tree) unstage() error {
	c := t.staged
	t.staged = nil
	if c == nil {
		return nil
	}
	return c.remove()
}

// RemoveAll deletes dir and all below it, also where directories are read-only
// or closed. Links are deleted and not followed.
func RemoveAll(dir string) error { return files.RemoveAll(dir) }
