package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
}

// Inspect reads a fixture as Prepare does and writes nothing. What cannot be
// put into a sandbox is a *PathError.
func Inspect(ctx context.Context, fixture Fixture) (Manifest, error) {
	source, err := os.OpenRoot(fixture.Dir)
	if err != nil {
		return nil, fmt.Errorf("open the %s: %w", fixture.Name, err)
	}
	defer func() { _ = source.Close() }()
	return fixture.read(ctx, source)
}

func (f Fixture) read(ctx context.Context, source *os.Root) (Manifest, error) {
	reading := scanner(source, f.Name)
	if f.Leave != nil {
		reading.Keep = func(path string) bool { return !f.Leave(path) }
	}
	found, err := read(ctx, reading, f.Name)
	if err != nil {
		return nil, err
	}
	return found, checkLinks(source, found, f.Name)
}

// Prepare copies a fixture to dir, which must not exist, and applies the
// configuration. What cannot be put into a sandbox is a *PathError.
func Prepare(ctx context.Context, dir string, fixture Fixture, overlay *Overlay) (*Template, error) {
	source, err := os.OpenRoot(fixture.Dir)
	if err != nil {
		return nil, fmt.Errorf("open the %s: %w", fixture.Name, err)
	}
	defer func() { _ = source.Close() }()
	files, err := fixture.read(ctx, source)
	if err != nil {
		return nil, err
	}
	root, err := newRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	if err := copyTree(ctx, source, root, files); err != nil {
		return nil, fmt.Errorf("%s: %w", fixture.Name, err)
	}
	if overlay != nil {
		if err := overlay.apply(root); err != nil {
			return nil, err
		}
	}
	return finish(ctx, dir, root, fixture, overlay)
}

// finish looks at what has come together, links first.
func finish(ctx context.Context, dir string, root *os.Root, fixture Fixture, overlay *Overlay) (*Template, error) {
	built, err := read(ctx, scanner(root, fixture.Name), fixture.Name)
	if err != nil {
		return nil, err
	}
	if overlay != nil {
		if err := overlay.checkLinks(root); err != nil {
			return nil, err
		}
	}
	if err := checkLinks(root, built, fixture.Name); err != nil {
		return nil, err
	}
	return &Template{Dir: dir, Manifest: built}, nil
}

// checkLinks refuses links of a configuration that leave the sandbox, and those
// to files that are not part of the configuration: the agent would find nothing.
func (o *Overlay) checkLinks(root *os.Root) error {
	if err := checkLinks(root, o.Files, o.Name); err != nil {
		return err
	}
	for _, e := range o.Files {
		if !e.IsLink() {
			continue
		}
		if _, err := root.Stat(filepath.FromSlash(e.Path)); errors.Is(err, os.ErrNotExist) {
			return &PathError{Where: o.Name, Path: e.Path, Reason: fmt.Sprintf("is a link to %q, which is not part of the configuration; put a copy in its place, or select that too", e.Target)}
		}
	}
	return nil
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
