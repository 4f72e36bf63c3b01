package setup

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/misuse"
)

// firstProgram is a program fitted to the repository, and to the directory that
// init runs in; where nothing is known of either, an example that runs as it
// stands, if one is wanted.
func firstProgram(root, here, dir string, example bool) ([]Step, error) {
	why, files := "an example that runs as it stands", NewProgram(root, dir, "example")
	if found := fitted(root, here); found != nil {
		why, files = found.why, []File{{filepath.Join(dir, found.program+".md"), found.text()}}
	} else if !example {
		return nil, nil
	}
	var steps []Step
	for _, file := range files {
		relative, err := filepath.Rel(root, file.Path)
		if err != nil || !filepath.IsLocal(relative) {
			return nil, misuse.Errorf("--programs %s is not in the repository", dir)
		}
		if _, err := os.Lstat(file.Path); err == nil {
			return nil, misuse.Errorf("%s exists already: remove or rename it", file.Path)
		}
		if err := insideOnly(root, filepath.ToSlash(relative)); err != nil {
			return nil, err
		}
		steps = append(steps, Step{Action: Create, Name: filepath.ToSlash(relative), Text: file.Text, Why: " (" + why + ")"})
	}
	return steps, nil
}

// fitted looks at a directory and those above it, up to the root; nil when none
// of them tells anything.
func fitted(root, here string) *fit {
	for at := within(root, here); ; at = path.Dir(at) {
		if found := fitTo(filepath.Join(root, filepath.FromSlash(at))); found != nil {
			found.at = at
			return found
		}
		if at == "." {
			return nil
		}
	}
}

// within is the path from the root to a directory, with slashes; "." when it is
// not below it.
func within(root, here string) string {
	if resolved, err := filepath.EvalSymlinks(here); err == nil {
		here = resolved
	}
	if resolved, err := filepath.EvalSymlinks(root); err == nil {
		root = resolved
	}
	relative, err := filepath.Rel(root, here)
	if err != nil || !filepath.IsLocal(relative) {
		return "."
	}
	return filepath.ToSlash(relative)
}

// notPlain is a character that a glob, or a list of targets, would read as
// something else; `?` stands for it.
var notPlain = lazyregexp.New(`[^\w./+@-]`)

// fit is a first program for one directory.
type fit struct {
	program  string // its name
	template string
	targets  []string // below the directory
	setup    string   // "" for none
	why      string
	at       string // the directory, "." for the root
}

// text is the program file.
func (f *fit) text() string {
	setup, begin := f.setup, "set -e\n"
	if f.at != "." {
		change := "cd '" + strings.ReplaceAll(f.at, "'", `'\''`) + "'"
		begin += change + "\n"
		if setup != "" {
			setup = change + " && { " + setup + "; }"
		}
	}
	if setup != "" {
		setup = "setup: " + quoted(setup) + "\n"
	}
	var targets strings.Builder
	for _, target := range f.targets {
		targets.WriteString("- `" + path.Join(notPlain().ReplaceAllString(f.at, "?"), target) + "`\n")
	}
	return strings.NewReplacer("SETUP\n", setup, "TARGETS\n", targets.String(), "set -e\n", begin).Replace(f.template)
}
