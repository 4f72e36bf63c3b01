package setup

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

var jsTests = []string{"**/test/**", "**/tests/**", "**/__tests__/**", "**/*.test.*", "**/*.spec.*"}

// npmPackage is what a package.json says.
type npmPackage struct {
	Scripts         map[string]string
	Dependencies    map[string]string
	DevDependencies map[string]string
}

func readNPM(dir string) (pkg npmPackage, found bool) {
	data, err := os.ReadFile(filepath.Join(dir, "package.json"))
	return pkg, err == nil && json.Unmarshal(data, &pkg) == nil
}

func (p place) npm() (pkg npmPackage, found bool) {
	pkg, found = readNPM(p.dir)
	return pkg, found && p.installed("npm")
}

func (n npmPackage) uses(name string) bool { return n.Dependencies[name]+n.DevDependencies[name] != "" }

// tested is a script that runs the tests, when there are any.
func (p place) tested(command string) string {
	if npmTests(p.dir) {
		return command + "\n"
	}
	return ""
}

func jsSources(p place) []string {
	return sources(p.dir, "*.js", "*.mjs", "*.cjs", "*.ts", "*.tsx", "*.jsx")
}

// jsBuilds are files that build, or say how.
var jsBuilds = []string{"**/*.config.*", "**/.eslintrc*", "build.*", "scripts/**"}

func jsRecipes() []recipe {
	return []recipe{
		{
			kind: "js-bundle-size", why: "package.json with a script build: a smaller bundle",
			fits:   func(p place) bool { pkg, found := p.npm(); return found && pkg.Scripts["build"] != "" },
			metric: "bytes", better: "lower",
			goal:    "Make the bundle that `npm run build` writes smaller: scripts and styles, compressed, in bytes. What the tests check stays.",
			targets: jsSources, protect: slices.Concat(jsBuilds, jsTests),
			setup: func(p place) string { return npmSetup(p.dir) },
			script: func(p place) string {
				return p.tested("npm test >&2") + `rm -rf dist build out
npm run build >&2
for dir in dist build out; do [ ! -d "$dir" ] || break; done
find "$dir" -type f \( -name '*.js' -o -name '*.mjs' -o -name '*.css' \) | sort > "$TMPDIR/bundle.txt"
test -s "$TMPDIR/bundle.txt"
printf '{"bytes": %d}\n' "$(tr '\n' '\0' < "$TMPDIR/bundle.txt" | xargs -0 cat | gzip -9 -n | wc -c)" > "$AUTOLOOP_RESULT"`
			},
		},
		{
			kind: "js-lint", why: "package.json with a configuration of eslint: fewer findings",
			fits: func(p place) bool {
				_, found := p.npm()
				return found && (has(p.dir, "eslint.config.*") || has(p.dir, ".eslintrc*"))
			},
			metric: "findings", better: "lower", best: "0",
			goal:    "Reduce how much eslint finds, by correcting the code. What the tests check stays.",
			targets: jsSources, protect: slices.Concat(jsBuilds, jsTests),
			setup: func(p place) string { return npmSetup(p.dir) },
			script: func(p place) string {
				return p.tested("npm test >&2") + `npx --no-install eslint . --no-inline-config --format json > "$TMPDIR/lint.json" || [ $? -eq 1 ]
node -e 'const all = JSON.parse(require("fs").readFileSync(process.argv[1])); const bad = all.find(f => f.messages.some(m => m.fatal)); if (bad) { console.error("syntax error: " + bad.filePath); process.exit(1) } console.log(JSON.stringify({findings: all.reduce((n, f) => n + f.messages.length, 0)}))' "$TMPDIR/lint.json" > "$AUTOLOOP_RESULT"`
			},
		},
		{
			kind: "js-coverage", why: "package.json with tests: more coverage",
			fits:   func(p place) bool { return jsCoverage(p) != "" },
			metric: "coverage", better: "higher", best: "100",
			goal:    "Raise the share of lines that the tests cover, in percent, with tests that check behaviour.",
			targets: always("test/**", "tests/**", "**/__tests__/**", "**/*.test.*", "**/*.spec.*"), creates: true, protect: []string{"**/*.config.*"},
			setup: func(p place) string { return npmSetup(p.dir) }, script: jsCoverage,
		},
		{
			kind: "js-test-time", why: "package.json with tests: faster tests",
			fits:   func(p place) bool { _, found := p.npm(); return found && npmTests(p.dir) },
			metric: "seconds", better: "lower",
			goal:    "Make the code under test faster, so that the tests take fewer seconds; what they check stays.",
			targets: jsSources, protect: slices.Concat(jsBuilds, jsTests),
			setup: func(p place) string { return npmSetup(p.dir) }, script: fixed(timed("npm test")),
		},
	}
}

var nodeTest = lazyregexp.New(`^node\s+(?:--\S+\s+)*--test\b`)

// jsCoverage is a script that measures coverage with what the package uses
// already; "" when that is nothing.
func jsCoverage(p place) string {
	pkg, found := p.npm()
	if !found || !npmTests(p.dir) {
		return ""
	}
	const summary = `
node -e 'console.log(JSON.stringify({coverage: JSON.parse(require("fs").readFileSync(process.argv[1])).total.lines.pct}))' "$TMPDIR/coverage/coverage-summary.json" > "$AUTOLOOP_RESULT"`
	switch {
	case pkg.uses("vitest"):
		return `npx --no-install vitest run --coverage.enabled --coverage.reporter=json-summary --coverage.reportsDirectory="$TMPDIR/coverage" >&2` + summary
	case pkg.uses("jest"):
		return `npx --no-install jest --coverage --coverageReporters=json-summary --coverageDirectory="$TMPDIR/coverage" >&2` + summary
	case pkg.uses("c8"):
		return `npx --no-install c8 --reporter=json-summary --reports-dir "$TMPDIR/coverage" npm test >&2` + summary
	case pkg.uses("nyc"):
		return `npx --no-install nyc --reporter=json-summary --report-dir "$TMPDIR/coverage" npm test >&2` + summary
	case nodeTest().MatchString(strings.TrimSpace(pkg.Scripts["test"])):
		return `node --test --experimental-test-coverage --test-reporter=tap > "$TMPDIR/tests.txt" || { cat "$TMPDIR/tests.txt" >&2; exit 1; }
LC_ALL=C awk -F'|' '/^# all files/ { gsub(/ /, "", $2); printf "{\"coverage\": %s}\n", $2 }' "$TMPDIR/tests.txt" > "$AUTOLOOP_RESULT"`
	default:
		return ""
	}
}
