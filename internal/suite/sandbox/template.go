package sandbox

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
)

// Template is what a task begins with: its fixture with a configuration applied,
// kept where fresh copies are made from it.
type Template struct {
	// Dir has the files.
	Dir string
	// Manifest says what they were when the template was made; a copy of anything
	// else is an error.
	Manifest Manifest
}

// Fixture is the directory that a task begins with.
type Fixture struct {
	// Name is what errors call it, Dir where it is.
	Name, Dir string
	// Leave says which paths are not copied, such as the task's own file; nil
	// copies all. Git directories are never copied.
	Leave func(path string) bool
	// At is where it stands in a sandbox: a clean path with slashes; "" is the root.
	At string
}

// Inspect reads a fixture as Compose does and writes nothing. What cannot be
// put into a sandbox is a *misuse.Error.
func Inspect(ctx context.Context, fixture Fixture) error {
	return fixture.open(ctx, func(*os.Root, Manifest) error { return nil })
}

// open reads a fixture, and does something with it.
func (f Fixture) open(ctx context.Context, do func(source *os.Root, found Manifest) error) error {
	source, err := os.OpenRoot(f.Dir)
	if err != nil {
		return fmt.Errorf("open the %s: %w", f.Name, err)
	}
	defer func() { _ = source.Close() }()
	reading := scanner(source, f.Name)
	if f.Leave != nil {
		reading.Keep = func(path string) bool { return !f.Leave(path) }
	}
	found, err := read(ctx, reading, f.Name)
	if err == nil {
		err = checkLinks(source, found, f.Name, true)
	}
	if err != nil {
		return err
	}
	return do(source, found)
}

// Compose makes a template in dir, which must not exist, of several parts, with empty
// directories besides, and applies a configuration, nil for none. A path that two parts
// have, and what cannot be put into a sandbox, is an error: a *misuse.Error of what is called
// name.
func Compose(ctx context.Context, dir, name string, parts []Fixture, overlay *Overlay,
	empty ...string,
) (*Template, error) {
	root, err := newRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	for _, part := range parts {
		if err := part.copyTo(ctx, root); err != nil {
			return nil, err
		}
	}
	for _, below := range empty {
		if err := root.MkdirAll(filepath.FromSlash(below), 0o755); err != nil {
			return nil, fmt.Errorf("make %s: %w", below, err)
		}
	}
	if overlay != nil {
		if err := overlay.apply(root); err != nil {
			return nil, err
		}
	}
	built, err := read(ctx, scanner(root, name), name)
	if err == nil && overlay != nil {
		err = checkLinks(root, overlay.Files, overlay.Name, false)
	}
	if err != nil {
		return nil, err
	}
	return &Template{Dir: dir, Manifest: built}, checkLinks(root, built, name, true)
}

func (f Fixture) copyTo(ctx context.Context, root *os.Root) error {
	return f.open(ctx, func(source *os.Root, found Manifest) error {
		local := filepath.FromSlash(path.Clean(f.At))
		err := root.MkdirAll(local, 0o755)
		var place *os.Root
		if err == nil {
			place, err = root.OpenRoot(local)
		}
		if err == nil {
			defer func() { _ = place.Close() }()
			err = copyTree(ctx, source, place, found)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", f.Name, err)
		}
		return err
	})
}

