package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Part is a directory that stands somewhere in a sandbox.
type Part struct {
	Fixture

	// At is where it stands: a clean path with slashes, "." for the root.
	At string
}

// Compose makes a template in dir, which must not exist, of several parts, with
// empty directories besides. A path that two parts have, and what cannot be put
// into a sandbox, is an error.
func Compose(ctx context.Context, dir string, parts []Part, empty ...string) (*Template, error) {
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
	for _, name := range empty {
		if err := root.MkdirAll(filepath.FromSlash(name), 0o755); err != nil {
			return nil, fmt.Errorf("make %s: %w", name, err)
		}
	}
	return finish(ctx, dir, root, Fixture{Name: "sandbox"}, nil)
}

func (p Part) copyTo(ctx context.Context, root *os.Root) error {
	source, err := os.OpenRoot(p.Dir)
	if err != nil {
		return fmt.Errorf("open the %s: %w", p.Name, err)
	}
	defer func() { _ = source.Close() }()
	files, err := p.read(ctx, source)
	if err != nil {
		return err
	}
	local := filepath.FromSlash(p.At)
	if err := root.MkdirAll(local, 0o755); err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	place, err := root.OpenRoot(local)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	defer func() { _ = place.Close() }()
	if err := copyTree(ctx, source, place, files); err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	return nil
}
