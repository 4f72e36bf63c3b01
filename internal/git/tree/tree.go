// Package tree builds throw-away trees: plain directories with the files of a
// commit, in which agents and evaluations work. Nothing is read back from them
// but file contents and modes.
package tree

import (
	"bytes"
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

// Builder builds trees from one repository, one at a time.
type Builder struct {
	Repo *git.Repo

	spare []*Tree // released
}

// Options change how a tree is built.
type Options struct {
	// Head is the commit that is HEAD of a throw-away .git in the tree, so that agents and
	// evaluations can ask for history, files and versions; "" makes none. A tree that is
	// not the commit's is shown as if it were: two trees that are compared have one version.
	Head string
	// Share lists git-ignored paths that are copied from the main checkout.
	Share []string
	// Measured says that numbers come of it: what stays of an earlier tree is read, and not
	// only seen to be untouched.
	Measured bool
}

// Tree is a built tree. While an agent or an evaluation runs in it, all that is
// known about it is in memory: beside Dir there is nothing of ours to tamper with.
type Tree struct {
	// Dir is the tree's absolute path.
	Dir string
	// Absent are the submodules that the main checkout does not have, Shared the paths that
	// were copied from it.
	Absent, Shared []string

	repo     *git.Repo
	builder  *Builder
	released bool
	id       string      // of the tree object
	self     fs.FileInfo // Dir
	entries  map[string]recorded
	index    []byte // that git has of the entries
	// directories are those with entries below them, as they were built.
	directories map[string]stamp
	// sharedStamps are those of the files and directories at and below the shared paths.
	sharedStamps map[string]stamp
	built        time.Time // by the clock of the file system
	staged       *control  // what the last Scan found; nil before
	found        string    // its tree object
	buffer       []byte    // for the next file that is read
}

// recorded is a tracked file as it was right after building.
type recorded struct {
	git.TreeEntry
	stamp stamp
}

// Build writes the files of a commit or tree into dir, which must not exist;
// its parent is made, and must be on the same file system. Links, modes and
// line ends are as the commit's own attributes say. Neither filters nor
// anything else that the repository or its user configure take part.
func (b *Builder) Build(ctx context.Context, treeish, dir string, o Options) (*Tree, error) {
	if t := b.reuse(ctx, treeish, dir, o); t != nil {
		return t, nil
	}
	t := &Tree{Dir: dir, repo: b.Repo, builder: b}
	err := os.MkdirAll(filepath.Dir(dir), 0o700)
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	if err == nil {
		t.self, err = os.Lstat(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("build tree: %w", err)
	}
	if err := t.fill(ctx, treeish, o); err != nil {
		return nil, errors.Join(fmt.Errorf("build tree of %s: %w", treeish, err), files.RemoveAll(dir))
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
	before := t.id
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
	kept, err := t.keep(entries, o.Measured)
	if err != nil {
		return err
	}
	if err := t.checkout(ctx, c, before, entries, kept); err != nil {
		return err
	}
	if err := t.record(c, entries, kept); err != nil {
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

// checkout writes the entries that are not there yet. What git knows of the others stays
// in its index, so that it need not read them.
func (t *Tree) checkout(ctx context.Context, c *control, before string, entries []git.TreeEntry,
	kept map[string]recorded,
) error {
	if err := t.complete(ctx); err != nil {
		return err
	}
	read := []string{"read-tree", t.id}
	if before != "" {
		read = []string{"read-tree", "-m", t.id}
		if err := os.WriteFile(c.path("index"), t.index, 0o600); err != nil {
			return err
		}
	}
	if before != t.id {
		if _, err := c.run(ctx, git.Input{}, read...); err != nil {
			return err
		}
	}
	var missing bytes.Buffer
	for _, entry := range entries {
		if _, there := kept[entry.Path]; !there {
			missing.WriteString(entry.Path + "\x00")
		}
	}
	if missing.Len() == 0 {
		return nil
	}
	_, err := c.run(ctx, git.Input{WorkTree: t.Dir, Stdin: missing.Bytes()}, "checkout-index", "--index", "--quiet",
		"-z", "--stdin")
	return err
}

// record remembers every tracked file's stamp, to tell later what changed.
func (t *Tree) record(c *control, entries []git.TreeEntry, kept map[string]recorded) (err error) {
	t.entries, t.directories = kept, map[string]stamp{}
	for _, entry := range entries {
		if _, there := kept[entry.Path]; there {
			continue
		}
		t.entries[entry.Path] = recorded{entry, t.stamp(entry.Path)}
	}
	for dir := range directoriesOf(t.entries) {
		t.directories[dir] = t.stamp(dir)
	}
	t.built = settle(c.dir)
	t.index, err = os.ReadFile(c.path("index"))
	return err
}

// path is that of an entry, whose name is clean.
func (t *Tree) path(name string) string {
	return t.Dir + string(filepath.Separator) + filepath.FromSlash(name)
}

// stamp is that of what is at a path now, the zero one of nothing.
func (t *Tree) stamp(name string) stamp {
	info, err := os.Lstat(t.path(name))
	if err != nil {
		return stamp{}
	}
	return stampOf(info)
}

func (t *Tree) unstage() error {
	c := t.staged
	t.staged = nil
	if c == nil {
		return nil
	}
	return c.remove()
}
