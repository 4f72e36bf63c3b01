package setup

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// place is a directory of the repository that a program may be for.
type place struct {
	dir       string
	tracked   []string // below it
	installed func(command string) bool
}

// has reports whether something in the directory matches a glob.
func (p place) has(glob string) bool {
	found, err := fs.Glob(os.DirFS(p.dir), glob)
	return err == nil && len(found) > 0
}

// read is what a file says, "" for none.
func (p place) read(name string) string {
	data, _ := os.ReadFile(filepath.Join(p.dir, name))
	return string(data)
}

func (p place) says(file, words string) bool { return strings.Contains(p.read(file), words) }

// uses reports whether there are a file and the command for what it tells of.
func (p place) uses(file, command string) bool { return p.has(file) && p.installed(command) }

// tracks reports whether a file has one of the endings.
func (p place) tracks(endings ...string) bool {
	return slices.ContainsFunc(p.tracked, func(file string) bool { return slices.Contains(endings, path.Ext(file)) })
}

// anyFile reports whether one of the first files that match has words in it.
func (p place) anyFile(suffix string, words lazyregexp.Regexp) bool {
	const most = 2000
	looked := 0
	for _, file := range p.tracked {
		if !strings.HasSuffix(file, suffix) {
			continue
		}
		if looked++; looked > most {
			return false
		}
		if words().MatchString(p.read(file)) {
			return true
		}
	}
	return false
}

