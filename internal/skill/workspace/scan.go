package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/files"
)

// The bounds of a snapshot: what is beyond them is refused by name.
const (
	maxEntries = 200_000
	maxBytes   = 4 << 30
)

// listing is what is below a directory.
type listing struct {
	root *os.Root
	tree Tree
	// kept are the paths of every `.git`, which nothing here touches.
	kept []string
}

// list finds all that is below dir, without reading the files. The caller
// closes its root.
func list(ctx context.Context, dir string) (l *listing, err error) {
	if err := isDirectory(dir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = root.Close()
		}
	}()
	l = &listing{root: root}
	scanner := files.Scanner{Root: root, MaxEntries: maxEntries, Skip: func(name string) bool {
		isGit := strings.EqualFold(path.Base(name), ".git") // git's own directory, or the file that stands for one
		if isGit {
			l.kept = append(l.kept, name)
		}
		return isGit
	}}
	l.tree, err = scanner.List(ctx)
	if _, is := errors.AsType[*files.LimitError](err); is {
		return nil, fmt.Errorf("%s has more than %d entries", dir, maxEntries)
	}
	if _, bytes := l.tree.Files(); err == nil && bytes > maxBytes {
		return nil, fmt.Errorf("%s has %d MB; at most %d MB are kept", dir, bytes>>20, maxBytes>>20)
	}
	return l, err
}

// hash reads the files, and fills in what they are.
func (l *listing) hash(ctx context.Context) error {
	return (&files.Scanner{Root: l.root}).Hash(ctx, l.tree)
}

// Scan reads a directory as it is. What no snapshot could be made of is an
// error.
func Scan(ctx context.Context, dir string) (Tree, error) {
	l, err := list(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.root.Close() }()
	if fault := faultOf(l.tree); fault != "" {
		return nil, fmt.Errorf("%s: %s", dir, fault)
	}
	if err := l.hash(ctx); err != nil {
		return nil, err
	}
	return l.tree, nil
}

// protects reports whether there is a `.git` below a path.
func (l *listing) protects(name string) bool {
	return slices.ContainsFunc(l.kept,
		func(kept string) bool { return name == "." || strings.HasPrefix(kept, name+"/") })
}

// slashed is a link's target as decision.Links takes it.
func slashed(target string) string {
	if filepath.IsAbs(target) {
		return "/"
	}
	return filepath.ToSlash(target)
}

// ManifestFile is where the manifest of a snapshot is.
func ManifestFile(snapshot string) string { return filepath.Clean(snapshot) + ".manifest.json" }

// nextFile is where the manifest waits while a snapshot is replaced.
func nextFile(snapshot string) string { return hidden(snapshot, "manifest-next") }

// hidden is a name beside a directory, for what is only there during the work.
func hidden(dir, purpose string) string {
	return filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+"."+purpose)
}

// real is the absolute path of a directory that may not exist yet, with the
// links on the way followed.
func resolve(dir string) (string, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if found, err := filepath.EvalSymlinks(absolute); err == nil {
		return found, nil
	}
	if info, err := os.Lstat(absolute); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return "", fmt.Errorf("%s is a link that leads nowhere", dir)
	}
	if filepath.Dir(absolute) == absolute {
		return absolute, nil
	}
	parent, err := resolve(filepath.Dir(absolute))
	return filepath.Join(parent, filepath.Base(absolute)), err
}

// apart resolves two directories, and refuses them when one is in the other, or is the
// other.
func apart(from, to string) (a, b string, err error) {
	if a, err = resolve(from); err != nil {
		return "", "", err
	}
	if b, err = resolve(to); err != nil {
		return "", "", err
	}
	for _, pair := range [][2]string{{a, b}, {b, a}} {
		relative, err := filepath.Rel(pair[0], pair[1])
		if err == nil && relative != ".." && !strings.HasPrefix(relative, ".."+string(filepath.Separator)) {
			return "", "", fmt.Errorf("%s is in %s; keep the two apart", pair[1], pair[0])
		}
	}
	return a, b, nil
}

// isDirectory says why a path is no directory.
func isDirectory(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no directory", dir)
	}
	return nil
}
