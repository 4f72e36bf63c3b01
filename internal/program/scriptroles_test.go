package program_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/program"
)

// TestScriptRoles holds the shapes of real evaluations: what is a program of the
// evaluation is protected, what is read or compiled may change when a target matches.
func TestScriptRoles(t *testing.T) {
	t.Parallel()
	tracked := []string{
		"Cargo.toml", "Makefile", "bench/data.json", "bench/run.py", "eval.awk", "index.js", "main.go", "package.json", "pkg/__init__.py", "pkg/__main__.py",
		"pkg/core.py", "scripts/eval.sh", "scripts/lib.sh", "src/a.css", "src/index.js", "src/lib.rs", "src/x.c", "src/y.c", "tests/test_a.py",
	}
	const reads, unclear, runs = program.Reads, program.Unclear, program.Runs
	for name, c := range map[string]struct {
		script string
		want   map[string]program.ScriptRole
	}{
		"node index.js":          {"node index.js", map[string]program.ScriptRole{"index.js": runs}},
		"node with options":      {"node --max-old-space-size=100 --expose-gc src/index.js", map[string]program.ScriptRole{"src/index.js": runs}},
		"node -e":                {`node -e 'require("./src/index.js")'`, map[string]program.ScriptRole{"src/index.js": reads}},
		"gcc x.c":                {"gcc -O2 -o a.out src/x.c src/y.c && ./a.out", map[string]program.ScriptRole{"src/x.c": reads, "src/y.c": reads}},
		"a compiler in a pipe":   {"time gcc -c src/x.c 2>&1 | tail -1\nstat -c %s x.o", map[string]program.ScriptRole{"src/x.c": reads}},
		"rustc":                  {"rustc --crate-type lib -C opt-level=s src/lib.rs\nwc -c < liblib.rlib", map[string]program.ScriptRole{"src/lib.rs": reads}},
		"python3 -m":             {"python3 -m pkg", map[string]program.ScriptRole{"pkg/__main__.py": runs}},
		"python3 -m of a module": {"python3 -m pkg.core --fast", map[string]program.ScriptRole{"pkg/core.py": runs}},
		"a check of the syntax":  {"bash -n src/x.c; node --check src/index.js", map[string]program.ScriptRole{"src/x.c": reads, "src/index.js": reads}},
		"go test":                {"go test ./...", nil},
		"go run":                 {"go run main.go", map[string]program.ScriptRole{"main.go": runs}},
		"go build":               {"go build -o x main.go; stat -c %s x", map[string]program.ScriptRole{"main.go": reads}},
		"make":                   {"make bench", map[string]program.ScriptRole{"Makefile": runs}},
		"make -C":                {"make -C scripts", map[string]program.ScriptRole{"Makefile": runs}},
		"npm run":                {"npm run --silent bench", map[string]program.ScriptRole{"package.json": runs}},
		"npx esbuild":            {"npx --yes esbuild src/index.js --bundle --minify | gzip -9 | wc -c", map[string]program.ScriptRole{"src/index.js": reads}},
		"bash scripts/eval.sh":   {"bash scripts/eval.sh src/x.c", map[string]program.ScriptRole{"scripts/eval.sh": runs, "src/x.c": reads}},
		"./scripts/eval.sh":      {"./scripts/eval.sh --in=src/x.c", map[string]program.ScriptRole{"scripts/eval.sh": runs, "src/x.c": reads}},
		"by its whole path":      {`"$(pwd)/scripts/eval.sh"; . "$ROOT/scripts/lib.sh"`, map[string]program.ScriptRole{"scripts/eval.sh": runs, "scripts/lib.sh": runs}},
		"source":                 {". scripts/lib.sh; source scripts/eval.sh", map[string]program.ScriptRole{"scripts/lib.sh": runs, "scripts/eval.sh": runs}},
		"after cd":               {"cd scripts && bash eval.sh", map[string]program.ScriptRole{"scripts/eval.sh": runs}},
		"pytest tests/":          {"pytest tests/ -q", nil},
		"pytest of a file":       {"python3 -m pytest tests/test_a.py", map[string]program.ScriptRole{"tests/test_a.py": reads}},
		"cargo bench":            {"cargo bench --manifest-path Cargo.toml", map[string]program.ScriptRole{"Cargo.toml": reads}},
		"timeout":                {"timeout -k 5 30 python3 bench/run.py", map[string]program.ScriptRole{"bench/run.py": runs}},
		"hyperfine":              {"hyperfine 'node src/index.js'", map[string]program.ScriptRole{"src/index.js": reads}},
		"sh -c":                  {"sh -c 'node src/index.js | tail -1'", map[string]program.ScriptRole{"src/index.js": runs}},
		"a variable":             {"SRC=src/x.c\ngcc $SRC -o a", map[string]program.ScriptRole{"src/x.c": reads}},
		"a variable that is run": {"E=scripts/eval.sh; bash \"$E\"", map[string]program.ScriptRole{"scripts/eval.sh": runs}},
		"a loop":                 {"for f in src/x.c src/y.c; do gcc -c $f; done", map[string]program.ScriptRole{"src/x.c": reads, "src/y.c": reads}},
		"a here document":        {"python3 - <<'EOF'\nprint(open('src/x.c').read())\nEOF\n", map[string]program.ScriptRole{"src/x.c": reads}},
		"a redirection":          {"wc -c <src/a.css", map[string]program.ScriptRole{"src/a.css": reads}},
		"awk -f":                 {"awk -f eval.awk src/x.c", map[string]program.ScriptRole{"eval.awk": runs, "src/x.c": reads}},
		"measured and read":      {"wc -c src/index.js; node src/index.js", map[string]program.ScriptRole{"src/index.js": runs}},
		"an unknown command":     {"mytool src/x.c", map[string]program.ScriptRole{"src/x.c": unclear}},
		"both match the target":  {"node src/index.js src/x.c", map[string]program.ScriptRole{"src/index.js": runs, "src/x.c": unclear}},
		"an evaluator elsewhere": {"python3 bench/run.py src/x.c", map[string]program.ScriptRole{"bench/run.py": runs, "src/x.c": reads}},
		"a condition":            {"if [ -f src/x.c ]; then gcc src/x.c; fi", map[string]program.ScriptRole{"src/x.c": reads}},
		"a substitution":         {`echo "{\"m\": $(wc -c < src/a.css)}"`, map[string]program.ScriptRole{"src/a.css": reads}},
		"a comment":              {"# node src/index.js\ntrue", map[string]program.ScriptRole{"src/index.js": reads}},
		"nothing":                {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := program.Parse(file, []byte("---\ntarget: ['src/**']\n---\n"))
			require.NoError(t, p.Err())
			p.Script = c.script
			want := c.want
			if want == nil {
				want = map[string]program.ScriptRole{}
			}
			assert.Equal(t, want, p.ScriptRoles(func(path string) bool { return slices.Contains(tracked, path) }))
		})
	}
}

