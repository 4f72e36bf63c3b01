package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"
)

// The bounds of a snapshot: what is beyond them is refused by name.
const (
	maxEntries = 200_000
	maxBytes   = 4 << 30
)

// workers is how many files are read or written at the same time.
const workers = 8

// listing is what is below a directory.
type listing struct {
	root *os.Root
	tree Tree
	// kept are the paths of every `.git`, which nothing here touches.
	kept []string
}

// list finds all that is below dir, without reading the files. The caller
// closes its root.
func list(ctx context.Context, dir string) (*listing, error) {
	if err := isDirectory(dir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	l := &listing{root: root, tree: Tree{}}
	if err := l.walk(ctx, "."); err != nil {
		_ = root.Close()
		return nil, err
	}
	l.tree.sort()
	if count, bytes := len(l.tree), l.bytes(); count > maxEntries || bytes > maxBytes {
		_ = root.Close()
		return nil, fmt.Errorf("%s has %d entries and %d MB; at most %d entries and %d MB are kept", dir, count, bytes>>20, maxEntries, maxBytes>>20)
	}
	return l, nil
}

func (l *listing) bytes() int64 {
	_, bytes := l.tree.files()
	return bytes
}

func (l *listing) walk(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	file, err := l.root.Open(filepath.FromSlash(dir))
	if err != nil {
		return err
	}
	names, err := file.Readdirnames(-1)
	_ = file.Close()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := l.add(ctx, path.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// add notes one entry, and what is below it.
func (l *listing) add(ctx context.Context, name string) error {
	if isGit(path.Base(name)) {
		l.kept = append(l.kept, name)
		return nil
	}
	info, err := l.root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return err
	}
	entry := Entry{Path: name, Kind: special}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		entry.Kind, entry.Mode, entry.Size = File, mode.Perm(), info.Size()
	case mode.IsDir():
		entry.Kind, entry.Mode = Directory, mode.Perm()
	case mode&fs.ModeSymlink != 0:
		entry.Kind = Link
		if entry.Target, err = l.root.Readlink(filepath.FromSlash(name)); err != nil {
			return err
		}
	}
	if l.tree = append(l.tree, entry); len(l.tree) > maxEntries {
		return fmt.Errorf("%s has more than %d entries", l.root.Name(), maxEntries)
	}
	if entry.Kind != Directory {
		return nil
	}
	return l.walk(ctx, name)
}

// hash reads every file and fills in what it is.
func (l *listing) hash(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for i := range l.tree {
		entry := &l.tree[i]
		if entry.Kind != File {
			continue
		}
		group.Go(func() (err error) {
			if err := ctx.Err(); err != nil {
				return err
			}
			entry.SHA256, entry.Size, err = l.copyTo(io.Discard, entry.Path)
			return err
		})
	}
	return group.Wait()
}

// copyTo copies a regular file and returns its digest and size.
func (l *listing) copyTo(into io.Writer, name string) (digest string, size int64, err error) {
	file, err := l.root.Open(filepath.FromSlash(name))
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", 0, errors.Join(fmt.Errorf("%q is no regular file any more", name), err)
	}
	sum := sha256.New()
	size, err = io.Copy(io.MultiWriter(sum, into), file)
	return hex.EncodeToString(sum.Sum(nil)), size, err
}

// Scan reads a directory as it is. What no snapshot could be made of is an
// error.
func Scan(ctx context.Context, dir string) (Tree, error) {
	l, err := list(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.root.Close() }()
	if fault := l.tree.fault(); fault != "" {
		return nil, fmt.Errorf("%s: %s", dir, fault)
	}
	if err := l.hash(ctx); err != nil {
		return nil, err
	}
	return l.tree, nil
}

// protects reports whether there is a `.git` below a path.
func (l *listing) protects(name string) bool {
	for _, kept := range l.kept {
		if name == "." || len(kept) > len(name) && kept[:len(name)] == name && kept[len(name)] == '/' {
			return true
		}
	}
	return false
}

// isGit reports whether a name is that of git's own directory, or of the file
// that stands for one, which nothing here touches.
func isGit(name string) bool { return strings.EqualFold(name, ".git") }
