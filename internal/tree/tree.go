// Package tree builds throw-away trees: plain directories with the files of a
// commit, in which agents and evaluations work. Nothing is read back from them
// but file contents and modes.
package tree

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/git"
)

// Builder builds trees from one repository.
type Builder struct{ Repo *git.Repo }

// Options change how a tree is built.
type Options struct {
	// Git gives the tree a throw-away .git with the commit as HEAD, so that an
	// agent can look at history and differences.
	Git bool
	// Share lists git-ignored paths that are copied from the main checkout.
	Share []string
}

// Tree is a built tree.
type Tree struct {
	// Dir is the tree's absolute path.
	Dir string

	repo    *git.Repo
	treeish string
	private string // beside Dir: our index, and rules for ignored files
	entries map[string]recorded
	shared  []string
}

// recorded is a tracked file as it was right after building.
type recorded struct {
	entry git.Entry
	stamp stamp
}

// Build writes the files of a commit or tree into dir, which must not exist.
// Links, modes and line ends are as the commit's own attributes say; filters
// do not run.
func (b *Builder) Build(ctx context.Context, treeish, dir string, o Options) (*Tree, error) {
	t := &Tree{Dir: dir, repo: b.Repo, treeish: treeish, private: dir + ".private", entries: map[string]recorded{}}
	for _, path := range []string{t.Dir, t.private} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, fmt.Errorf("build tree: %w", err)
		}
	}
	if err := t.checkout(ctx); err != nil {
		_ = t.Remove()
		return nil, fmt.Errorf("build tree of %s: %w", treeish, err)
	}
	if err := t.share(ctx, o.Share); err != nil {
		_ = t.Remove()
		return nil, err
	}
	if o.Git {
		if err := t.addRepository(ctx); err != nil {
			_ = t.Remove()
			return nil, fmt.Errorf("build tree of %s: %w", treeish, err)
		}
	}
	if err := t.record(ctx); err != nil {
		_ = t.Remove()
		return nil, err
	}
	return t, nil
}

func (t *Tree) index() string { return filepath.Join(t.private, "index") }

func (t *Tree) input() git.Input {
	return git.Input{Env: []string{"GIT_INDEX_FILE=" + t.index()}, WorkTree: t.Dir}
}

func (t *Tree) checkout(ctx context.Context) error {
	if _, err := t.repo.Run(ctx, t.input(), "read-tree", t.treeish); err != nil {
		return err
	}
	in := t.input()
	in.Settings = []git.Setting{{Key: "checkout.workers", Value: "2"}}
	_, err := t.repo.Run(ctx, in, "checkout-index", "--all", "--index", "--quiet", "--force")
	return err
}

// record remembers every tracked file's stamp, to tell later what changed.
func (t *Tree) record(ctx context.Context) error {
	entries, err := t.repo.LsTree(ctx, t.treeish)
	if err != nil {
		return err
	}
	settle(t.index())
	for _, entry := range entries {
		kept := recorded{entry: entry}
		if info, err := os.Lstat(t.path(entry.Path)); err == nil {
			kept.stamp = stampOf(info)
		}
		t.entries[entry.Path] = kept
	}
	return nil
}

func (t *Tree) path(name string) string { return filepath.Join(t.Dir, filepath.FromSlash(name)) }

// share copies ignored paths, such as node_modules, from the main checkout.
func (t *Tree) share(ctx context.Context, paths []string) error {
	for _, path := range paths {
		if !filepath.IsLocal(filepath.FromSlash(path)) || path == "." {
			return fmt.Errorf("share: %q is no path inside the repository", path)
		}
		ignored, err := t.repo.Run(ctx, git.Input{Stdin: []byte(path + "\x00")}, "check-ignore", "-z", "--stdin")
		if err != nil || len(ignored) == 0 {
			return fmt.Errorf("share: %q is not ignored by git; only ignored paths are copied", path)
		}
		source := filepath.Join(t.repo.Root, filepath.FromSlash(path))
		if _, err := os.Lstat(source); err != nil {
			return fmt.Errorf("share: %q is not in the main checkout; create it there first", path)
		}
		if err := copyAll(source, t.path(path)); err != nil {
			return fmt.Errorf("share %s: %w", path, err)
		}
		t.shared = append(t.shared, strings.TrimSuffix(path, "/"))
	}
	return nil
}

func copyAll(source, target string) error {
	return filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		return copyOne(path, filepath.Join(target, relative), entry)
	})
}

func copyOne(source, target string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	switch {
	case entry.IsDir():
		return os.MkdirAll(target, 0o755)
	case info.Mode()&fs.ModeSymlink != 0:
		link, err := os.Readlink(source)
		if err != nil {
			return err
		}
		return os.Symlink(link, target)
	case info.Mode().IsRegular():
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		data, err := os.ReadFile(source)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, info.Mode().Perm())
	}
	return nil
}

// Remove deletes the tree, read-only directories in it too.
func (t *Tree) Remove() error {
	for _, dir := range []string{t.Dir, t.private} {
		if err := RemoveAll(dir); err != nil {
			return fmt.Errorf("remove tree: %w", err)
		}
	}
	return nil
}

// RemoveAll deletes dir and all below it, also where directories are read-only.
func RemoveAll(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
