package setup

// pythonEnv makes an environment with more packages than the tests need.
func pythonEnv(packages string) string {
	return "python3 -m venv .autoloop-venv && .autoloop-venv/bin/pip install --quiet " + packages
}

func isPython(p place) bool { return p.installed("python3") }

var pyTests = []string{"**/tests/**", "**/test_*.py", "**/*_test.py", "**/conftest.py"}

func pythonRecipes() []recipe {
	return []recipe{
		pythonLint("ruff", usesRuff, " check --no-cache --exit-zero --ignore-noqa --exclude .autoloop-venv --output-format json .", ruffCount),
		pythonLint("flake8", usesFlake8, " --exit-zero --disable-noqa --extend-exclude .autoloop-venv .", flake8Count),
		pythonCoverage(func(p place) bool {
			return p.installed("pytest") && (p.installed("coverage") || p.installed("python3-coverage"))
		}, nil, "python3"),
		pythonCoverage(func(place) bool { return true }, func(p place) string { return pytestSetup(p.dir) }, ".autoloop-venv/bin/python"),
	}
}

// pythonLint counts what a linter finds, which is the one that is installed, else one
// in an environment of its own. count is a Python program that prints the number of
// findings in a file, and fails for a syntax error: it hides all others of its file.
func pythonLint(linter string, uses func(place) bool, flags, count string) recipe {
	return recipe{
		kind: "python-lint", why: "a configuration of " + linter + ": fewer findings",
		fits:   func(p place) bool { return isPython(p) && uses(p) },
		metric: "findings", better: "lower", best: "0",
		goal:    "Reduce how much " + linter + " finds, by correcting the code and not by silencing it.",
		targets: always("**/*.py"), protect: pyTests,
		setup: func(p place) string {
			if p.installed(linter) {
				return ""
			}
			return pythonEnv(linter)
		},
		script: func(p place) string {
			program := ".autoloop-venv/bin/" + linter
			if p.installed(linter) {
				program = linter
			}
			return program + flags + ` > "$TMPDIR/lint.txt"
python3 -c '` + count + `' "$TMPDIR/lint.txt" > "$AUTOLOOP_RESULT"`
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
print(json.dumps({"findings": len(found)}))
`
	flake8Count = `
import json, sys
found = open(sys.argv[1]).read().splitlines()
for line in found:
    if ": E9" in line:
        sys.exit("syntax error: " + line)
print(json.dumps({"findings": len(found)}))
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
		script: fixed(python + ` -m pytest --quiet --cov=. --cov-report= >&2
` + python + ` -m coverage json -q -o "$TMPDIR/coverage.json"
python3 -c 'import json, sys; print(json.dumps({"coverage": json.load(open(sys.argv[1]))["totals"]["percent_covered"]}))' "$TMPDIR/coverage.json" > "$AUTOLOOP_RESULT"`),
	}
}