// sources are globs for where the directory has its code: in the usual directories, else in
// files of its own that one of the patterns matches.
func (p place) sources(patterns ...string) []string {
	var globs []string
	for _, glob := range []string{"src", "lib", "app", "packages/*/src", "packages/*/lib"} {
		if p.has(glob) {
			globs = append(globs, glob+"/**")
		}
	}
	if len(globs) > 0 {
		return globs
	}
	for _, pattern := range patterns {
		if p.has(pattern) {
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

var makefiles = []string{"GNUmakefile", "makefile", "Makefile"}

// A rule for `test` or `check`, and no variable of that name.
var makeTest = lazyregexp.New(`(?m)^(test|check)\s*::?(?:[^:=]|$)`)

// makeTests is the name of the rule that tests, "" for none. Make reads the first file.
func (p place) makeTests() (rule string) {
	if at := slices.IndexFunc(makefiles, p.has); at >= 0 {
		for _, found := range makeTest().FindAllStringSubmatch(p.read(makefiles[at]), -1) {
			if rule != "test" {
				rule = found[1]
			}
		}
	}
	return rule
}

// recipe is a kind of program, as it would be for a place.
type recipe struct {
	kind, why string
	fits      bool
	purpose
	project
	goal string
	// script sets $value, and $tests where it knows how many tests passed, else $ended
	// where it knows how many processes of them came to their end.
	script string
}

// purpose is what a recipe measures, in whatever language.
type purpose struct {
	// metric is its name, better is `lower` or `higher`, and best the value that
	// leaves nothing to gain; "" for none.
	metric, better, best string
	// works says that what tests check has to stay beside what is measured, and
	// creates that the targets need not exist yet.
	works, creates bool
}

var (
	size     = purpose{metric: "bytes", better: "lower", works: true}
	lint     = purpose{metric: "findings", better: "lower", best: "0", works: true}
	coverage = purpose{metric: "coverage", better: "higher", best: "100", creates: true}
	testTime = purpose{metric: "seconds", better: "lower"}
)

const (
	coverLines  = "Raise the share of lines that the tests cover, in percent, with tests that check behaviour."
	fasterTests = "Make the code under test faster, so that the tests take fewer seconds; what they check stays."
)

// project is what a recipe changes and what it needs.
type project struct {
	targets, protect []string
	setup            string
	// grows says that a candidate may add tests, or that what is counted are lines.
	grows bool
}

// refuse ends the script with the reason of a refusal; failed quotes what the tests say.
const refuse = `refuse() {
  printf '{"METRIC": null, "rejected_reason": "%s"}\n' "$(printf %s "$1" | tr -d '"\\' | tr -c '[:print:]' ' ' | cut -c 1-300)" > "$AUTOLOOP_RESULT"
  exit 0
}
failed() {
  cat "$TMPDIR/said.txt" >&2
  refuse "the tests fail: $(grep -m 1 -iE '^ *not ok|fail|error|assert' "$TMPDIR/said.txt" || tail -n 1 "$TMPDIR/said.txt")"
}
`

// notPlain is a character that a glob, or a list of targets, would read as
// something else; `?` stands for it.
var notPlain = lazyregexp.New(`[^\w./+@-]`)

// text is the program file for a directory below the root, "." for the root.
func (r recipe) text(name, at string) string {
	script := "\n" + strings.TrimSpace(r.script) + "\n"
	result, values, rails := `{"`+r.metric+`": %s`, ` "$value"`, []string(nil)
	for _, count := range []string{"tests", "benchmarks", "ended", "scripts"} {
		if !strings.Contains(script, "\n"+count+"=") {
			continue
		}
		result, values = result+`, "`+count+`": %d`, values+` "$`+count+`"`
		rails = append(rails, "{metric: "+count+", direction: higher}")
		if count == "benchmarks" || count == "tests" && !r.creates && !r.grows {
			// Those of protected files: more are made up.
			rails = append(rails, "{metric: "+count+", direction: lower}")
		}
	}
	head := "---\nschedule: every 6h\nmetric: " + r.metric + "\nmetric_direction: " + r.better + "\n"
	if rails != nil {
		head += "guardrails: [" + strings.Join(rails, ", ") + "]\n"
	}
	begin, setup, goal := "", r.setup, r.goal
	if at != "." {
		begin = "cd '" + strings.ReplaceAll(at, "'", `'\''`) + "'\n"
	}
	if setup != "" && begin != "" {
		setup = strings.TrimSpace(begin) + " && { " + setup + "; }"
	}
	if setup != "" {
		head += "setup: " + strconv.Quote(setup) + "\n"
	}
	runs := strings.Contains(script, "|| failed\n")
	switch {
	case runs && r.works:
		goal += " What the tests check stays."
	case r.works:
		goal += " No test checks that it still works: a person does."
	}
	if runs {
		begin += strings.ReplaceAll(refuse, "METRIC", r.metric)
	}
	list := func(globs []string) (lines string) {
		for _, glob := range globs {
			lines += "- `" + path.Join(notPlain().ReplaceAllString(at, "?"), glob) + "`\n"
		}
		return lines
	}
	better := strings.ToUpper(r.better[:1]) + r.better[1:]
	return head + "---\n\n# " + name + "\n\n## Goal\n\n" + goal + " " + better + " is better.\n\n## Target\n\n" +
		list(r.targets) + "\nDo NOT modify:\n\n" + list(r.protect) + "\n## Evaluation\n\n```bash\nset -e\n" + begin +
		strings.TrimSpace(script) + "\nprintf '" + result + "}\\n'" + values + " > \"$AUTOLOOP_RESULT\"\n```\n"
}

// runner is how the tests of a place are run.
type runner struct {
	// before is a script that is not timed, command what runs the tests, without a
	// single quote, and count one that sets $tests from $TMPDIR/said.txt, which has
	// what the tests print, or from $TMPDIR/report, which they write at their end.
	before, command, count string
}

// run is a script that runs the tests and refuses where they fail.
func (r runner) run() string {
	return r.script(r.command + ` > "$TMPDIR/said.txt" 2>&1`)
}

// when is run where there are tests, else nothing.
func (r runner) when(there bool) string {
	if !there {
		return ""
	}
	return r.run()
}

// timed also sets $value to the seconds that they take.
func (r runner) timed() string {
	return r.script(`value=$(bash -c 'export LC_ALL=C TIMEFORMAT=%R; { time ` + r.command +
		` > "$TMPDIR/said.txt" 2>&1; } 2>&1')`)
}

func (r runner) script(command string) string {
	return r.before + "rm -f \"$TMPDIR/report\"\n" + command + " || failed\n" + r.count
}

// someTests refuses where no test passed.
const someTests = `[ "$tests" -gt 0 ] || refuse "no test ran"
`

// recipes are all kinds of programs, in the order in which they are tried: what
// is worth most first. A kind needs what its repository has configured.
func recipes(p place) []recipe {
	return slices.Concat(goRecipes(p), jsRecipes(p), pythonRecipes(p), rustRecipes(p), makeRecipes(p))
}

var (
	benchmark   = lazyregexp.New(`(?m)^func Benchmark\w*\(`)
	goTest      = lazyregexp.New(`(?m)^func (Test|Example|Fuzz)\w*\(`)
	mainPackage = lazyregexp.New(`(?m)^package main\b`)
	goTestFiles = []string{"**/*_test.go", "**/testdata/**"}
)

// goEnd lets a test program fail that ends before its tests do, as with os.Exit in an
// init function: it writes no profile.
const goEnd = `echo '"$@" -test.memprofile="$1.end" && [ -s "$1.end" ]' > "$TMPDIR/run.sh"
`

func goTests(flags string) string {
	return `go test -json -count=1 -exec "sh \"$TMPDIR/run.sh\"" ` + flags + `./...`
}

// goPassed counts the tests that passed, each with its package.
const goPassed = `sed -n 's/.*"Action":"pass",\("Package":".*","Test":".*"\),"Elapsed".*/\1/p' "$TMPDIR/said.txt" > "$TMPDIR/passed.txt"
[ -z "$(sort "$TMPDIR/passed.txt" | uniq -d)" ] || refuse "a test passed twice"
tests=$(wc -l < "$TMPDIR/passed.txt")
`

func goRecipes(p place) []recipe {
	isGo := p.uses("go.mod", "go")
	unit := runner{command: goTests(""), count: goPassed + someTests}.when(p.anyFile("_test.go", goTest))
	covered := runner{
		command: goTests(`-coverprofile="$TMPDIR/cover.out" `),
		count: goPassed + `go tool cover -func="$TMPDIR/cover.out" > "$TMPDIR/cover.txt"
value=$(LC_ALL=C awk '/^total:/ { sub("%", "", $NF); print $NF }' "$TMPDIR/cover.txt")
`,
	}
	// A line of a benchmark is told in one part or in two.
	benchmarks := runner{
		command: goTests(`-run "^\$" -bench . -benchtime 0.2s `),
		count: `sed -n 's/.*"Package":"\([^"]*\)".*"Output":"\(.*\)"}$/\1 \2/p' "$TMPDIR/said.txt" | awk '
  { at = index($0, " "); in_ = substr($0, 1, at); said[in_] = said[in_] substr($0, at + 1) }
  /\\n$/ { print in_ said[in_]; said[in_] = "" }
' | grep 'ns/op' | sed 's/^\([^ ]*\) \(Benchmark[^ \\]*\) *\\t *[0-9]*\\t *\([0-9.e+]*\) ns\/op.*/\1 \2 \3/' > "$TMPDIR/bench.txt" || true
cat "$TMPDIR/bench.txt" >&2
value=$(LC_ALL=C awk '
  NF != 3 || $3 <= 0 || seen[$1 " " $2]++ { bad = 1; exit }
  { sum += log($3) }
  END { if (bad || !NR) exit 1; printf "%.6g", exp(sum / NR) }
' "$TMPDIR/bench.txt") || refuse "a benchmark has two results, or one that cannot be read"
benchmarks=$(wc -l < "$TMPDIR/bench.txt")
`,
	}
	return []recipe{
		{
			"go-benchmark", "go.mod with benchmarks: less time an operation", isGo && p.anyFile("_test.go", benchmark),
			purpose{metric: "ns_per_op", better: "lower", works: true},
			project{targets: []string{"**/*.go"}, protect: goTestFiles},
			"Make the benchmarks faster: the geometric mean of their nanoseconds an operation.",
			goEnd + unit + benchmarks.run(),
		},
		{
			"go-coverage", "go.mod: more coverage by tests", isGo, coverage,
			project{targets: []string{"**/*_test.go"}, protect: []string{"**/testdata/**"}},
			strings.Replace(coverLines, "lines", "statements", 1), goEnd + covered.run(),
		},
		{
			"go-binary-size", "go.mod with a command: smaller binaries", isGo && p.anyFile(".go", mainPackage), size,
			project{targets: []string{"**/*.go", "go.mod", "go.sum"}, protect: goTestFiles},
			"Make the binaries smaller, in bytes.",
			goEnd + `rm -rf "$TMPDIR/bin"; mkdir "$TMPDIR/bin"
go build -trimpath -buildvcs=false -o "$TMPDIR/bin/" ./... >&2
value=$(cat "$TMPDIR"/bin/* | wc -c)
` + unit,
		},
	}
}

var (
	cSources  = []string{"**/*.c", "**/*.h", "**/*.cc", "**/*.cpp", "**/*.hpp"}
	testFiles = []string{"**/test/**", "**/tests/**", "**/test*", "**/*_test.*", "**/check_*"}
)

// shellcheck reads the scripts that may change, without the comments that silence it; a
// syntax error hides all others of its file.
const shellcheck = `find . -name '*.sh' -type f ! -path './.git/*' ! -path '*/test/*' ! -path '*/tests/*' ! -name 'test*' \
  ! -name '*_test.*' ! -name 'check_*' | LC_ALL=C sort > "$TMPDIR/scripts.txt"
scripts=$(wc -l < "$TMPDIR/scripts.txt")
while IFS= read -r file; do
  sed -e :again -e 's/\(#[[:space:]]*shellcheck[[:space:]].*\)disable=[^[:space:]]*/\1/' -e 't again' \
    -e 's/#[[:space:]]*shellcheck[[:space:]]*\(#.*\)\{0,1\}$/#/' "$file" | shellcheck --norc --format gcc - || [ $? -eq 1 ]
done < "$TMPDIR/scripts.txt" > "$TMPDIR/lint.txt"
if grep -E ': error: .*\[SC10' "$TMPDIR/lint.txt" >&2; then exit 1; fi
value=$(wc -l < "$TMPDIR/lint.txt")
`

func makeRecipes(p place) []recipe {
	made := p.installed("make") && slices.ContainsFunc(makefiles, p.has)
	rule := p.makeTests()
	// Most rules print no count; what is counted are the lines of TAP and of automake, else
	// those that say in their own way that something passed.
	tests := runner{
		command: "make " + rule,
		count: `tests=$(grep -cE '^(ok|PASS)[ :]' "$TMPDIR/said.txt" || true)
[ "$tests" -gt 0 ] || tests=$(grep -ciwE 'ok|pass|passed' "$TMPDIR/said.txt" || true)
`,
	}
	return []recipe{
		{
			"make-binary-size", "Makefile and C: smaller binaries", made && p.tracks(".c", ".cc", ".cpp"), size,
			project{targets: cSources, protect: testFiles, grows: true},
			"Make what `make` builds smaller, in bytes.",
			`touch "$TMPDIR/before"
make -B >&2
find . -type f -perm -u+x -newer "$TMPDIR/before" ! -name '*.sh' ! -path './.git/*' > "$TMPDIR/built.txt"
test -s "$TMPDIR/built.txt"
value=$(tr '\n' '\0' < "$TMPDIR/built.txt" | xargs -0 cat | wc -c)
` + tests.when(rule != ""),
		},
		{
			"make-test-time", "Makefile with a rule for tests: faster tests", made && rule != "", testTime,
			project{
				targets: p.sources("*.c", "*.cc", "*.cpp", "*.h", "*.py", "*.rb", "*.sh"), protect: testFiles, grows: true,
			},
			fasterTests, tests.timed(),
		},
		{
			"shell-lint", "shell scripts: fewer findings of shellcheck",
			p.installed("shellcheck") && p.tracks(".sh"), lint,
			project{targets: []string{"**/*.sh"}, protect: testFiles, grows: true},
			"Reduce how much shellcheck finds, by correcting the scripts and not by silencing it.",
			shellcheck + tests.when(made && rule != ""),
		},
	}
}

var rustTest = lazyregexp.New(`#\[(\w+::)*test\b`)

// rustPassed counts the tests that passed, and those that were left out.
const rustPassed = `tests=$(awk '/^test result: ok\. / { n += $4 } END { print n + 0 }' "$TMPDIR/said.txt")
ignored=$(awk '/^test result: ok\. / { n += $8 } END { print n + 0 }' "$TMPDIR/said.txt")
`

// rustTests runs the tests, as many as there are by name.
var rustTests = runner{
	before: `listed=$(cargo test --quiet -- --list | grep -c ': test$' || true)
`,
	command: "cargo test --quiet",
	count: rustPassed + someTests +
		`[ $((tests + ignored)) -eq "$listed" ] || refuse "$((tests + ignored)) of $listed tests ran"
`,
}

func rustRecipes(p place) []recipe {
	isRust := p.uses("Cargo.toml", "cargo")
	code := project{
		targets: []string{"**/src/**"}, protect: []string{"**/tests/**", "**/benches/**"}, grows: true, // of a workspace
	}
	if p.has("src") {
		code.targets = []string{"src/**"}
	}
	return []recipe{
		{
			"rust-coverage", "Cargo.toml and cargo-llvm-cov: more coverage by tests",
			isRust && p.installed("cargo-llvm-cov"), coverage,
			project{targets: []string{"tests/**", "**/tests/**"}, protect: []string{"**/tests/data/**"}},
			coverLines,
			runner{
				command: `cargo llvm-cov --quiet --json --summary-only --output-path "$TMPDIR/report"`,
				count: rustPassed + `value=$(grep -o '"lines":{[^}]*}' "$TMPDIR/report" | tail -n 1 | LC_ALL=C sed 's/.*"percent":\([0-9.]*\).*/\1/')
`,
			}.run(),
		},
		{
			"rust-binary-size", "Cargo.toml with a binary: smaller",
			isRust && (p.has("src/main.rs") || p.has("src/bin/*")), size, code,
			"Make the release binaries smaller, in bytes.",
			`cargo build --release --quiet --target-dir "$TMPDIR/target" >&2
find "$TMPDIR/target/release" -maxdepth 1 -type f -perm -u+x ! -name '*.so' > "$TMPDIR/built.txt"
test -s "$TMPDIR/built.txt"
value=$(tr '\n' '\0' < "$TMPDIR/built.txt" | xargs -0 cat | wc -c)
` + rustTests.when(p.anyFile(".rs", rustTest)),
		},
		{"rust-test-time", "Cargo.toml: faster tests", isRust, testTime, code, fasterTests, rustTests.timed()},
	}
}
