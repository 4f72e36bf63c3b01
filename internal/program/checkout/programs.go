// Package checkout finds the program files of a checkout.
package checkout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/program"
)

// DefaultPrograms is where program files are kept in a repository.
const DefaultPrograms = ".autoloop/programs"

// Programs finds program files in a checkout.
type Programs struct {
	// Root is the top of the checkout.
	Root string
	// Dir replaces .autoloop/programs; relative to Root, or absolute.
	Dir string
}

// place is one program file, or what is wrong with its name.
type place struct {
	name, file string // file is as people see it
	path       string
	problem    string
}

// Load reads all programs in the order of their names. Without any in
// the directory and others is false, a single .autoloop/program.md or
// program.md counts. The error is of the directory itself; what is wrong with
// one program is in its Problems.
func (s Programs) Load(others bool) ([]*program.Program, error) {
	places, err := s.all(others)
	if err != nil {
		return nil, err
	}
	programs := make([]*program.Program, len(places))
	for i, p := range places {
		programs[i] = s.load(p)
	}
	return programs, nil
}

// Find reads the program of that name, or nil.
func (s Programs) Find(name string) (*program.Program, error) {
	places, err := s.all(false)
	at := slices.IndexFunc(places, func(p place) bool { return p.name == name })
	if at < 0 {
		return nil, err
	}
	return s.load(places[at]), nil
}

// all are the places of all programs; the only one counts when there are no others.
func (s Programs) all(others bool) ([]place, error) {
	places, err := s.places()
	if err != nil || len(places) > 0 || s.Dir != "" || others {
		return places, err
	}
	for _, file := range singles() {
		full := filepath.Join(s.Root, filepath.FromSlash(file))
		if info, err := os.Stat(full); err == nil && info.Mode().IsRegular() {
			return []place{{name: "program", file: file, path: full}}, nil
		}
	}
	return nil, nil
}

// File reads one program file at a path of the file system.
func (s Programs) File(file string) *program.Program {
	return s.load(place{name: "", file: s.shown(file), path: file})
}

// Directory is the absolute path of the directory of program files.
func (s Programs) Directory() string {
	dir := filepath.FromSlash(cmp.Or(s.Dir, DefaultPrograms))
	if filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(s.Root, dir)
}

// Places are where program files may be, as people see them.
func (s Programs) Places() []string { return append(singles(), s.shown(s.Directory())) }

// MayBe reports whether a file of the checkout, as people see it, is a program by its
// place and name.
func (s Programs) MayBe(file string) bool {
	dir := s.shown(s.Directory())
	return slices.Contains(singles(), file) || path.Ext(file) == ".md" && path.Dir(file) == dir ||
		path.Base(file) == "program.md" && path.Dir(path.Dir(file)) == dir
}

// shown is a path as people see it: from the checkout's root when below it.
func (s Programs) shown(file string) string {
	if relative, err := filepath.Rel(s.Root, file); err == nil && filepath.IsLocal(relative) {
		return filepath.ToSlash(relative)
	}
	return filepath.ToSlash(file)
}

// places lists NAME.md and NAME/program.md.
func (s Programs) places() ([]place, error) {
	dir := s.Directory()
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if s.Dir != "" {
			return nil, fmt.Errorf("programs directory %s does not exist; name another with --programs", dir)
		}
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read programs directory %s: %w", dir, files.Cause(err))
	}
	if s.Dir == "" && s.leaves(dir) {
		return nil, fmt.Errorf("programs directory %s is a link that leaves the repository; name another with "+
			"--programs", DefaultPrograms)
	}
	var places []place
	for _, entry := range entries {
		p, is := newPlace(dir, s.shown(dir), entry)
		if !is {
			continue
		}
		at := slices.IndexFunc(places, func(other place) bool { return other.name == p.name })
		if at < 0 {
			places = append(places, p)
			continue
		}
		first, second := min(p.file, places[at].file), max(p.file, places[at].file)
		places[at] = place{name: p.name, file: first, problem: fmt.Sprintf(
			"the name %s is claimed twice, by %s and %s; keep one", p.name, first, second)}
	}
	slices.SortFunc(places, func(a, b place) int { return strings.Compare(a.name, b.name) })
	return places, nil
}

