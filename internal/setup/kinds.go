package setup

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// sources are globs for where a directory has its code: in the usual
// directories, else in files of its own that one of the patterns matches.
func sources(dir string, patterns ...string) []string {
	var globs []string
	for _, glob := range []string{"src", "lib", "app", "packages/*/src", "packages/*/lib"} {
		if has(dir, glob) {
			globs = append(globs, glob+"/**")
		}
	}
	if len(globs) > 0 {
		return globs
	}
	for _, pattern := range patterns {
		if has(dir, pattern) {
			globs = append(globs, pattern)
		}
	}
	if len(globs) > 0 {
		return globs
	}
	for _, pattern := range patterns {
		globs = append(globs, "**/"+pattern)
	}
	return globs
}

// has says whether something in a directory matches a glob.
func has(dir, glob string) bool {
	found, err := fs.Glob(os.DirFS(dir), glob)
	return err == nil && len(found) > 0
}

func hasFile(dir, name string) bool {
	info, err := os.Stat(filepath.Join(dir, name))
	return err == nil && info.Mode().IsRegular()
}

func says(dir, file, words string) bool {
	data, err := os.ReadFile(filepath.Join(dir, file))
	return err == nil && strings.Contains(string(data), words)
}

func usesPytest(dir string) bool {
	return hasFile(dir, "pytest.ini") || hasFile(dir, "conftest.py") || says(dir, "pyproject.toml", "pytest") ||
		says(dir, "setup.cfg", "pytest") ||
		says(dir, "tox.ini", "pytest") || says(dir, "requirements.txt", "pytest") ||
		says(dir, "requirements-dev.txt", "pytest")
}

// pytestSetup makes an environment with what the tests import. A project that
// cannot be installed may be one that is run as it lies there.
func pytestSetup(dir string) string {
	const pip = ".autoloop-venv/bin/pip install --quiet"
	setup := "python3 -m venv .autoloop-venv && " + pip + " pytest pytest-cov"
	for _, file := range []string{"requirements.txt", "requirements-dev.txt"} {
		if hasFile(dir, file) {
			setup += " -r " + file
		}
	}
	if hasFile(dir, "setup.py") || says(dir, "pyproject.toml", "[project]") ||
		says(dir, "pyproject.toml", "[tool.poetry]") {
		setup += " && { " + pip + " -e . || true; }"
	}
	return setup
}

// npmTests says whether there are tests: `npm init` writes a script that says
// that nothing is tested.
func npmTests(dir string) bool {
	pkg, _ := readNPM(dir)
	test := pkg.Scripts["test"]
	return strings.TrimSpace(test) != "" && !strings.Contains(test, "no test specified")
}

// npmSetup installs what the tests import, by the lock file that there is.
func npmSetup(dir string) string {
	switch {
	case hasFile(dir, "package-lock.json"), hasFile(dir, "npm-shrinkwrap.json"):
		return "npm ci --no-audit --no-fund"
	case hasFile(dir, "pnpm-lock.yaml"):
		return "npx --yes pnpm install --frozen-lockfile"
	case hasFile(dir, "yarn.lock"):
		return "npx --yes yarn install --frozen-lockfile"
	case says(dir, "package.json", `ependencies"`):
		return "npm install --no-audit --no-fund --no-package-lock"
	default:
		return ""
	}
}

// A rule for `test` or `check`, and no variable of that name.
var makeTest = lazyregexp.New(`(?m)^(test|check)\s*::?(?:[^:=]|$)`)

// makeTests is the name of the rule that tests, "" for none.
func makeTests(dir string) string {
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			rule := "" // make reads the first of them
			for _, found := range makeTest().FindAllSubmatch(data, -1) {
				if rule != "test" {
					rule = string(found[1])
				}
			}
			return rule
		}
	}
	return ""
}
