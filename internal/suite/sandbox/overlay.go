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
)

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
// and what is too large, is a *PathError.
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