// newPlace looks at an entry of the programs directory, which people see as shown.
func newPlace(dir, shown string, entry fs.DirEntry) (p place, is bool) {
	name := entry.Name()
	extension := path.Ext(name)
	p.name, p.file, p.path = strings.TrimSuffix(name, extension), path.Join(shown, name), filepath.Join(dir, name)
	info, err := os.Stat(p.path)
	directory := err == nil && info.IsDir()
	switch {
	case strings.EqualFold(name, "README.md"), strings.HasPrefix(name, "."):
		return p, false
	case !strings.EqualFold(extension, ".md"):
		// A directory that hides its program from us has one: reading it says why.
		p = place{name: name, file: p.file + "/program.md", path: filepath.Join(p.path, "program.md")}
		_, err := os.Lstat(p.path)
		return p, directory && !errors.Is(err, fs.ErrNotExist)
	case directory:
		p.problem = "a directory has the name of a program file; rename it to " + strings.TrimSuffix(p.file, extension)
	case extension != ".md":
		p.problem = "a program file ends in .md; rename it to " + p.name + ".md"
	}
	return p, true
}

// singles are the places of a repository's only program, which counts when there
// are no others.
func singles() []string { return []string{".autoloop/program.md", "program.md"} }

// Single says whether a program comes from such a place.
func Single(p *program.Program) bool { return slices.Contains(singles(), p.File) }

func (s Programs) load(p place) *program.Program {
	if p.problem != "" {
		return program.Bad(p.file, p.name, p.problem)
	}
	data, err := s.readFile(p.path)
	if err != nil {
		return program.Bad(p.file, p.name, err.Error())
	}
	loaded := program.Parse(p.file, data)
	if p.name != "" {
		loaded.Name = p.name
	}
	return loaded
}

// readFile reads a program file.
func (s Programs) readFile(file string) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, files.Cause(err)
	case s.leaves(file):
		return nil, errors.New("the file is a link that leaves the repository")
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	case info.Size() > program.MaxBytes:
		return nil, fmt.Errorf("the file is too large; a program file has at most %d bytes", program.MaxBytes)
	}
	data, err := os.ReadFile(file)
	return data, files.Cause(err)
}

// leaves reports whether links lead from a path out of the root, and out of the programs directory when one
// was named. A file elsewhere was named by its path: they may not lead out of its directory.
func (s Programs) leaves(file string) bool {
	below := func(dir, path string) bool {
		relative, err := filepath.Rel(dir, path)
		return err == nil && filepath.IsLocal(relative)
	}
	followed := func(path string) string {
		target, _ := filepath.EvalSymlinks(path)
		return target
	}
	roots := []string{s.Root}
	if s.Dir != "" {
		roots = append(roots, s.Directory())
	}
	if !slices.ContainsFunc(roots, func(root string) bool { return below(root, file) }) {
		roots = []string{filepath.Dir(file)}
	}
	return !slices.ContainsFunc(roots, func(root string) bool { return below(followed(root), followed(file)) })
}

// Versions returns a program as its file is and as it ever was in commits that revs
// lead to, newest first; none when it has no file in the repository. A version
// that has errors is left out.
func (s Programs) Versions(ctx context.Context, repo *git.Repo, name string, revs ...string) (
	[]*program.Program, error,
) {
	present, err := s.Find(name)
	if err != nil || present == nil || !filepath.IsLocal(filepath.FromSlash(present.File)) {
		return nil, err
	}
	var known, ids []string
	for _, rev := range revs {
		if commit, found, err := repo.Resolve(ctx, rev); err == nil && found {
			known = append(known, commit)
		}
	}
	if len(known) > 0 {
		old, err := repo.Versions(ctx, present.File, known...)
		if err != nil {
			return nil, err
		}
		for _, v := range old {
			if v.NewID != "" {
				ids = append(ids, v.NewID)
			}
		}
	}
	objects, err := repo.Cat(ctx, ids...)
	if err != nil {
		return nil, err
	}
	versions := []*program.Program{present}
	for _, o := range objects {
		versions = append(versions, program.Parse(present.File, o.Data))
	}
	return slices.DeleteFunc(versions, func(p *program.Program) bool { return p.Err() != nil }), nil
}
