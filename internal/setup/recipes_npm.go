package setup

import (
	"encoding/json"
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

func (p place) npm() (pkg npmPackage, found bool) {
	found = json.Unmarshal([]byte(p.read("package.json")), &pkg) == nil && p.installed("npm")
	return pkg, found
}

func (n npmPackage) uses(name string) bool { return n.Dependencies[name]+n.DevDependencies[name] != "" }

// tested reports whether there are tests: `npm init` writes a script that says that
// nothing is tested.
func (n npmPackage) tested() bool {
	test := n.Scripts["test"]
	return strings.TrimSpace(test) != "" && !strings.Contains(test, "no test specified")
}

// npmSetup installs what the tests import, by the lock file that there is.
func (p place) npmSetup() string {
	switch {
	case p.has("package-lock.json"), p.has("npm-shrinkwrap.json"):
		return "npm ci --no-audit --no-fund"
	case p.has("pnpm-lock.yaml"):
		return "npx --yes pnpm install --frozen-lockfile"
	case p.has("yarn.lock"):
		return "npx --yes yarn install --frozen-lockfile"
	case p.says("package.json", `ependencies"`):
		return "npm install --no-audit --no-fund --no-package-lock"
	default:
		return ""
	}
}

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

// test runs the tests. Of a runner that is not known those of its processes are
// counted that came to their own end: process.exit ends one before.
func (n npmPackage) test() runner {
	for _, known := range jsRunners {
		if !known.command().MatchString(n.Scripts["test"]) {
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

// jsBuilds are files that build, or say how.
var jsBuilds = []string{"**/*.config.*", "**/.eslintrc*", "build.*", "scripts/**"}

func jsRecipes(p place) []recipe {
	pkg, found := p.npm()
	tests, covered := pkg.test(), pkg.coverage()
	check := tests.when(pkg.tested())
	code := project{
		targets: p.sources("*.js", "*.mjs", "*.cjs", "*.ts", "*.tsx", "*.jsx"),
		protect: slices.Concat(jsBuilds, jsTests), setup: p.npmSetup(),
	}
	return []recipe{
		{
			"js-bundle-size", "package.json with a script build: a smaller bundle",
			found && pkg.Scripts["build"] != "", size, code,
			"Make the bundle that `npm run build` writes smaller: scripts and styles, compressed, in bytes.",
			`rm -rf dist build out
npm run build >&2
for dir in dist build out; do [ ! -d "$dir" ] || break; done
find "$dir" -type f \( -name '*.js' -o -name '*.mjs' -o -name '*.css' \) | sort > "$TMPDIR/bundle.txt"
test -s "$TMPDIR/bundle.txt"
value=$(tr '\n' '\0' < "$TMPDIR/bundle.txt" | xargs -0 cat | gzip -9 -n | wc -c)
` + check,
		},
		{
			"js-lint", "package.json with a configuration of eslint: fewer findings",
			found && (p.has("eslint.config.*") || p.has(".eslintrc*")), lint, code,
			"Reduce how much eslint finds, by correcting the code.",
			eslint + check,
		},
		{
			"js-coverage", "package.json with tests: more coverage", found && covered != "", coverage,
			project{
				targets: []string{"test/**", "tests/**", "**/__tests__/**", "**/*.test.*", "**/*.spec.*"},
				protect: []string{"**/*.config.*"}, setup: code.setup,
			},
			coverLines, covered,
		},
		{
			"js-test-time", "package.json with tests: faster tests", found && pkg.tested(), testTime, code,
			fasterTests, tests.timed(),
		},
	}
}

// eslint counts what it finds but in directories of tests, which no candidate may change; a
// fatal error hides all others of its file.
const eslint = `npx --no-install eslint . --ignore-pattern '**/test/**' --ignore-pattern '**/tests/**' \
  --ignore-pattern '**/spec/**' --ignore-pattern '**/__tests__/**' \
  --no-inline-config --format json > "$TMPDIR/lint.json" || [ $? -eq 1 ]
value=$(node -e 'const all = JSON.parse(require("fs").readFileSync(process.argv[1])); const bad = all.find(f => f.messages.some(m => m.fatal)); if (bad) { console.error("syntax error: " + bad.filePath); process.exit(1) } console.log(all.reduce((n, f) => n + f.messages.length, 0))' "$TMPDIR/lint.json")
`

// coverage is a script that measures coverage with what the package uses
// already; "" when that is nothing.
func (n npmPackage) coverage() string {
	tests := n.test()
	summary := `value=$(node -e 'console.log(JSON.parse(require("fs").readFileSync(process.argv[1])).total.lines.pct)' "$TMPDIR/coverage/coverage-summary.json")
`
	switch {
	case !n.tested():
		return ""
	case n.uses("vitest"):
		tests.command += ` --coverage.enabled --coverage.reporter=json-summary ` +
			`--coverage.reportsDirectory="$TMPDIR/coverage"`
	case n.uses("jest"):
		tests.command += ` --coverage --coverageReporters=json-summary --coverageDirectory="$TMPDIR/coverage"`
	case n.uses("c8"):
		tests.command = `npx --no-install c8 --reporter=json-summary --reports-dir "$TMPDIR/coverage" ` + tests.command
	case n.uses("nyc"):
		tests.command = `npx --no-install nyc --reporter=json-summary --report-dir "$TMPDIR/coverage" ` + tests.command
	case nodeAlone().MatchString(n.Scripts["test"]):
		tests.command = strings.Replace(tests.command, "npm test", "node --test --experimental-test-coverage", 1)
		summary = `value=$(LC_ALL=C awk -F'|' '/^# all files/ { gsub(/ /, "", $2); print $2 }' "$TMPDIR/report")
`
	default:
		return ""
	}
	return tests.run() + summary
}
