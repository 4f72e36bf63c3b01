package setup

import (
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// pythonEnv makes an environment with more packages than the tests need.
func pythonEnv(packages string) string {
	return "python3 -m venv .autoloop-venv && .autoloop-venv/bin/pip install --quiet " + packages
}

func isPython(p place) bool { return p.installed("python3") }

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

// pyRunner runs the tests, when there are any.
func pyRunner(p place) (tests runner, found bool) {
	if usesPytest(p.dir) {
		if p.installed("pytest") {
			return pytest("python3", ""), true
		}
		return pytest(".autoloop-venv/bin/python", ""), true
	}
	for _, dir := range []string{"tests", "test"} {
		if has(p.dir, dir+"/test*.py") && !p.has(dir+"/__init__.py") {
			return unittests(dir, "test*.py"), p.anyFile(".py", pyUnit)
		}
	}
	if p.anyFile("_test.py", pyUnit) {
		return unittests(".", "*_test.py"), true
	}
	return unittests(".", "test*.py"), p.anyFile(".py", pyUnit)
}

func pyTestSetup(p place) string {
	if usesPytest(p.dir) && !p.installed("pytest") {
		return pytestSetup(p.dir)
	}
	return ""
}

func pythonRecipes() []recipe {
	return []recipe{
		pythonLint("ruff", usesRuff, " check --no-cache --exit-zero --ignore-noqa --exclude .autoloop-venv "+
			"--output-format json .", ruffCount),
		pythonLint("flake8", usesFlake8, " --exit-zero --disable-noqa --extend-exclude .autoloop-venv .", flake8Count),
		pythonCoverage(func(p place) bool {
			return p.installed("pytest") && (p.installed("coverage") || p.installed("python3-coverage"))
		}, nil, "python3"),
		pythonCoverage(func(place) bool { return true }, func(p place) string { return pytestSetup(p.dir) },
			".autoloop-venv/bin/python"),
		{
			kind: "python-test-time", why: "Python with tests: faster tests",
			fits: func(p place) bool {
				_, found := pyRunner(p)
				return found && isPython(p)
			},
			metric: "seconds", better: "lower", goal: fasterTests,
			targets: always("**/*.py"), protect: pyTests, setup: pyTestSetup,
			script: func(p place) string {
				tests, _ := pyRunner(p)
				return tests.timed()
			},
		},
	}
}

// pythonLint counts what a linter finds, which is the one that is installed, else one
// in an environment of its own. count is a Python program that prints the number of
// findings in a file, and fails for a syntax error: it hides all others of its file.
func pythonLint(linter string, uses func(place) bool, flags, count string) recipe {
	return recipe{
		kind: "python-lint", why: "a configuration of " + linter + ": fewer findings",
		fits:   func(p place) bool { return isPython(p) && uses(p) },
		metric: "findings", better: "lower", best: "0", works: true,
		goal:    "Reduce how much " + linter + " finds, by correcting the code and not by silencing it.",
		targets: always("**/*.py"), protect: pyTests,
		setup: func(p place) string {
			steps := []string{pyTestSetup(p)}
			if !p.installed(linter) {
				steps = append(steps, pythonEnv(linter))
			}
			return strings.TrimPrefix(strings.Join(steps, " && "), " && ")
		},
		script: func(p place) string {
			program := ".autoloop-venv/bin/" + linter
			if p.installed(linter) {
				program = linter
			}
			check := ""
			if tests, found := pyRunner(p); found {
				check = tests.run()
			}
			return program + flags + ` > "$TMPDIR/lint.txt"
value=$(python3 -c '` + count + `' "$TMPDIR/lint.txt")
` + check
		},
	}
}

func usesRuff(p place) bool {
	return p.has("ruff.toml") || p.has(".ruff.toml") || says(p.dir, "pyproject.toml", "[tool.ruff")
}

func usesFlake8(p place) bool {
	return p.has(".flake8") || says(p.dir, "setup.cfg", "[flake8]") || says(p.dir, "tox.ini", "[flake8]")
}

const (
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

// pythonCoverage measures with an interpreter that has pytest-cov already, which is
// tried first, or with the one that setup makes.
func pythonCoverage(fits func(place) bool, setup func(place) string, python string) recipe {
	return recipe{
		kind: "python-coverage", why: "pytest: more coverage by tests",
		fits:   func(p place) bool { return isPython(p) && usesPytest(p.dir) && fits(p) },
		metric: "coverage", better: "higher", best: "100",
		goal:    "Raise the share of lines that the tests cover, in percent, with tests that check behaviour.",
		targets: always("tests/**/*.py", "**/test_*.py"), creates: true, protect: []string{"**/conftest.py"},
		setup: setup,
		script: fixed(pytest(python, ` --cov=. --cov-report=`).run() + python +
			` -m coverage json -q -o "$TMPDIR/coverage.json"
value=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["totals"]["percent_covered"])' "$TMPDIR/coverage.json")`),
	}
}
