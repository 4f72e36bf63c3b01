// Package checkout finds the program files of a checkout.
package checkout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

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

// place is one program file, as people see it, or what is wrong with its name.
type place struct{ name, file, problem string }

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
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, p := range places { // there may be a thousand
		group.Go(func() error { programs[i] = s.load(p); return nil })
	}
	return programs, group.Wait()
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
		if info, err := os.Stat(s.path(file)); err == nil && info.Mode().IsRegular() {
			return []place{{name: "program", file: file}}, nil
		}
	}
	return nil, nil
}

// File reads one program file at a path of the file system.
func (s Programs) File(file string) *program.Program {
	return s.load(place{file: s.shown(file)})
}

// Directory is the absolute path of the directory of program files.
func (s Programs) Directory() string {
	return s.path(cmp.Or(s.Dir, DefaultPrograms))
}

// path is where a file is that people see so.
func (s Programs) path(file string) string {
	if file = filepath.FromSlash(file); filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(s.Root, file)
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
	if relative, is := files.Below(s.Root, file); is {
		file = relative
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
	places := map[string]place{}
	for _, entry := range entries {
		p, is := s.newPlace(path.Join(s.shown(dir), entry.Name()))
		if !is {
			continue
		}
		if other, twice := places[p.name]; twice {
			first, second := min(p.file, other.file), max(p.file, other.file)
			p = place{p.name, first, fmt.Sprintf("the name %s is claimed twice, by %s and %s; keep one", p.name,
				first, second)}
		}
		places[p.name] = p
	}
	byName := func(a, b place) int { return strings.Compare(a.name, b.name) }
	return slices.SortedFunc(maps.Values(places), byName), nil
}

// newPlace looks at a file or directory in that of the programs.
func (s Programs) newPlace(file string) (p place, is bool) {
	name, extension := path.Base(file), path.Ext(file)
	p.name, p.file = strings.TrimSuffix(name, extension), file
	info, err := os.Stat(s.path(file))
	directory := err == nil && info.IsDir()
	switch {
	case strings.EqualFold(name, "README.md"), strings.HasPrefix(name, "."):
		return p, false
	case !strings.EqualFold(extension, ".md"):
		// A directory that hides its program from us has one: reading it says why.
		p = place{name: name, file: file + "/program.md"}
		_, err := os.Lstat(s.path(p.file))
		return p, directory && !errors.Is(err, fs.ErrNotExist)
	case directory:
		p.problem = "a directory has the name of a program file; rename it to " + strings.TrimSuffix(file, extension)
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
	data, err := s.readFile(s.path(p.file))
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

// leaves reports whether links lead from a path out of the root, or, of a file elsewhere, out
// of the programs directory or its own.
func (s Programs) leaves(file string) bool {
	for _, root := range []string{s.Root, s.Directory(), filepath.Dir(file)} {
		if _, is := files.Below(root, file); is {
			root, _ = filepath.EvalSymlinks(root)
			file, _ = filepath.EvalSymlinks(file)
			_, is = files.Below(root, file)
			return !is
		}
	}
	return true
}

// Versions returns a program as its file is and as it ever was in commits that revs
// lead to, newest first; none when it has no file in the repository. A version
// that has errors is left out.
func (s Programs) Versions(ctx context.Context, repo *git.Repo, name string, revs ...string) (
	[]*program.Program, error,
) {
	present, err := s.Find(name)
	if err != nil || present == nil || !filepath.IsLocal(present.File) {
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
