package setup

import (
	"slices"

	"github.com/org/autoloop/internal/lazyregexp"
)

// recipes are all kinds of programs, in the order in which they are tried: what
// is worth most first. A kind needs what its repository has configured.
func recipes(p place) []recipe {
	return slices.Concat(goRecipes(p), jsRecipes(p), pythonRecipes(p), rustRecipes(p), makeRecipes(p))
}

const fasterTests = "Make the code under test faster, so that the tests take fewer seconds; what they check stays."

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
	coverage := runner{
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
			kind: "go-benchmark", why: "go.mod with benchmarks: less time an operation",
			fits:   isGo && p.anyFile("_test.go", benchmark),
			metric: "ns_per_op", better: "lower", works: true,
			goal:    "Make the benchmarks faster: the geometric mean of their nanoseconds an operation.",
			targets: []string{"**/*.go"}, protect: goTestFiles,
			script: goEnd + unit + benchmarks.run(),
		},
		{
			kind: "go-coverage", why: "go.mod: more coverage by tests", fits: isGo,
			metric: "coverage", better: "higher", best: "100",
			goal:    "Raise the share of statements that the tests cover, in percent, with tests that check behaviour.",
			targets: []string{"**/*_test.go"}, creates: true, protect: []string{"**/testdata/**"},
			script: goEnd + coverage.run(),
		},
		{
			kind: "go-binary-size", why: "go.mod with a command: smaller binaries",
			fits:   isGo && p.anyFile(".go", mainPackage),
			metric: "bytes", better: "lower", works: true,
			goal:    "Make the binaries smaller, in bytes.",
			targets: []string{"**/*.go", "go.mod", "go.sum"}, protect: goTestFiles,
			script: goEnd + `rm -rf "$TMPDIR/bin"; mkdir "$TMPDIR/bin"
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
			kind: "make-binary-size", why: "Makefile and C: smaller binaries",
			fits:   made && p.tracks(".c", ".cc", ".cpp"),
			metric: "bytes", better: "lower", works: true, grows: true,
			goal:    "Make what `make` builds smaller, in bytes.",
			targets: cSources, protect: testFiles,
			script: `touch "$TMPDIR/before"
make -B >&2
find . -type f -perm -u+x -newer "$TMPDIR/before" ! -name '*.sh' ! -path './.git/*' > "$TMPDIR/built.txt"
test -s "$TMPDIR/built.txt"
value=$(tr '\n' '\0' < "$TMPDIR/built.txt" | xargs -0 cat | wc -c)
` + tests.when(rule != ""),
		},
		{
			kind: "make-test-time", why: "Makefile with a rule for tests: faster tests",
			fits:   made && rule != "",
			metric: "seconds", better: "lower", goal: fasterTests, grows: true,
			targets: p.sources("*.c", "*.cc", "*.cpp", "*.h", "*.py", "*.rb", "*.sh"), protect: testFiles,
			script: tests.timed(),
		},
		{
			kind: "shell-lint", why: "shell scripts: fewer findings of shellcheck",
			fits:   p.installed("shellcheck") && p.tracks(".sh"),
			metric: "findings", better: "lower", best: "0", works: true, grows: true,
			goal:    "Reduce how much shellcheck finds, by correcting the scripts and not by silencing it.",
			targets: []string{"**/*.sh"}, protect: testFiles,
			script: shellcheck + tests.when(made && rule != ""),
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
	sources := []string{"**/src/**"} // of a workspace
	if p.has("src") {
		sources = []string{"src/**"}
	}
	tests := []string{"**/tests/**", "**/benches/**"}
	return []recipe{
		{
			kind: "rust-coverage", why: "Cargo.toml and cargo-llvm-cov: more coverage by tests",
			fits:   isRust && p.installed("cargo-llvm-cov"),
			metric: "coverage", better: "higher", best: "100",
			goal:    "Raise the share of lines that the tests cover, in percent, with tests that check behaviour.",
			targets: []string{"tests/**", "**/tests/**"}, creates: true, protect: []string{"**/tests/data/**"},
			script: runner{
				command: `cargo llvm-cov --quiet --json --summary-only --output-path "$TMPDIR/report"`,
				count: rustPassed + `value=$(grep -o '"lines":{[^}]*}' "$TMPDIR/report" | tail -n 1 | LC_ALL=C sed 's/.*"percent":\([0-9.]*\).*/\1/')
`,
			}.run(),
		},
		{
			kind: "rust-binary-size", why: "Cargo.toml with a binary: smaller",
			fits:   isRust && (p.has("src/main.rs") || p.has("src/bin/*")),
			metric: "bytes", better: "lower", works: true, grows: true,
			goal:    "Make the release binaries smaller, in bytes.",
			targets: sources, protect: tests,
			script: `cargo build --release --quiet --target-dir "$TMPDIR/target" >&2
find "$TMPDIR/target/release" -maxdepth 1 -type f -perm -u+x ! -name '*.so' > "$TMPDIR/built.txt"
test -s "$TMPDIR/built.txt"
value=$(tr '\n' '\0' < "$TMPDIR/built.txt" | xargs -0 cat | wc -c)
` + rustTests.when(p.anyFile(".rs", rustTest)),
		},
		{
			kind: "rust-test-time", why: "Cargo.toml: faster tests", fits: isRust,
			metric: "seconds", better: "lower", goal: fasterTests, grows: true,
			targets: sources, protect: tests, script: rustTests.timed(),
		},
	}
}
