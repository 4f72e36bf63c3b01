package memory

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/files"
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
	if err == nil && len(places) == 0 && s.Dir == "" && !others {
		places = s.single()
	}
	return places, err
}

// File reads one program file at a path of the file system.
func (s Programs) File(file string) *program.Program {
	return s.load(place{name: "", file: s.shown(file), path: file})
}

// Directory is the absolute path of the directory of program files.
func (s Programs) Directory() string {
	switch {
	case s.Dir == "":
		return filepath.Join(s.Root, filepath.FromSlash(DefaultPrograms))
	case filepath.IsAbs(s.Dir):
		return s.Dir
	default:
		return filepath.Join(s.Root, s.Dir)
	}
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
	if s.Dir == "" && leaves(s.Root, DefaultPrograms) {
		return nil, fmt.Errorf("programs directory %s is a link that leaves the repository; name another with "+
			"--programs", DefaultPrograms)
	}
	places := make([]place, 0, len(entries))
	shown := s.shown(dir)
	for _, entry := range entries {
		if found, ok := s.place(dir, shown, entry); ok {
			places = append(places, found)
		}
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.file, b.file))
	})
	return clashes(places), nil
}

// place looks at an entry of the programs directory, which people see as shown.
func (s Programs) place(dir, shown string, entry fs.DirEntry) (place, bool) {
	name := entry.Name()
	full, shown := filepath.Join(dir, name), path.Join(shown, name)
	info, err := os.Stat(full)
	directory := err == nil && info.IsDir()
	extension := path.Ext(name)
	stem := strings.TrimSuffix(name, extension)
	switch {
	case strings.EqualFold(name, "README.md"), strings.HasPrefix(name, "."):
		return place{}, false
	case !strings.EqualFold(extension, ".md"):
		// A directory that hides its program from us has one: reading it says why.
		_, err := os.Lstat(filepath.Join(full, "program.md"))
		return place{name: name, file: shown + "/program.md", path: filepath.Join(full, "program.md")},
			directory && !errors.Is(err, fs.ErrNotExist)
	case directory:
		return place{
			name: stem, file: shown,
			problem: "a directory has the name of a program file; rename it to " + path.Join(path.Dir(shown),
				stem),
		}, true
	case extension != ".md":
		return place{name: stem, file: shown, problem: "a program file ends in .md; rename it to " + stem + ".md"}, true
	default:
		return place{name: stem, file: shown, path: full}, true
	}
}

// clashes makes one error of a name that is claimed by a file and a directory.
func clashes(places []place) []place {
	kept := places[:0]
	for i := 0; i < len(places); i++ {
		p := places[i]
		if i+1 < len(places) && places[i+1].name == p.name {
			p.problem = fmt.Sprintf("the name %s is claimed twice, by %s and %s; keep one", p.name, p.file,
				places[i+1].file)
			i++ // kept is never further than this
		}
		kept = append(kept, p)
	}
	return kept
}

// singles are the places of a repository's only program, which counts when there
// are no others.
func singles() []string { return []string{".autoloop/program.md", "program.md"} }

// Single says whether a program comes from such a place.
func Single(p *program.Program) bool { return slices.Contains(singles(), p.File) }

func (s Programs) single() []place {
	for _, file := range singles() {
		full := filepath.Join(s.Root, filepath.FromSlash(file))
		if info, err := os.Stat(full); err == nil && info.Mode().IsRegular() {
			return []place{{name: "program", file: file, path: full}}
		}
	}
	return nil
}

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

// readFile reads a program file below the root, or below the programs directory when one was
// named; a link that leaves them is refused. A file elsewhere was named by its path.
func (s Programs) readFile(file string) ([]byte, error) {
	roots := []string{s.Root}
	if s.Dir != "" {
		roots = append(roots, s.Directory())
	}
	var problem error
	for _, root := range roots {
		relative, err := filepath.Rel(root, file)
		if err != nil || !filepath.IsLocal(relative) {
			continue
		}
		data, err := readBelow(root, relative)
		if err == nil {
			return data, nil
		}
		problem = cmp.Or(problem, err)
	}
	if problem != nil {
		return nil, problem
	}
	return readBelow(filepath.Dir(file), filepath.Base(file))
}

// readBelow reads a regular file of a directory that no link leads out of.
func readBelow(dir, file string) ([]byte, error) {
	if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
		return nil, files.Cause(err)
	}
	if leaves(dir, file) {
		return nil, errors.New("the file is a link that leaves the repository")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, files.Cause(err)
	}
	defer func() { _ = root.Close() }()
	opened, err := root.OpenFile(file, os.O_RDONLY|files.NonBlocking, 0)
	if err != nil {
		return nil, files.Cause(err)
	}
	defer func() { _ = opened.Close() }()
	info, err := opened.Stat()
	switch {
	case err != nil:
		return nil, files.Cause(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	case info.Size() > program.MaxBytes:
		return nil, fmt.Errorf("the file is too large; a program file has at most %d bytes", program.MaxBytes)
	}
	data, err := io.ReadAll(opened)
	return data, files.Cause(err)
}

// leaves reports whether a link leads out of a directory to what is there.
func leaves(dir, file string) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }()
	_, below := root.Stat(file)
	_, anywhere := os.Stat(filepath.Join(dir, file))
	return below != nil && anywhere == nil
}
