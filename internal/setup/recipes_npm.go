package setup

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

var jsTests = []string{
	"**/test/**", "**/tests/**", "**/spec/**", "**/__tests__/**", "**/test.*", "**/tests.*", "**/test-*",
	"**/*[.-_]test.*", "**/*.spec.*",
}

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

// jsRunners are the runners that are known by the last command of the script, with
// what makes them report, and where the report says how many passed. Node's own counts
// a file that ends before its tests as one that passed.
var jsRunners = []struct {
	command           lazyregexp.Regexp
	environ           string
	arguments, passed string
}{
	{
		command: nodeTest, environ: `NODE_OPTIONS="--test-reporter=tap ` +
			`--test-reporter-destination=\"$TMPDIR/report\" --test-reporter=tap --test-reporter-destination=stdout" `,
		passed: `[...text.matchAll(/^ *ok \d+ - (.*)$/gm)].filter(([, name]) => !/ # (SKIP|TODO)/.test(name) && ` +
			`!(/\.[cm]?[jt]sx?$/.test(name) && fs.existsSync(name))).length`,
	},
	{
		command: lastCommand("mocha"), arguments: ` -- --reporter json --reporter-option output="$TMPDIR/report"`,
		passed: "JSON.parse(text).stats.passes",
	},
	{
		command: lastCommand("jest"), arguments: ` -- --json --outputFile="$TMPDIR/report"`,
		passed: "JSON.parse(text).numPassedTests",
	},
	{
		command: lastCommand("vitest"), arguments: ` -- --run --reporter=json --outputFile="$TMPDIR/report"`,
		passed: "JSON.parse(text).numPassedTests",
	},
}

var (
	nodeTest  = lazyregexp.New(`\bnode\s+(?:--\S+\s+)*--test\b[^&|;]*$`)
	nodeAlone = lazyregexp.New(`^\s*node\s+(?:--\S+\s+)*--test\b[^&|;]*$`)
)

func lastCommand(name string) lazyregexp.Regexp {
	return lazyregexp.New(`\b` + name + `\b[^&|;]*$`)
}

// npmTest runs the tests. Of a runner that is not known those of its processes are
// counted that came to their own end: process.exit ends one before.
func (p place) npmTest() runner {
	pkg, _ := readNPM(p.dir)
	for _, known := range jsRunners {
		if !known.command().MatchString(pkg.Scripts["test"]) {
			continue
		}
		return runner{
			command: known.environ + "npm test" + known.arguments,
			count: `[ -s "$TMPDIR/report" ] || refuse "the tests ended before they were over"
tests=$(node -e 'const fs = require("fs"), text = fs.readFileSync(process.argv[1], "utf8"); console.log(` +
				known.passed + `)' "$TMPDIR/report")
` + someTests,
		}
	}
	return runner{
		before: `cat > "$TMPDIR/end.js" <<'end'
if (!/npm-cli/.test(process.argv[1])) process.once("beforeExit", () => require("fs").appendFileSync(process.env.TMPDIR + "/report", "ended\n"))
end
`,
		command: `NODE_OPTIONS="--require \"$TMPDIR/end.js\"" npm test`,
		count: `ended=$(if [ -e "$TMPDIR/report" ]; then wc -l < "$TMPDIR/report"; else echo 0; fi)
`,
	}
}

