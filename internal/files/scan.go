package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

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
	if err := s.walk(ctx, "."); err != nil {
		return nil, err
	}
	s.found.Sort()
	return s.found, nil
}

// Read is List with the digests of the files that can be read within the bounds.
func (s *Scanner) Read(ctx context.Context) (Manifest, error) {
	found, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	total := int64(0)
	for i := range found {
		e := &found[i]
		if !e.IsFile() {
			continue
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		size, sum := e.Size, ""
		if s.MaxBytes > 0 && total+size > s.MaxBytes {
			err = &LimitError{fmt.Sprintf("makes it larger than %d bytes", s.MaxBytes)}
		} else {
			total += size
			size, sum, err = s.digest(e.Path)
		}
		if err == nil {
			e.Size, e.SHA256 = size, sum
		} else if err = s.fault(e.Path, err); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// digest reads a file whole.
func (s *Scanner) digest(name string) (size int64, sum string, err error) {
	source, err := OpenRegular(s.Root, name)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = source.Close() }()
	return hashed(io.Discard, source)
}

func (s *Scanner) fault(name string, err error) error {
	if s.Fault == nil {
		return err
	}
	return s.Fault(name, err)
}

// walk lists a directory.
func (s *Scanner) walk(ctx context.Context, dir string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.MaxDepth > 0 && strings.Count(dir, "/") >= s.MaxDepth {
		return s.fault(dir, &LimitError{"is too deep"})
	}
	open, err := s.Root.OpenFile(dir, os.O_RDONLY|NonBlocking, 0)
	if err != nil {
		return s.fault(dir, err)
	}
	names, err := open.Readdirnames(-1)
	if err = errors.Join(err, open.Close()); err != nil {
		return s.fault(dir, err)
	}
	for _, name := range names {
		if err := s.visit(ctx, path.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// visit takes in one path, and what is below it.
func (s *Scanner) visit(ctx context.Context, path string) error {
	if s.Skip != nil && s.Skip(path) {
		return nil
	}
	info, err := s.Root.Lstat(path)
	if err != nil {
		return s.fault(path, err)
	}
	if info.IsDir() && s.Within != nil && !s.Within(path) {
		return nil
	}
	if s.Keep == nil || s.Keep(path) {
		err = s.add(path, info)
	}
	if err == nil && info.IsDir() {
		err = s.walk(ctx, path)
	}
	return err
}

func (s *Scanner) add(path string, info fs.FileInfo) (err error) {
	if s.MaxEntries > 0 && len(s.found) >= s.MaxEntries {
		return s.fault(path, &LimitError{fmt.Sprintf("is one path too many: there may be %d", s.MaxEntries)})
	}
	entry := Entry{Path: path, Mode: info.Mode().Type() | info.Mode().Perm()}
	switch {
	case entry.IsFile():
		entry.Size = info.Size()
	case entry.IsLink():
		entry.Mode = fs.ModeSymlink
		if entry.Target, err = s.Root.Readlink(path); err != nil {
			return s.fault(path, err)
		}
	}
	s.found = append(s.found, entry)
	return nil
}

// NonBlocking keeps an open from waiting at a pipe that was put in a file's place.
const NonBlocking = syscall.O_NONBLOCK

// OpenRegular opens a file for reading that is no link and no pipe, and that
// nobody replaces meanwhile. The path has slashes.
func OpenRegular(root *os.Root, name string) (*os.File, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is no regular file any more", name)
	}
	file, err := root.OpenFile(name, os.O_RDONLY|NonBlocking, 0)
	if err != nil {
		return nil, err
	}
	if after, err := file.Stat(); err != nil || !os.SameFile(before, after) {
		_ = file.Close()
		return nil, fmt.Errorf("%q was replaced while it was read", name)
	}
	return file, nil
}

// Unlinked is what stands at a clean path below a directory, or "." for that. A path that leads through a link is
// an error.
func Unlinked(dir, name string) (info fs.FileInfo, err error) {
	for part := range strings.SplitSeq(name, "/") {
		if info != nil && !info.IsDir() {
			return nil, fs.ErrNotExist
		}
		dir += "/" + part
		if info, err = os.Lstat(dir); err != nil {
			return nil, err
		}
	}
	return info, nil
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