// newRoot makes a directory that must not exist and opens it.
func newRoot(dir string) (*os.Root, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

// copyTree writes the entries of a manifest from one directory to another that
// is empty. Content that differs from the manifest is an error: nobody may
// change what the next sandbox is made of.
func copyTree(ctx context.Context, from, to *os.Root, m Manifest) error {
	err := copier(from, to).Copy(ctx, m)
	if errors.Is(err, files.ErrChanged) {
		err = fmt.Errorf("%w; leave the fixtures as they are while the suite runs, and run it again", err)
	}
	return err
}

// copier keeps permissions and times. The owner of a directory can always work in it.
func copier(from, to *os.Root) *files.Copier {
	return &files.Copier{
		From: from, Into: to, Mode: func(e Entry) fs.FileMode {
			if e.IsDir() {
				return e.Mode.Perm() | 0o700
			}
			return e.Mode.Perm()
		},
		Finish: func(e Entry, source, _ *os.File) error {
			if e.IsDir() {
				return nil
			}
			info, err := source.Stat()
			if err != nil {
				return err
			}
			return to.Chtimes(filepath.FromSlash(e.Path), info.ModTime(), info.ModTime())
		},
	}
}

// maxConfig bounds all files of a configuration.
const maxConfig = 64 << 20

// Overlay is a configuration: the files that are laid over every fixture. One that changes
// after it was read cannot be laid.
type Overlay struct {
	// Name is what errors call it, Dir where the files are.
	Name, Dir string
	// Files has regular files and links.
	Files Manifest
	// Absent are paths of the other configuration that this one does not have. They
	// are removed from a fixture that brings its own.
	Absent []string
}

// Selection says which files are a configuration, by their path, relative and
// with slashes.
type Selection interface {
	Match(path string) bool
	// Within reports whether Match can hold for anything below a directory.
	Within(dir string) bool
}

// ReadOverlay reads the selected files of dir. What is neither file nor link,
// and what is too large, is a *misuse.Error.
func ReadOverlay(ctx context.Context, name, dir string, selected Selection) (*Overlay, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the %s: %w", name, err)
	}
	defer func() { _ = root.Close() }()
	s := scanner(root, name)
	s.Keep, s.Within, s.MaxBytes = selected.Match, selected.Within, maxConfig
	all, err := read(ctx, s, name)
	if err != nil {
		return nil, err
	}
	return &Overlay{Name: name, Dir: dir, Files: slices.DeleteFunc(all, Entry.IsDir)}, nil
}

// Against notes in both which paths of the other they lack.
func (o *Overlay) Against(other *Overlay) {
	o.Absent, other.Absent = other.without(o), o.without(other)
}

// without lists the paths of o that other does not have.
func (o *Overlay) without(other *Overlay) []string {
	var paths []string
	for _, e := range o.Files {
		if _, there := other.Files.Find(e.Path); !there {
			paths = append(paths, e.Path)
		}
	}
	return paths
}

// apply lays the configuration over the fixture in root.
func (o *Overlay) apply(root *os.Root) error {
	for _, name := range o.Absent {
		if err := removeFile(root, name); err != nil {
			return fmt.Errorf("remove %s, which the %s does not have: %w", name, o.Name, err)
		}
	}
	source, err := os.OpenRoot(o.Dir)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	for _, e := range o.Files {
		if err := place(source, root, e); err != nil {
			return fmt.Errorf("apply %s of the %s: %w", e.Path, o.Name, err)
		}
	}
	return nil
}

// removeFile removes a file or link, and the directories that it leaves empty.
// A directory of that name is the fixture's own and stays, and so does what lies
// behind a link.
func removeFile(root *os.Root, name string) error {
	if blocked(root, name) != "" {
		return nil
	}
	local := filepath.FromSlash(name)
	if info, err := root.Lstat(local); err == nil && info.IsDir() {
		return nil
	}
	if err := root.Remove(local); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var full error
	for dir := path.Dir(name); dir != "." && full == nil; dir = path.Dir(dir) {
		full = root.Remove(filepath.FromSlash(dir))
	}
	return nil
}

// place puts one file or link where it belongs; what the fixture has in its way
// goes.
func place(source, root *os.Root, e Entry) error {
	if in := blocked(root, e.Path); in != "" {
		if err := root.Remove(filepath.FromSlash(in)); err != nil {
			return err
		}
	}
	local := filepath.FromSlash(e.Path)
	if err := root.RemoveAll(local); err != nil {
		return err
	}
	if err := root.MkdirAll(filepath.Dir(local), 0o755); err != nil {
		return err
	}
	return copier(source, root).Entry(&e)
}

// blocked names the first part of the way to a path that is no directory, or
// "".
func blocked(root *os.Root, name string) string {
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		info, err := root.Lstat(filepath.FromSlash(name[:i]))
		if err != nil {
			return ""
		}
		if !info.IsDir() {
			return name[:i]
		}
	}
	return ""
}
