package sandbox

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
	"slices"
	"strings"

	"github.com/org/autoloop/internal/decision"
)

const (
	// maxEntries and maxBytes bound a directory that is copied.
	maxEntries = 100_000
	maxBytes   = 2 << 30
	// maxDepth bounds how deep directories are followed.
	maxDepth = 64
)

// scan reads a directory.
type scan struct {
	root *os.Root
	// where names the directory in errors.
	where string
	// keep says which paths count, and within whether any path below a directory
	// can; nil is all of them.
	keep, within func(path string) bool
	// lenient takes what an agent left as it is: what cannot be copied or read is
	// an entry without a sum, not an error, and too much is cut off.
	lenient bool

	entries Manifest
	bytes   int64
}

// read lists the directory and all below it but git directories. It follows no
// links.
func (s *scan) read(ctx context.Context) (Manifest, error) {
	if err := s.walk(ctx, "."); err != nil {
		return nil, err
	}
	slices.SortFunc(s.entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return s.entries, nil
}

func (s *scan) walk(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if strings.Count(dir, "/") >= maxDepth {
		return s.refuse(dir, "is too deep")
	}
	names, err := namesIn(s.root, dir)
	if err != nil {
		return s.refuse(dir, "cannot be read: "+reason(err))
	}
	for _, name := range names {
		if decision.DotGit(name) {
			continue
		}
		if err := s.visit(ctx, path.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

func namesIn(root *os.Root, dir string) ([]string, error) {
	file, err := root.Open(filepath.FromSlash(dir))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return file.Readdirnames(-1)
}

func (s *scan) visit(ctx context.Context, name string) error {
	info, err := s.root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return s.refuse(name, "cannot be read: "+reason(err))
	}
	if info.IsDir() && s.within != nil && !s.within(name) {
		return nil
	}
	if !info.IsDir() && s.keep != nil && !s.keep(name) {
		return nil
	}
	if len(s.entries) >= maxEntries {
		return s.refuse(name, fmt.Sprintf("is one path too many: at most %d are copied", maxEntries))
	}
	entry := Entry{Path: name, Mode: info.Mode().Type() | info.Mode().Perm()}
	switch {
	case info.IsDir():
		if s.keep == nil || s.keep(name) {
			s.entries = append(s.entries, entry)
		}
		return s.walk(ctx, name)
	case entry.link():
		return s.addLink(entry)
	case !entry.regular():
		if s.lenient {
			s.entries = append(s.entries, entry)
			return nil
		}
		return s.refuse(name, "is neither a file nor a directory nor a link")
	}
	return s.addFile(entry, info)
}

func (s *scan) addLink(entry Entry) error {
	target, err := s.root.Readlink(filepath.FromSlash(entry.Path))
	if err != nil {
		return s.refuse(entry.Path, "is a link that cannot be read")
	}
	entry.Link, entry.Mode = target, fs.ModeSymlink
	s.entries = append(s.entries, entry)
	return nil
}

func (s *scan) addFile(entry Entry, info fs.FileInfo) error {
	entry.Size = info.Size()
	if s.bytes += entry.Size; s.bytes > maxBytes {
		if !s.lenient {
			return s.refuse(entry.Path, fmt.Sprintf("makes it larger than %d bytes", int64(maxBytes)))
		}
		s.bytes -= entry.Size
		s.entries = append(s.entries, entry)
		return nil
	}
	sum, err := sumOf(s.root, entry.Path)
	if err != nil && !s.lenient {
		return s.refuse(entry.Path, "cannot be read: "+reason(err))
	}
	entry.Sum = sum
	s.entries = append(s.entries, entry)
	return nil
}

// refuse is an error, or nil where whatever is there is taken.
func (s *scan) refuse(name, why string) error {
	if s.lenient {
		return nil
	}
	return &RefusedError{Where: s.where, Path: name, Reason: why}
}

// sumOf reads a regular file and returns its SHA-256 in hex.
func sumOf(root *os.Root, name string) (string, error) {
	file, err := openRegular(root, name)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// openRegular opens a file for reading that is no link and no pipe.
func openRegular(root *os.Root, name string) (*os.File, error) {
	local := filepath.FromSlash(name)
	before, err := root.Lstat(local)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	file, err := root.OpenFile(local, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	if after, err := file.Stat(); err != nil || !os.SameFile(before, after) {
		_ = file.Close()
		return nil, fmt.Errorf("%s was replaced while it was read", name)
	}
	return file, nil
}

// reason is an error without the path that the reader knows already.
func reason(err error) string {
	var known *fs.PathError
	if errors.As(err, &known) {
		return known.Err.Error()
	}
	return err.Error()
}
