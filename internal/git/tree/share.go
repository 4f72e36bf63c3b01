package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
)

// ShareError says why a path that a program shares cannot be copied.
type ShareError struct{ problem string }

// Error returns the problem.
func (e *ShareError) Error() string { return "share: " + e.problem }

// share copies ignored paths, such as node_modules, and the files of submodules from
// the main checkout. What the tree has already stays; links are copied as they are,
// but for the path itself, which may be a link to where the files really are.
func (t *Tree) share(ctx context.Context, paths []string) error {
	modules := t.submodules()
	if len(paths) == 0 && len(modules) == 0 {
		return nil
	}
	root, err := os.OpenRoot(t.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, written := range paths {
		name := path.Clean(written)
		source, err := t.shareable(ctx, name)
		if err != nil {
			return err
		}
		if err := copyInto(ctx, root, source, name); err != nil {
			return fmt.Errorf("share %q: %w", name, err)
		}
		t.Shared = append(t.Shared, name)
	}
	for _, name := range modules {
		source := filepath.Join(t.repo.Root, name)
		if _, err := os.Lstat(filepath.Join(source, ".git")); err != nil {
			t.Absent = append(t.Absent, name)
			continue
		}
		if err := copyInto(ctx, root, source, name); err != nil {
			return fmt.Errorf("copy submodule %q: %w", name, err)
		}
		t.Shared = append(t.Shared, name)
	}
	t.recordShared()
	return nil
}

// submodules are the paths of the tree's submodules, in order.
func (t *Tree) submodules() []string {
	var names []string
	for name, entry := range t.entries {
		if entry.Type == "commit" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// maxShared bounds the shared files and directories that are watched.
const maxShared = 100_000

func (t *Tree) recordShared() {
	t.sharedStamps = map[string]stamp{}
	for _, name := range t.Shared {
		_ = filepath.WalkDir(t.path(name), func(file string, _ fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // What cannot be read is not watched.
			}
			if len(t.sharedStamps) == maxShared {
				return filepath.SkipAll
			}
			relative, err := filepath.Rel(t.Dir, file)
			if err == nil {
				relative = filepath.ToSlash(relative)
				t.sharedStamps[relative] = t.stamp(relative)
			}
			return err
		})
	}
}

// shareable returns where the ignored path is in the main checkout.
func (t *Tree) shareable(ctx context.Context, name string) (string, error) {
	if err := Shareable(ctx, t.repo, name); err != nil {
		return "", err
	}
	source, err := filepath.EvalSymlinks(filepath.Join(t.repo.Root, name))
	if err != nil {
		return "", &ShareError{fmt.Sprintf("%q is not in the main checkout; create it there first", name)}
	}
	return source, nil
}

// Shareable says why the repository's rules let nobody share a path. Whether it is
// there, the machine that runs an iteration knows.
func Shareable(ctx context.Context, repo *git.Repo, name string) error {
	name = path.Clean(name)
	if !filepath.IsLocal(name) || name == "." {
		return &ShareError{fmt.Sprintf("%q is no path inside the repository", name)}
	}
	in := git.Input{Stdin: []byte(plainly + name + "\x00")}
	ignored, err := repo.RunWith(ctx, in, "check-ignore", "-z", "--stdin")
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil || len(ignored) == 0 {
		return &ShareError{fmt.Sprintf("%q is not ignored by git; only ignored paths are copied", name)}
	}
	return nil
}

// copyInto copies source, and all below it but git's own, to name in root, with modes and times:
// compiled files are checked by the latter. Sockets and pipes are of no use in a copy.
func copyInto(ctx context.Context, root *os.Root, source, name string) error {
	info, err := os.Stat(source)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return err
	}
	copier := files.Copier{Beside: true, Into: root, Mode: func(e files.Entry) fs.FileMode {
		if e.IsDir() {
			return 0o755
		}
		return e.Mode.Perm() | 0o600
	}}
	if !info.IsDir() {
		file, err := os.Open(source)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		if err = root.MkdirAll(filepath.Dir(name), 0o755); err == nil {
			err = copier.File(files.Entry{Path: filepath.ToSlash(name), Mode: info.Mode()}, file)
		}
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	if err := root.MkdirAll(name, 0o755); err != nil {
		return err
	}
	if copier.From, err = os.OpenRoot(source); err != nil {
		return err
	}
	defer copier.From.Close()
	if copier.Into, err = root.OpenRoot(name); err != nil {
		return err
	}
	defer copier.Into.Close()
	scanner := files.Scanner{Root: copier.From, Skip: func(name string) bool { return path.Base(name) == ".git" }}
	found, err := scanner.List(ctx)
	if err != nil {
		return err
	}
	return copier.Copy(ctx, slices.DeleteFunc(found, files.Entry.IsSpecial))
}
