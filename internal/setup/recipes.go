package setup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// recipes are all kinds of programs, in the order in which they are tried: what
// is worth most first. A kind needs what its repository has configured.
func recipes() []recipe {
	return slices.Concat(goRecipes(), jsRecipes(), pythonRecipes(), rustRecipes(), makeRecipes())
}

func always(globs ...string) func(place) []string {
	return func(place) []string { return globs }
}

func fixed(script string) func(place) string { return func(place) string { return script } }

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
		data, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(file)))
		if err == nil && words().Match(data) {
			return true
		}
	}
	return false
}

func (p place) has(name string) bool { return hasFile(p.dir, name) }

var (
	benchmark   = lazyregexp.New(`(?m)^func Benchmark\w*\(`)
	mainPackage = lazyregexp.New(`(?m)^package main\b`)
	goTests     = []string{"**/*_test.go", "**/testdata/**"}
)

func isGo(p place) bool { return p.has("go.mod") && p.installed("go") }

func goRecipes() []recipe {
	return []recipe{
		{
			kind: "go-benchmark", why: "go.mod with benchmarks: less time an operation",
			fits:   func(p place) bool { return isGo(p) && p.anyFile("_test.go", benchmark) },
			metric: "ns_per_op", better: "lower",
			goal:    "Make the benchmarks faster: the geometric mean of their nanoseconds an operation. What the tests check stays.",
			targets: always("**/*.go"), protect: goTests,
			script: fixed(`
go test ./... >&2
go test -run '^$' -bench . -benchtime 0.2s ./... > "$TMPDIR/bench.txt"
cat "$TMPDIR/bench.txt" >&2
LC_ALL=C awk '
  /^Benchmark/ { for (i = 3; i <= NF; i++) if ($i == "ns/op" && $(i - 1) > 0) { sum += log($(i - 1)); n++ } }
  END { if (!n) exit 1; printf "{\"ns_per_op\": %.6g}\n", exp(sum / n) }
' "$TMPDIR/bench.txt" > "$AUTOLOOP_RESULT"`),
		},
		{
			kind: "go-coverage", why: "go.mod: more coverage by tests", fits: isGo,
			metric: "coverage", better: "higher", best: "100",
			goal:    "Raise the share of statements that the tests cover, in percent, with tests that check behaviour.",
			targets: always("**/*_test.go"), creates: true, protect: []string{"**/testdata/**"},
			script: fixed(`
go test -coverprofile="$TMPDIR/cover.out" ./... >&2
go tool cover -func="$TMPDIR/cover.out" > "$TMPDIR/cover.txt"
LC_ALL=C awk '/^total:/ { sub("%", "", $NF); printf "{\"coverage\": %s}\n", $NF }' "$TMPDIR/cover.txt" > "$AUTOLOOP_RESULT"`),
		},
		{
			kind: "go-binary-size", why: "go.mod with a command: smaller binaries",
			fits: func(p place) bool {
				return isGo(p) && p.anyFile(".go", mainPackage)
			},
			metric: "bytes", better: "lower",
			goal:    "Make the binaries smaller, in bytes. What the tests check stays.",
			targets: always("**/*.go", "go.mod", "go.sum"), protect: goTests,
			script: fixed(`
go test ./... >&2
rm -rf "$TMPDIR/bin"; mkdir "$TMPDIR/bin"
go build -trimpath -buildvcs=false -o "$TMPDIR/bin/" ./... >&2
printf '{"bytes": %d}\n' "$(cat "$TMPDIR"/bin/* | wc -c)" > "$AUTOLOOP_RESULT"`),
		},
	}
}

var (
	cSources  = []string{"**/*.c", "**/*.h", "**/*.cc", "**/*.cpp", "**/*.hpp"}
	testFiles = []string{"**/test/**", "**/tests/**", "**/test*", "**/*_test.*"}
)

func usesMake(p place) bool {
	return p.installed("make") && slices.ContainsFunc([]string{"GNUmakefile", "makefile", "Makefile"}, p.has)
}

func makeRecipes() []recipe {
	return []recipe{
		{
			kind: "make-binary-size", why: "Makefile and C: smaller binaries",
			fits: func(p place) bool {
				return usesMake(p) && slices.ContainsFunc(p.tracked, func(f string) bool {
					return strings.HasSuffix(f, ".c") || strings.HasSuffix(f, ".cc") || strings.HasSuffix(f, ".cpp")
				})
			},
			metric: "bytes", better: "lower",
			goal:    "Make what `make` builds smaller, in bytes. What the tests check stays.",
			targets: always(cSources...), protect: testFiles,
			script: func(p place) string {
				check := ""
				if makeTests(p.dir) {
					check = "make test >&2\n"
				}
				return `touch "$TMPDIR/before"
make -B >&2
find . -type f -perm -u+x -newer "$TMPDIR/before" ! -name '*.sh' ! -path './.git/*' > "$TMPDIR/built.txt"
test -s "$TMPDIR/built.txt"
printf '{"bytes": %d}\n' "$(tr '\n' '\0' < "$TMPDIR/built.txt" | xargs -0 cat | wc -c)" > "$TMPDIR/size.json"
` + check + `cat "$TMPDIR/size.json" > "$AUTOLOOP_RESULT"`
			},
		},
		{
			kind: "make-test-time", why: "Makefile with a rule test: faster tests",
			fits:   func(p place) bool { return usesMake(p) && makeTests(p.dir) },
			metric: "seconds", better: "lower",
			goal:    "Make the code under test faster, so that the tests take fewer seconds; what they check stays.",
			targets: func(p place) []string { return sources(p.dir, "*.c", "*.cc", "*.cpp", "*.h", "*.py", "*.rb", "*.sh") }, protect: testFiles,
			script: fixed(timed("make test")),
		},
	}
}

// timed is a script that measures how long a command takes.
func timed(command string) string {
	return `
bash -c '
  export LC_ALL=C TIMEFORMAT="{\"seconds\": %R}"
  { time ` + command + ` >/dev/null 2>&1; } 2>&1
' > "$TMPDIR/time.json"
cat "$TMPDIR/time.json" > "$AUTOLOOP_RESULT"`
}
