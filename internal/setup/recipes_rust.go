package setup

import "github.com/org/autoloop/internal/lazyregexp"

var rustTest = lazyregexp.New(`#\[(\w+::)*test\b`)

func isRust(p place) bool { return p.has("Cargo.toml") && p.installed("cargo") }

func rustSources(p place) []string {
	if !has(p.dir, "src") {
		return []string{"**/src/**"} // a workspace
	}
	return []string{"src/**"}
}

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

func rustRecipes() []recipe {
	tests := []string{"**/tests/**", "**/benches/**"}
	return []recipe{
		{
			kind: "rust-coverage", why: "Cargo.toml and cargo-llvm-cov: more coverage by tests",
			fits:   func(p place) bool { return isRust(p) && p.installed("cargo-llvm-cov") },
			metric: "coverage", better: "higher", best: "100",
			goal:    "Raise the share of lines that the tests cover, in percent, with tests that check behaviour.",
			targets: always("tests/**", "**/tests/**"), creates: true, protect: []string{"**/tests/data/**"},
			script: fixed(runner{
				command: `cargo llvm-cov --quiet --json --summary-only --output-path "$TMPDIR/report"`,
				count: rustPassed + `value=$(grep -o '"lines":{[^}]*}' "$TMPDIR/report" | tail -n 1 | LC_ALL=C sed 's/.*"percent":\([0-9.]*\).*/\1/')
`,
			}.run()),
		},
		{
			kind: "rust-binary-size", why: "Cargo.toml with a binary: smaller",
			fits:   func(p place) bool { return isRust(p) && (has(p.dir, "src/main.rs") || has(p.dir, "src/bin/*")) },
			metric: "bytes", better: "lower", works: true, grows: true,
			goal:    "Make the release binaries smaller, in bytes.",
			targets: rustSources, protect: tests,
			script: func(p place) string {
				check := ""
				if p.anyFile(".rs", rustTest) {
					check = rustTests.run()
				}
				return `cargo build --release --quiet --target-dir "$TMPDIR/target" >&2
find "$TMPDIR/target/release" -maxdepth 1 -type f -perm -u+x ! -name '*.so' > "$TMPDIR/built.txt"
test -s "$TMPDIR/built.txt"
value=$(tr '\n' '\0' < "$TMPDIR/built.txt" | xargs -0 cat | wc -c)
` + check
			},
		},
		{
			kind: "rust-test-time", why: "Cargo.toml: faster tests", fits: isRust,
			metric: "seconds", better: "lower", goal: fasterTests, grows: true,
			targets: rustSources, protect: tests,
			script: fixed(rustTests.timed()),
		},
	}
}
