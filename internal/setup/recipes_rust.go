package setup

func isRust(p place) bool { return p.has("Cargo.toml") && p.installed("cargo") }

func rustSources(p place) []string {
	if !has(p.dir, "src") {
		return []string{"**/src/**"} // a workspace
	}
	return []string{"src/**"}
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
			script: fixed(`
cargo llvm-cov --quiet --json --summary-only --output-path "$TMPDIR/coverage.json" >&2
grep -o '"lines":{[^}]*}' "$TMPDIR/coverage.json" | tail -n 1 | LC_ALL=C sed 's/.*"percent":\([0-9.]*\).*/{"coverage": \1}/' > "$AUTOLOOP_RESULT"`),
		},
		{
			kind: "rust-binary-size", why: "Cargo.toml with a binary: smaller",
			fits:   func(p place) bool { return isRust(p) && (has(p.dir, "src/main.rs") || has(p.dir, "src/bin/*")) },
			metric: "bytes", better: "lower",
			goal:    "Make the release binaries smaller, in bytes. What the tests check stays.",
			targets: rustSources, protect: tests,
			script: fixed(`
cargo test --quiet >&2
cargo build --release --quiet --target-dir "$TMPDIR/target" >&2
find "$TMPDIR/target/release" -maxdepth 1 -type f -perm -u+x ! -name '*.so' > "$TMPDIR/built.txt"
test -s "$TMPDIR/built.txt"
printf '{"bytes": %d}\n' "$(tr '\n' '\0' < "$TMPDIR/built.txt" | xargs -0 cat | wc -c)" > "$AUTOLOOP_RESULT"`),
		},
		{
			kind: "rust-test-time", why: "Cargo.toml: faster tests", fits: isRust,
			metric: "seconds", better: "lower",
			goal:    "Make the code under test faster, so that the tests take fewer seconds; what they check stays.",
			targets: rustSources, protect: tests,
			script: fixed("cargo test --quiet --no-run >&2" + timed("cargo test --quiet")),
		},
	}
}
