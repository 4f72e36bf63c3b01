package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"
)

// Workers is how many files are read or written at the same time.
func Workers() int {
	const most = 8
	return min(most, runtime.GOMAXPROCS(0))
}

// Scanner reads what is below a directory. It follows no links.
type Scanner struct {
	Root *os.Root
	// MaxEntries, MaxBytes and MaxDepth bound it; 0 is no bound.
	MaxEntries, MaxDepth int
	MaxBytes             int64
	// Skip passes over a path and all below it; nil skips nothing.
	Skip func(path string) bool
	// Keep says which paths are listed, and Within whether any below a directory
	// can be; nil is all of them.
	Keep, Within func(path string) bool
	// Fault decides over a path that cannot be taken: an error ends the scan, nil
	// leaves the path as far as it was read. Nil ends the scan at every fault.
	Fault func(path string, err error) error

	found Manifest
}

// LimitError says that a directory has more than a Scanner's bounds.
type LimitError struct{ Reason string }

// Error returns the reason, as a sentence about the path.
func (e *LimitError) Error() string { return e.Reason }

// List returns what is there, without reading the files.
func (s *Scanner) List(ctx context.Context) (Manifest, error) {
	s.found = Manifest{}
	if err := s.walk(ctx, s.Root, "."); err != nil {
		return nil, err
	}
	s.found.Sort()
	return s.found, nil
}

// Read is List with the digests of the files.
func (s *Scanner) Read(ctx context.Context) (Manifest, error) {
	found, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	return found, s.Hash(ctx, found)
}

func (s *Scanner) fault(name string, err error) error {
	if s.Fault == nil {
		return err
	}
	return s.Fault(name, err)
}

// walk lists a directory by its own root, so that no path is followed from the top
// for each name in it.
func (s *Scanner) walk(ctx context.Context, in *os.Root, dir string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.MaxDepth > 0 && strings.Count(dir, "/") >= s.MaxDepth {
		return s.fault(dir, &LimitError{"is too deep"})
	}
	names, err := namesIn(in)
	if err != nil {
		return s.fault(dir, at(dir, err))
	}
	for _, name := range names {
		if err := s.visit(ctx, in, name, path.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

func namesIn(root *os.Root) ([]string, error) {
	file, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return file.Readdirnames(-1)
}

// at gives an error of a directory's own root the whole path.
func at(name string, err error) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: of.Op, Path: name, Err: of.Err}
	}
	return err
}

// visit takes in one path, which has this name in its directory, and what is below
// it.
func (s *Scanner) visit(ctx context.Context, in *os.Root, name, path string) error {
	if s.Skip != nil && s.Skip(path) {
		return nil
	}
	info, err := in.Lstat(name)
	if err != nil {
		return s.fault(path, at(path, err))
	}
	if info.IsDir() && s.Within != nil && !s.Within(path) {
		return nil
	}
	if s.Keep == nil || s.Keep(path) {
		if err := s.add(in, name, path, info); err != nil {
			return err
		}
	}
	if !info.IsDir() {
		return nil
	}
	below, err := in.OpenRoot(name)
	if err != nil {
		return s.fault(path, at(path, err))
	}
	defer func() { _ = below.Close() }()
	return s.walk(ctx, below, path)
}

func (s *Scanner) add(in *os.Root, name, path string, info fs.FileInfo) (err error) {
	if s.MaxEntries > 0 && len(s.found) >= s.MaxEntries {
		return s.fault(path, &LimitError{fmt.Sprintf("is one path too many: there may be %d", s.MaxEntries)})
	}
	entry := Entry{Path: path, Mode: info.Mode().Type() | info.Mode().Perm()}
	switch {
	case entry.IsFile():
		entry.Size = info.Size()
	case entry.IsLink():
		entry.Mode = fs.ModeSymlink
		if entry.Target, err = in.Readlink(name); err != nil {
			return s.fault(path, at(path, err))
		}
	}
	s.found = append(s.found, entry)
	return nil
}

// Hash reads the files of a manifest that have no digest yet, and fills in what
// they are.
func (s *Scanner) Hash(ctx context.Context, m Manifest) error {
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(Workers())
	total, fault := int64(0), error(nil)
	for i := range m {
		e := &m[i]
		if !e.IsFile() || e.SHA256 != "" {
			continue
		}
		if total += e.Size; s.MaxBytes > 0 && total > s.MaxBytes {
			total -= e.Size
			if fault = s.fault(e.Path, &LimitError{fmt.Sprintf("makes it larger than %d bytes",
				s.MaxBytes)}); fault != nil {
				break
			}
			continue
		}
		group.Go(func() error {
			if within.Err() != nil {
				return context.Cause(within)
			}
			size, sum, err := Digest(s.Root, e.Path)
			if err != nil {
				return s.fault(e.Path, err)
			}
			e.Size, e.SHA256 = size, sum
			return nil
		})
	}
	return cmp.Or(fault, group.Wait())
}

// OpenRegular opens a file for reading that is no link and no pipe, and that
// nobody replaces meanwhile. The path has slashes.
func OpenRegular(root *os.Root, name string) (*os.File, error) {
	local := filepath.FromSlash(name)
	before, err := root.Lstat(local)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is no regular file any more", name)
	}
	file, err := root.OpenFile(local, os.O_RDONLY|NonBlocking, 0)
	if err != nil {
		return nil, err
	}
	if after, err := file.Stat(); err != nil || !os.SameFile(before, after) {
		_ = file.Close()
		return nil, fmt.Errorf("%q was replaced while it was read", name)
	}
	return file, nil
}

// ReadSmall reads a regular file of at most so many bytes. A link is refused.
func ReadSmall(name string, most int64) ([]byte, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fmt.Errorf("%s is no file of at most %d bytes", name, most)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, most))
}

// ReadRegular reads at most so many bytes of a file that OpenRegular opens.
func ReadRegular(root *os.Root, name string, most int64) ([]byte, error) {
	file, err := OpenRegular(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, most))
}