// npmTested runs the tests, when there are any.
func (p place) npmTested() string {
	if npmTests(p.dir) {
		return p.npmTest().run()
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
			metric: "bytes", better: "lower", works: true,
			goal:    "Make the bundle that `npm run build` writes smaller: scripts and styles, compressed, in bytes.",
			targets: jsSources, protect: slices.Concat(jsBuilds, jsTests),
			setup: func(p place) string { return npmSetup(p.dir) },
			script: func(p place) string {
				return `rm -rf dist build out
npm run build >&2
for dir in dist build out; do [ ! -d "$dir" ] || break; done
find "$dir" -type f \( -name '*.js' -o -name '*.mjs' -o -name '*.css' \) | sort > "$TMPDIR/bundle.txt"
test -s "$TMPDIR/bundle.txt"
value=$(tr '\n' '\0' < "$TMPDIR/bundle.txt" | xargs -0 cat | gzip -9 -n | wc -c)
` + p.npmTested()
			},
		},
		{
			kind: "js-lint", why: "package.json with a configuration of eslint: fewer findings",
			fits: func(p place) bool {
				_, found := p.npm()
				return found && (has(p.dir, "eslint.config.*") || has(p.dir, ".eslintrc*"))
			},
			metric: "findings", better: "lower", best: "0", works: true,
			goal:    "Reduce how much eslint finds, by correcting the code.",
			targets: jsSources, protect: slices.Concat(jsBuilds, jsTests),
			setup: func(p place) string { return npmSetup(p.dir) },
			script: func(p place) string {
				return `npx --no-install eslint . --no-inline-config --format json > "$TMPDIR/lint.json" || [ $? -eq 1 ]
value=$(node -e 'const all = JSON.parse(require("fs").readFileSync(process.argv[1])); const bad = all.find(f => f.messages.some(m => m.fatal)); if (bad) { console.error("syntax error: " + bad.filePath); process.exit(1) } console.log(all.reduce((n, f) => n + f.messages.length, 0))' "$TMPDIR/lint.json")
` + p.npmTested()
			},
		},
		{
			kind: "js-coverage", why: "package.json with tests: more coverage",
			fits:   func(p place) bool { return jsCoverage(p) != "" },
			metric: "coverage", better: "higher", best: "100",
			goal:    "Raise the share of lines that the tests cover, in percent, with tests that check behaviour.",
			targets: always("test/**", "tests/**", "**/__tests__/**", "**/*.test.*", "**/*.spec.*"), creates: true,
			protect: []string{"**/*.config.*"},
			setup:   func(p place) string { return npmSetup(p.dir) }, script: jsCoverage,
		},
		{
			kind: "js-test-time", why: "package.json with tests: faster tests",
			fits:   func(p place) bool { _, found := p.npm(); return found && npmTests(p.dir) },
			metric: "seconds", better: "lower", goal: fasterTests,
			targets: jsSources, protect: slices.Concat(jsBuilds, jsTests),
			setup:  func(p place) string { return npmSetup(p.dir) },
			script: func(p place) string { return p.npmTest().timed() },
		},
	}
}

// jsCoverage is a script that measures coverage with what the package uses
// already; "" when that is nothing.
func jsCoverage(p place) string {
	pkg, found := p.npm()
	if !found || !npmTests(p.dir) {
		return ""
	}
	tests := p.npmTest()
	summary := `value=$(node -e 'console.log(JSON.parse(require("fs").readFileSync(process.argv[1])).total.lines.pct)' "$TMPDIR/coverage/coverage-summary.json")
`
	switch {
	case pkg.uses("vitest"):
		tests.command += ` --coverage.enabled --coverage.reporter=json-summary ` +
			`--coverage.reportsDirectory="$TMPDIR/coverage"`
	case pkg.uses("jest"):
		tests.command += ` --coverage --coverageReporters=json-summary --coverageDirectory="$TMPDIR/coverage"`
	case pkg.uses("c8"):
		tests.command = `npx --no-install c8 --reporter=json-summary --reports-dir "$TMPDIR/coverage" ` + tests.command
	case pkg.uses("nyc"):
		tests.command = `npx --no-install nyc --reporter=json-summary --report-dir "$TMPDIR/coverage" ` + tests.command
	case nodeAlone().MatchString(pkg.Scripts["test"]):
		tests.command = strings.Replace(tests.command, "npm test", "node --test --experimental-test-coverage", 1)
		summary = `value=$(LC_ALL=C awk -F'|' '/^# all files/ { gsub(/ /, "", $2); print $2 }' "$TMPDIR/report")
`
	default:
		return ""
	}
	return tests.run() + summary
}
