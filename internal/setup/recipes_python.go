package setup

import (
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// pip installs into an environment of the project's own, which it makes.
const pip = ".autoloop-venv/bin/pip install --quiet "

const pythonEnv = "python3 -m venv .autoloop-venv && " + pip

func (p place) usesPytest() bool {
	return p.has("pytest.ini") || p.has("conftest.py") || slices.ContainsFunc([]string{
		"pyproject.toml", "setup.cfg", "tox.ini", "requirements.txt", "requirements-dev.txt",
	}, func(file string) bool { return p.says(file, "pytest") })
}

// pytestSetup makes an environment with what the tests import. A project that
// cannot be installed may be one that is run as it lies there.
func (p place) pytestSetup() string {
	setup := pythonEnv + "pytest pytest-cov"
	for _, file := range []string{"requirements.txt", "requirements-dev.txt"} {
		if p.has(file) {
			setup += " -r " + file
		}
	}
	if p.has("setup.py") || p.says("pyproject.toml", "[project]") || p.says("pyproject.toml", "[tool.poetry]") {
		setup += " && { " + pip + "-e . || true; }"
	}
	return setup
}

var (
	pyTests = []string{"**/test/**", "**/tests/**", "**/test*.py", "**/*_test.py", "**/conftest.py"}
	pyUnit  = lazyregexp.New(`(?m)^\s*(import|from) unittest\b`)
)

// pytest runs pytest with an interpreter and counts what passed.
func pytest(python, flags string) runner {
	return runner{
		command: python + ` -m pytest --quiet --junitxml="$TMPDIR/report"` + flags,
		count: `[ -s "$TMPDIR/report" ] || refuse "the tests ended before they were over"
tests=$(python3 -c '
import sys, xml.etree.ElementTree as tree
print(sum(1 for case in tree.parse(sys.argv[1]).iter("testcase") if len(case.findall("skipped")) == 0))
' "$TMPDIR/report")
` + someTests,
	}
}

// unittests runs those of the standard library, from a directory, in files that are
// named by a pattern.
func unittests(dir, pattern string) runner {
	return runner{
		before: `cat > "$TMPDIR/run.py" <<'end'
import os, sys, unittest
sys.path.insert(0, os.getcwd())
result = unittest.main(module=None, argv=["unittest", "discover", "-s", sys.argv[1], "-p", sys.argv[2]], exit=False).result
open(os.environ["TMPDIR"] + "/report", "w").write(str(result.testsRun - len(result.skipped)))
sys.exit(not result.wasSuccessful())
end
`,
		command: `python3 "$TMPDIR/run.py" ` + dir + ` "` + pattern + `"`,
		count: `[ -s "$TMPDIR/report" ] || refuse "the tests ended before they were over"
tests=$(cat "$TMPDIR/report")
` + someTests,
	}
}

// pyTests runs the tests, when there are any; setup is what they need.
func (p place) pyTests() (tests runner, setup string, found bool) {
	switch {
	case p.usesPytest() && p.installed("pytest"):
		return pytest("python3", ""), "", true
	case p.usesPytest():
		return pytest(".autoloop-venv/bin/python", ""), p.pytestSetup(), true
	}
	for _, dir := range []string{"tests", "test"} {
		if p.has(dir+"/test*.py") && !p.has(dir+"/__init__.py") {
			return unittests(dir, "test*.py"), "", p.anyFile(".py", pyUnit)
		}
	}
	if p.anyFile("_test.py", pyUnit) {
		return unittests(".", "*_test.py"), "", true
	}
	return unittests(".", "test*.py"), "", p.anyFile(".py", pyUnit)
}

func pythonRecipes(p place) []recipe {
	python := p.installed("python3")
	tests, setup, found := p.pyTests()
	// findings counts what a linter finds, which is the one that is installed, else one in an
	// environment of its own. count is a Python program that prints the number of
	// findings in a file, and fails for a syntax error: it hides all others of its file.
	code := project{targets: []string{"**/*.py"}, protect: pyTests, setup: setup}
	findings := func(linter string, used bool, flags, count string) recipe {
		program, code := linter, code
		if !p.installed(linter) {
			program = ".autoloop-venv/bin/" + linter
			code.setup = strings.TrimPrefix(setup+" && "+pythonEnv+linter, " && ")
		}
		return recipe{
			"python-lint", "a configuration of " + linter + ": fewer findings", python && used, lint, code,
			"Reduce how much " + linter + " finds, by correcting the code and not by silencing it.",
			program + flags + ` > "$TMPDIR/lint.txt"
value=$(python3 -c '` + count + `' "$TMPDIR/lint.txt")
` + tests.when(found),
		}
	}
	// covered measures with an interpreter that has pytest-cov.
	covered := func(interpreter, setup string, there bool) recipe {
		return recipe{
			"python-coverage", "pytest: more coverage by tests", python && p.usesPytest() && there, coverage,
			project{
				targets: []string{"tests/**/*.py", "**/test_*.py"}, protect: []string{"**/conftest.py"}, setup: setup,
			},
			coverLines,
			pytest(interpreter, ` --cov=. --cov-report=`).run() + interpreter +
				` -m coverage json -q -o "$TMPDIR/coverage.json"
value=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["totals"]["percent_covered"])' "$TMPDIR/coverage.json")`,
		}
	}
	return []recipe{
		findings("ruff", p.has("ruff.toml") || p.has(".ruff.toml") || p.says("pyproject.toml", "[tool.ruff"),
			" check --no-cache --exit-zero --ignore-noqa --output-format json . --exclude "+notLinted, ruffCount),
		findings("flake8", p.has(".flake8") || p.says("setup.cfg", "[flake8]") || p.says("tox.ini", "[flake8]"),
			" --exit-zero --disable-noqa . --extend-exclude "+notLinted, flake8Count),
		// What is installed is tried first.
		covered("python3", "", p.installed("pytest") && (p.installed("coverage") || p.installed("python3-coverage"))),
		covered(".autoloop-venv/bin/python", p.pytestSetup(), true),
		{
			"python-test-time", "Python with tests: faster tests", python && found, testTime, code, fasterTests,
			tests.timed(),
		},
	}
}

const (
	// notLinted cannot be changed: findings there would be counted for ever.
	notLinted = ".autoloop-venv,test,tests"
	// ruffCount: the code of a syntax error differs by version.
	ruffCount = `
import json, sys
found = json.load(open(sys.argv[1]))
for f in found:
    if f["code"] in (None, "invalid-syntax", "E902", "E999"):
        sys.exit("syntax error: %s: %s" % (f["filename"], f["message"]))
print(len(found))
`
	flake8Count = `
import json, sys
found = open(sys.argv[1]).read().splitlines()
for line in found:
    if ": E9" in line:
        sys.exit("syntax error: " + line)
print(len(found))
`
)
