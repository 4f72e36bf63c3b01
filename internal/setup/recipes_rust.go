package setup

import "github.com/org/autoloop/internal/lazyregexp"

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
