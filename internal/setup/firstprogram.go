package setup

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/misuse"
)

// FirstProgram are the steps that write a program which was measured, nil for the
// example of a name that runs as it stands.
func FirstProgram(root, dir, name string, fitted *Fitted) ([]Step, error) {
	why, files := "an example that runs as it stands", NewProgram(root, dir, name)
	if fitted != nil {
		why, files = fitted.Why+": "+fitted.String(), []File{fitted.File}
	}
	var steps []Step
	for _, file := range files {
		relative, err := filepath.Rel(root, file.Path)
		if err != nil || !filepath.IsLocal(relative) {
			return nil, misuse.Errorf("--programs %s is not in the repository", dir)
		}
		for _, taken := range []string{file.Path, strings.TrimSuffix(file.Path, ".md")} {
			if _, err := os.Lstat(taken); err == nil {
				return nil, misuse.Errorf("%s exists already; choose another name, or remove it", taken)
			}
		}
		if err := insideOnly(root, filepath.ToSlash(relative)); err != nil {
			return nil, err
		}
		steps = append(steps, Step{
			Action: Create, Name: filepath.ToSlash(relative), Text: file.Text,
			Why: "(" + why + ")",
		})
	}
	return steps, nil
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
