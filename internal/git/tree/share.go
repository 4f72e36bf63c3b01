package tree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

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
	defer func() { _ = root.Close() }()
	for _, written := range paths {
		name := path.Clean(written)
		source, err := t.shareable(ctx, name)
		if err != nil {
			return err
		}
		if err := copyInto(root, source, filepath.FromSlash(name)); err != nil {
			return fmt.Errorf("share %q: %w", name, err)
		}
		t.shared = append(t.shared, name)
	}
	for _, name := range modules {
		source := filepath.Join(t.repo.Root, filepath.FromSlash(name))
		if _, err := os.Lstat(filepath.Join(source, ".git")); err != nil {
			t.Absent = append(t.Absent, name)
			continue
		}
		if err := copyInto(root, source, filepath.FromSlash(name)); err != nil {
			return fmt.Errorf("copy submodule %q: %w", name, err)
		}
		t.shared = append(t.shared, name)
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

// maxShared bounds the shared files that are watched.
const maxShared = 100_000

func (t *Tree) recordShared() {
	t.sharedFiles, t.sharedDirs = map[string]stamp{}, map[string]stamp{}
	for _, name := range t.shared {
		_ = filepath.WalkDir(t.path(name), func(file string, entry fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // What cannot be read is not watched.
			}
			if len(t.sharedFiles) == maxShared {
				return filepath.SkipAll
			}
			info, err := entry.Info()
			relative, outside := filepath.Rel(t.Dir, file)
			switch {
			case err != nil || outside != nil: // gone again, so not watched
			case entry.IsDir():
				t.sharedDirs[filepath.ToSlash(relative)] = stampOf(info)
			default:
				t.sharedFiles[filepath.ToSlash(relative)] = stampOf(info)
			}
			return nil //nolint:nilerr // as above
		})
	}
}

// shareable returns where the ignored path is in the main checkout.
func (t *Tree) shareable(ctx context.Context, name string) (string, error) {
	if err := Shareable(ctx, t.repo, name); err != nil {
		return "", err
	}
	source, err := filepath.EvalSymlinks(filepath.Join(t.repo.Root, filepath.FromSlash(name)))
	if err != nil {
		return "", &ShareError{fmt.Sprintf("%q is not in the main checkout; create it there first", name)}
	}
	return source, nil
}

// Shareable says why the repository's rules let nobody share a path. Whether it is
// there, the machine that runs an iteration knows.
func Shareable(ctx context.Context, repo *git.Repo, name string) error {
	name = path.Clean(name)
	if !filepath.IsLocal(filepath.FromSlash(name)) || name == "." {
		return &ShareError{fmt.Sprintf("%q is no path inside the repository", name)}
	}
	in := git.Input{Stdin: []byte(plainly + name + "\x00")}
	ignored, err := repo.Run(ctx, in, "check-ignore", "-z", "--stdin")
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil || len(ignored) == 0 {
		return &ShareError{fmt.Sprintf("%q is not ignored by git; only ignored paths are copied", name)}
	}
	return nil
}

// copyInto copies source, and all below it, to name in root.
func copyInto(root *os.Root, source, name string) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return filepath.WalkDir(source, func(from string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Name() == ".git" { // of a submodule, and of those in it
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		relative, err := filepath.Rel(source, from)
		if err != nil {
			return err
		}
		err = copyOne(root, from, filepath.Join(name, relative), entry)
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	})
}

func copyOne(root *os.Root, from, to string, entry fs.DirEntry) error {
	switch {
	case entry.IsDir():
		return root.MkdirAll(to, 0o755)
	case entry.Type()&fs.ModeSymlink != 0:
		link, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return root.Symlink(link, to)
	case entry.Type().IsRegular():
		return copyContent(root, from, to)
	}
	return nil // sockets and pipes are of no use in a copy
}

// copyContent keeps mode and time: compiled files are checked by the latter.
func copyContent(root *os.Root, from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	target, err := root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(target, source); err != nil {
		_ = target.Close()
		return err
	}
	if err := target.Close(); err != nil {
		return err
	}
	return root.Chtimes(to, info.ModTime(), info.ModTime())
}
