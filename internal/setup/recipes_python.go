package setup

// pythonEnv makes an environment with more packages than the tests need.
func pythonEnv(p place, packages string) string {
	return "python3 -m venv .autoloop-venv && .autoloop-venv/bin/pip install --quiet " + packages
}

func isPython(p place) bool { return p.installed("python3") }

func pythonRecipes() []recipe {
	pySources := []string{"**/*.py"}
	pyTests := []string{"**/tests/**", "**/test_*.py", "**/*_test.py", "**/conftest.py"}
	return []recipe{
		{
			kind: "python-lint", why: "a configuration of ruff: fewer findings",
			fits: func(p place) bool {
				return isPython(p) && (p.has("ruff.toml") || p.has(".ruff.toml") || says(p.dir, "pyproject.toml", "[tool.ruff"))
			},
			metric: "findings", better: "lower", best: "0",
			goal:    "Reduce how much ruff finds, by correcting the code and not by silencing it.",
			targets: always(pySources...), protect: pyTests,
			setup: func(p place) string {
				if p.installed("ruff") {
					return ""
				}
				return pythonEnv(p, "ruff")
			},
			script: func(p place) string {
				ruff := ".autoloop-venv/bin/ruff"
				if p.installed("ruff") {
					ruff = "ruff"
				}
				return ruff + ` check --no-cache --exit-zero --ignore-noqa --exclude .autoloop-venv --output-format json . > "$TMPDIR/lint.json"
python3 -c 'import json, sys; print(json.dumps({"findings": len(json.load(open(sys.argv[1])))}))' "$TMPDIR/lint.json" > "$AUTOLOOP_RESULT"`
			},
		},
		{
			kind: "python-coverage", why: "pytest: more coverage by tests",
			fits:   func(p place) bool { return isPython(p) && usesPytest(p.dir) },
			metric: "coverage", better: "higher", best: "100",
			goal:    "Raise the share of lines that the tests cover, in percent, with tests that check behaviour.",
			targets: always("tests/**/*.py", "**/test_*.py"), creates: true, protect: []string{"**/conftest.py"},
			setup: func(p place) string { return pytestSetup(p.dir) },
			script: fixed(`
.autoloop-venv/bin/python -m pytest --quiet --cov=. --cov-report= >&2
.autoloop-venv/bin/python -m coverage json -q -o "$TMPDIR/coverage.json"
python3 -c 'import json, sys; print(json.dumps({"coverage": json.load(open(sys.argv[1]))["totals"]["percent_covered"]}))' "$TMPDIR/coverage.json" > "$AUTOLOOP_RESULT"`),
		},
	}
}
