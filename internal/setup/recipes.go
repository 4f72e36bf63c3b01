package setup

import (
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

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
