package tree

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/org/autoloop/internal/git"
)

// control is a git directory of our own for a few commands, in a new directory
// that is removed before anything foreign runs again. It borrows the objects of
// the real repository and has none of its configuration, attributes, hooks and
// refs; the objects that it writes stay with it.
type control struct {
	repo *git.Repo
	dir  string
}

func newControl(repo *git.Repo, parent string) (*control, error) {
	dir, err := os.MkdirTemp(parent, "git-")
	if err != nil {
		return nil, err
	}
	c := &control{repo: repo, dir: dir}
	if err := initRepository(c.path("git"), repo, "ref: refs/heads/none", ""); err != nil {
		_ = c.remove()
		return nil, err
	}
	for _, name := range []string{"work", "rules"} {
		if err := os.Mkdir(c.path(name), 0o700); err != nil {
			_ = c.remove()
			return nil, err
		}
	}
	return c, nil
}

// path names a thing in the control directory: git, index, work (copies of
// changed files at their places), rules (the incumbent's .gitignore and
// .gitattributes files).
func (c *control) path(name string) string { return filepath.Join(c.dir, name) }

// run runs git with this directory and index; the work tree is "work" unless
// the input names another. The index counts as younger than all of its files: otherwise git
// looks again for every one that was written in the same second.
func (c *control) run(ctx context.Context, in git.Input, args ...string) ([]byte, error) {
	later := time.Now().Add(time.Minute)
	_ = os.Chtimes(c.path("index"), later, later)
	in.WorkTree = cmp.Or(in.WorkTree, c.path("work"))
	in.Env = append([]string{
		"GIT_INDEX_FILE=" + c.path("index"),
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
	}, in.Env...)
	return c.repo.At(c.path("git")).RunWith(ctx, in, args...)
}

func (c *control) remove() error { return os.RemoveAll(c.dir) }
