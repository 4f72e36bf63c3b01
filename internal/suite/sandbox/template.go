package sandbox

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/misuse"
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

// Copy makes a fresh copy in a directory that must not exist.
func (t *Template) Copy(ctx context.Context, dir string) (*Template, error) {
	root, err := newRoot(dir)
	if err == nil {
		defer root.Close()
		err = copyDir(ctx, t.Dir, root, t.Manifest)
	}
	return t, err
}

// Inspect reads a fixture as Compose does and writes nothing. What cannot be
// put into a sandbox is a *misuse.Error.
func Inspect(ctx context.Context, fixture Fixture) error {
	source, _, err := fixture.open(ctx)
	if err == nil {
		err = source.Close()
	}
	return err
}

// open reads a fixture.
func (f Fixture) open(ctx context.Context) (source *os.Root, found Manifest, err error) {
	if source, err = os.OpenRoot(f.Dir); err != nil {
		return nil, nil, fmt.Errorf("open the %s: %w", f.Name, err)
	}
	reading := scanner(source, f.Name)
	if f.Leave != nil {
		reading.Keep = func(path string) bool { return !f.Leave(path) }
	}
	if found, err = read(ctx, reading, f.Name); err == nil {
		err = checkLinks(source, found, f.Name, true)
	}
	if err != nil {
		_ = source.Close()
	}
	return source, found, err
}

// lay copies a fixture to its place, but for what a configuration takes the place of.
func (f Fixture) lay(ctx context.Context, root *os.Root, overlay *Overlay) error {
	source, found, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer source.Close()
	local := path.Clean(f.At)
	place := root
	if err = root.MkdirAll(local, 0o755); err == nil {
		place, err = root.OpenRoot(local)
	}
	if err == nil {
		defer place.Close()
		err = (&files.Copier{From: source, Into: place}).Copy(ctx, overlay.under(found))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	return nil
}

// Compose makes a template in dir, which must not exist, of several parts, with empty
// directories besides, and applies a configuration, nil for none. A path that two parts
// have, and what cannot be put into a sandbox, is an error: a *misuse.Error of what is called
// name.
func Compose(ctx context.Context, dir, name string, parts []Fixture, overlay *Overlay,
	empty ...string,
) (*Template, error) {
	if overlay == nil {
		overlay = &Overlay{Dir: dir}
	}
	root, err := newRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, part := range parts {
		if err := part.lay(ctx, root, overlay); err != nil {
			return nil, err
		}
	}
	for _, below := range empty {
		if err := root.MkdirAll(below, 0o755); err != nil {
			return nil, fmt.Errorf("make %s: %w", below, err)
		}
	}
	if err := copyDir(ctx, overlay.Dir, root, overlay.Files); err != nil {
		return nil, err
	}
	built, err := read(ctx, scanner(root, name), name)
	if err == nil {
		err = checkLinks(root, overlay.Files, overlay.Name, false)
	}
	if err != nil {
		return nil, err
	}
	return &Template{Dir: dir, Manifest: built}, checkLinks(root, built, name, true)
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

// copyDir copies what a manifest has of a directory. Content that differs from the manifest
// is an error: nobody may change what the next sandbox is made of.
func copyDir(ctx context.Context, from string, to *os.Root, m Manifest) error {
	source, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer source.Close()
	return (&files.Copier{From: source, Into: to}).Copy(ctx, m)
}

// maxConfig bounds all files of a configuration.
const maxConfig = 64 << 20

// Overlay is a configuration: the files that are laid over every fixture at the root. One that
// changes after it was read cannot be laid.
type Overlay struct {
	// Name is what errors call it, Dir where the files are.
	Name, Dir string
	// Files has regular files and links.
	Files Manifest
	// Absent are paths of the other configuration that this one does not have. They
	// are removed from a fixture that brings its own.
	Absent []string
}

// Config says which files of a directory are the configuration of an agent, by
// globs on their path from that directory, with slashes; `**` is any number of
// directories, and a slash at the end means all that is below.
type Config struct {
	Include, Exclude []string
}

// Match reports whether a file is part of the configuration.
func (c Config) Match(path string) bool {
	in := func(globs []string) bool {
		return slices.ContainsFunc(globs,
			func(glob string) bool { return doublestar.MatchUnvalidated(whole(glob), path) })
	}
	return in(c.Include) && !in(c.Exclude)
}

func whole(glob string) string {
	if strings.HasSuffix(glob, "/") {
		return glob + "**"
	}
	return glob
}

// Within reports whether a file below a directory can be part of it.
func (c Config) Within(dir string) bool {
	return slices.ContainsFunc(c.Include, func(glob string) bool {
		base, rest := doublestar.SplitPattern(whole(glob))
		if strings.HasPrefix(base+"/", dir+"/") {
			return true
		}
		deep := strings.ContainsAny(rest, "/{") || strings.Contains(rest, "**")
		return deep && (base == "." || strings.HasPrefix(dir, base+"/"))
	})
}

// ReadOverlay reads the selected files of dir. What is neither file nor link,
// and what is too large, is a *misuse.Error.
func ReadOverlay(ctx context.Context, name, dir string, selected Config) (*Overlay, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, misuse.Errorf("open the %s: %w", name, err)
	}
	defer root.Close()
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

// under is what of a fixture stays under the configuration: nothing in the way of its files,
// and no file that the other configuration has alone.
func (o *Overlay) under(m Manifest) Manifest {
	inside := func(name, dir string) bool { return strings.HasPrefix(name, dir+"/") }
	return slices.DeleteFunc(slices.Clone(m), func(e Entry) bool {
		return !e.IsDir() && slices.Contains(o.Absent, e.Path) || slices.ContainsFunc(o.Files, func(mine Entry) bool {
			return e.Path == mine.Path || inside(e.Path, mine.Path) || !e.IsDir() && inside(mine.Path, e.Path)
		})
	})
}
