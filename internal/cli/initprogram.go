package cli

import (
	_ "embed" // The first programs are part of the binary.
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	//go:embed templates/go.md
	goProgram string
	//go:embed templates/pytest.md
	pytestProgram string
	//go:embed templates/npm.md
	npmProgram string
	//go:embed templates/cargo.md
	cargoProgram string
	//go:embed templates/make.md
	makeProgram string
)

var makeTest = regexp.MustCompile(`(?m)^test\s*:`)

// firstProgram is a program fitted to the repository; where nothing is known
// of it, an example that runs as it stands.
func firstProgram(root, dir string) ([]initStep, error) {
	name, text, why := fitted(root)
	files := []newFile{{filepath.Join(dir, name+".md"), text}}
	if text == "" {
		files = newFiles(root, dir, name)
	}
	var steps []initStep
	for _, file := range files {
		relative, err := filepath.Rel(root, file.path)
		if err != nil || !filepath.IsLocal(relative) {
			return nil, Usagef("--programs %s is not in the repository", dir)
		}
		if _, err := os.Lstat(file.path); err == nil {
			return nil, Usagef("%s exists already: remove or rename it", file.path)
		}
		if err := insideOnly(root, filepath.ToSlash(relative)); err != nil {
			return nil, err
		}
		steps = append(steps, initStep{action: initCreate, name: filepath.ToSlash(relative), text: file.text, why: why})
	}
	return steps, nil
}

// fitted looks at the files at the root; text is "" when none tells anything.
func fitted(root string) (name, text, why string) {
	has := func(names ...string) bool {
		for _, n := range names {
			if info, err := os.Stat(filepath.Join(root, n)); err == nil && info.Mode().IsRegular() {
				return true
			}
		}
		return false
	}
	says := func(file, words string) bool {
		data, err := os.ReadFile(filepath.Join(root, file))
		return err == nil && strings.Contains(string(data), words)
	}
	switch {
	case has("go.mod"):
		return "test-coverage", goProgram, " (go.mod: more coverage by tests)"
	case has("Cargo.toml"):
		return "test-time", cargoProgram, " (Cargo.toml: faster tests)"
	case has("pytest.ini", "conftest.py") || says("pyproject.toml", "pytest") || says("setup.cfg", "pytest") || says("requirements.txt", "pytest"):
		return "test-coverage", pytestProgram, " (pytest: more coverage by tests)"
	case says("package.json", `"test"`):
		return "test-time", npmProgram, " (package.json: faster tests)"
	case makeTests(root):
		return "test-time", makeProgram, " (Makefile: faster tests)"
	}
	return "example", "", " (an example that runs as it stands)"
}

func makeTests(root string) bool {
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		if data, err := os.ReadFile(filepath.Join(root, name)); err == nil && makeTest.Match(data) {
			return true
		}
	}
	return false
}