func FuzzScriptRoles(f *testing.F) {
	f.Add("for f in a b; do sh -c \"x $f\" <<E\ny\nE\ndone")
	f.Fuzz(func(t *testing.T, script string) {
		p := &program.Program{Script: script}
		named := p.ScriptFiles(func(string) bool { return true })
		for file := range p.ScriptRoles(func(path string) bool { return slices.Contains(named, path) }) {
			assert.Contains(t, named, file)
		}
	})
}

// TestUndecidedFilesAreRefused: with the two lines, each of which solves it.
func TestUndecidedFilesAreRefused(t *testing.T) {
	t.Parallel()
	files := []string{"README.md", "src/a.c", "src/eval.sh"}
	for name, c := range map[string]struct{ front, script, says string }{
		"read":                      {"target: ['src/*']", "gcc src/a.c", ""},
		"an unknown command":        {"target: ['src/*']", "mytool src/a.c", "the evaluation names src/a.c, which the target matches, and whether it measures or is measured cannot be told"},
		"it may change":             {"target: ['src/*', src/a.c]", "mytool src/a.c", ""},
		"it may not":                {"target: ['src/*']\nprotect: [src/a.c]", "mytool src/a.c", ""},
		"outside the target":        {"target: ['src/*']", "mytool README.md", ""},
		"another file is run":       {"target: ['src/*']", "sh src/eval.sh", ""},
		"nothing else may change":   {"target: ['src/*.sh']", "sh src/eval.sh", "the evaluation names src/eval.sh, which the target matches, and it runs that file, so that nothing is left"},
		"the same, which may":       {"target: [src/eval.sh]", "sh src/eval.sh", ""},
		"given to what it measures": {"target: ['src/*']", "sh src/eval.sh src/a.c", "the evaluation names src/a.c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := program.Parse(file, []byte("---\n"+c.front+"\nmetric: m\nmetric_direction: lower\n---\n## Goal\nx\n## Evaluation\n```bash\n"+c.script+"\n```\n"))
			require.NoError(t, p.Err())
			found := p.Refusals(files, false)
			if c.says == "" {
				assert.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			assert.Contains(t, found[0].Message, c.says)
			assert.Contains(t, found[0].Message, "`target: [src/")
			assert.Contains(t, found[0].Message, "`protect: [src/")
		})
	}
}
