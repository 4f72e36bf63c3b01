package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// shape is a small repository as many are: what it measures, and changes whose worth
// is known.
type shape struct {
	needs   []string
	target  string
	script  string
	files   map[string]string
	changes []shapeChange
}

// shapeChange is what the agent does, and what must become of it.
type shapeChange struct {
	name string
	// edit is a shell script that changes the tree.
	edit    string
	outcome string
	says    string // in the reasons
	// runs is how often the evaluation runs for it.
	runs int
}

const shapeProgram = `---
metric: m
metric_direction: lower
agent: command
agent-command: sh "$SIDE/changes/$AUTOLOOP_ITERATION.sh"
env: [SIDE]
plateau: off
target: ['%s']
---
## Goal
Lower the number.
## Evaluation
` + "```bash" + `
echo run >> "$SIDE/runs"
%s
` + "```" + `
`

// same is what becomes of a change without a gain.
const same = "equals the best so far"

var shapes = map[string]shape{
	"Go benchmark": {
		needs: []string{"go"}, target: "*.go",
		script: "go test -count=1 -bench Join -benchtime 10x -benchmem . | tee /dev/stderr | awk '/^BenchmarkJoin/ { " +
			"print \"{\\\"m\\\": \" $(NF-1) \"}\" }'",
		files: map[string]string{
			"go.mod": "module example.com/join\n\ngo 1.21\n",
			"join.go": "package join\n\n// Join joins words.\nfunc Join(words []string) string {\n" +
				"\ttext := \"\"\n\tfor _, word := range words {\n\t\ttext += word + \" \"\n\t}\n\treturn text\n}\n",
			"join_test.go": "package join\n\nimport (\n\t\"strings\"\n\t\"testing\"\n)\n\n" +
				"var words = strings.Fields(strings.Repeat(\"word \", 64))\n\nfunc TestJoin(t *testing.T) {\n" +
				"\tif got, want := Join(words), strings.Repeat(\"word \", 64); got != want {\n" +
				"\t\tt.Fatalf(\"joined %q\", got)\n\t}\n}\n\nfunc BenchmarkJoin(b *testing.B) {\n\tb.ReportAllocs()\n" +
				"\tfor i := 0; i < b.N; i++ {\n\t\tJoin(words)\n\t}\n}\n",
		},
		changes: []shapeChange{
			{
				"good", `printf 'package join\n\nimport "strings"\n\nfunc Join(words []string) string {\n\tvar text ` +
					`strings.Builder\n\ttext.Grow(512)\n\tfor _, word := range words ` +
					`{\n\t\ttext.WriteString(word)\n\t\ttext.WriteByte(32)\n\t}\n\treturn text.String()\n}\n' > join.go`,
				"accepted", "", 4,
			},
			{"neutral", `echo '// A comment.' >> join.go`, "rejected", same, 1},
			{
				"harmful", `sed 's/text.Grow(512)/text.Grow(1)/' join.go > x && cat x > join.go && rm x`, "rejected",
				"worse than the best", 1,
			},
			{
				"broken", `sed 's/text.WriteByte(32)/text.Write(32, words)/' join.go > x && cat x > join.go && rm x`,
				"rejected",
				"./join.go:10:18: too many arguments in call to text.Write", 2,
			},
			{
				"wrong", `sed 's/WriteByte(32)/WriteByte(33)/' join.go > x && cat x > join.go && rm x`, "rejected",
				"--- FAIL: TestJoin", 2,
			},
			{
				"cheating", `sed 's/N; i/1; i/' join_test.go > x && cat x > join_test.go && rm x`, "rejected",
				`"join_test.go": is protected`, 0,
			},
		},
	},
	"JS bundle": {
		needs: []string{"node"}, target: "src/*.js', 'src/index.js",
		script: "node tools/bundle.js src/index.js > bundle.js\nnode test.js\nwc -c < bundle.js",
		files: map[string]string{
			"src/index.js": "const pad = require('./pad');\nfunction longNameOfAGreeting(name) {\n" +
				"  const unusedText = 'this text is of no use to anybody';\n  return 'hello ' + pad(name);\n}\n" +
				"module.exports = longNameOfAGreeting;\n",
			"src/pad.js": "module.exports = function (text) {\n  while (text.length < 8) {\n" +
				"    text = text + '.';\n  }\n  return text;\n};\n",
			"tools/bundle.js": "const fs = require('fs'), path = require('path'), seen = {};\nfunction add(file) {\n" +
				"  if (seen[file]) return; seen[file] = true;\n  let text = fs.readFileSync(file, 'utf8');\n" +
				"  new Function('require', 'module', text);\n" +
				"  for (const [, name] of text.matchAll(/require\\('(\\.[^']+)'\\)/g)) " +
				"add(path.join(path.dirname(file), name + '.js'));\n" +
				"  text = text.replace(/^\\s*\\/\\/.*$/gm, '').replace(/\\n\\s*/g, '\\n');\n" +
				"  console.log('// ' + file + '\\n' + text);\n}\nadd(process.argv[2]);\n",
			"test.js": "const greet = require('./src/index.js');\n" +
				"if (greet('Bo') !== 'hello Bo......') throw new Error('greeted ' + greet('Bo'));\n",
		},
		changes: []shapeChange{
			{"good", `sed '/unusedText/d' src/index.js > x && mv x src/index.js`, "accepted", "", 4},
			{"neutral", `sed 's/pad(name)/pad( name )/; s/hello /hello /; s/^  return/ return/' src/pad.js > x && mv ` +
				`x src/pad.js`, "rejected", same, 1},
			{
				"harmful", `echo 'module.exports.text = "one more text that nobody reads";' >> src/index.js`,
				"rejected",
				"worse than the best", 1,
			},
			{"broken", `echo 'function (' >> src/pad.js`, "rejected", "SyntaxError", 2},
			{"wrong", `echo 'module.exports = (text) => text;' > src/pad.js`, "rejected", "Error: greeted hello Bo", 2},
			{
				"cheating", `echo 'console.log("")' > tools/bundle.js`, "rejected",
				"tools/bundle.js\": is named by the evaluation",
				0,
			},
		},
	},
	"Python lint": {
		needs: []string{"python3"}, target: "shop*.py', 'shop.py",
		script: "python3 -m unittest -q test_shop 2>&1 | tail -20 >&2\npython3 tools/lint.py shop.py",
		files: map[string]string{
			"shop.py": "import os\nimport sys\n\n\ndef total(prices):\n    sum = 0 \n" +
				"    for p in prices: sum = sum + p\n    return sum\n",
			"test_shop.py": "import unittest\nimport shop\n\n\nclass Shop(unittest.TestCase):\n" +
				"    def test_total(self):\n        self.assertEqual(shop.total([1, 2, 3]), 6)\n",
			"tools/lint.py": "import ast, json, sys\nfound = 0\nfor name in sys.argv[1:]:\n" +
				"    text = open(name).read()\n    tree = ast.parse(text, name)\n" +
				"    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}\n    for n in ast.walk(tree):\n" +
				"        if isinstance(n, ast.Import):\n            found += sum(a.name not in used for a in " +
				"n.names)\n    found += sum(len(line) > 79 or line != line.rstrip() for line in text.split('\\n'))\n" +
				"    found += sum(':' in line and not line.rstrip().endswith(':') for line in text.split('\\n') if " +
				"line.strip().startswith(('for', 'if')))\nprint(json.dumps({'m': found}))\n",
		},
		changes: []shapeChange{
			{"good", `sed '/^import os/d' shop.py > x && mv x shop.py`, "accepted", "", 4},
			{"neutral", `sed 's/\bp\b/price/g' shop.py > x && mv x shop.py`, "rejected", same, 1},
			{"harmful", `echo 'import json' >> shop.py`, "rejected", "worse than the best", 1},
			{"broken", `echo 'def (' >> shop.py`, "rejected", "SyntaxError", 2},
			{
				"wrong", `sed 's/sum + p/sum - p/; /^import sys/d' shop.py > x && mv x shop.py`, "rejected",
				"AssertionError: -6 != 6", 2,
			},
			{
				"cheating", `sed 's/found += /found += 0 * /' tools/lint.py > x && mv x tools/lint.py`, "rejected",
				"tools/lint.py\": is named by the evaluation", 0,
			},
		},
	},
	"C size": {
		needs: []string{"cc"}, target: "src/*.c', 'src/main.c",
		script: "cc -Os -c -o main.o src/main.c\ncc -o main main.o\ntest \"$(./main 2 3)\" = 5\n" +
			"size -A main.o | awk '/^.text|^.rodata|^.data/ { m += $2 } END { print m }'",
		files: map[string]string{
			"src/main.c": "#include <stdio.h>\n#include <stdlib.h>\n\n" +
				"void unused(void) { puts(\"a text that nobody reads\"); }\n\nint main(int argc, char **argv) {\n" +
				"  if (argc < 3) return 1;\n  printf(\"%d\\n\", atoi(argv[1]) + atoi(argv[2]));\n  return 0;\n}\n",
		},
		changes: []shapeChange{
			{"good", `sed '/void unused/d' src/main.c > x && mv x src/main.c`, "accepted", "", 4},
			{"neutral", `echo '/* a comment */' >> src/main.c`, "rejected", same, 1},
			{
				"harmful", `echo 'const char *text = "one more text";' >> src/main.c`, "rejected",
				"worse than the best", 1,
			},
			{"broken", `sed 's/return 0;/return 0/' src/main.c > x && mv x src/main.c`, "rejected", "src/main.c:", 2},
			{
				"wrong", `sed 's/) + atoi/) - atoi/; s/if (argc < 3) return 1;//' src/main.c > x && mv x src/main.c`,
				"rejected",
				"at line 4 (`test \"$(./main 2 3)\" = 5`)", 2,
			},
			{"cheating", `mkdir -p .autoloop && echo x > .autoloop/x`, "rejected", "belongs to Autoloop", 0},
		},
	},
	"compiled by a script": {
		needs: []string{"awk"}, target: "src/*.rs', 'src/lib.rs",
		script: "sh tools/rustc --crate-type lib -o lib.out src/lib.rs\nwc -c < lib.out | tr -d ' '",
		files: map[string]string{
			"src/lib.rs": "pub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n\nfn helper() {\n}\n",
			"tools/rustc": "for source; do :; done\nawk -v name=\"$source\" '\n" +
				"  { open += gsub(/{/, \"{\"); open -= gsub(/}/, \"}\"); sub(/^ *\\/\\/.*/, \"\"); gsub(/ +/, \" " +
				"\"); if ($0 != \"\") print > \"lib.out\" }\n  /pub fn add/ { add = 1 }\n  END {\n" +
				"    if (open) { print \"error: this file contains an unclosed delimiter\\n --> \" name \":\" NR " +
				"\":1\" > \"/dev/stderr\"; exit 1 }\n    if (!add) { print \"error[E0425]: cannot find function " +
				"`add`\\n --> \" name \":1:1\" > \"/dev/stderr\"; exit 1 }\n  }' \"$source\"\n",
		},
		changes: []shapeChange{
			{"good", `sed '/^fn helper/,$d' src/lib.rs > x && mv x src/lib.rs`, "accepted", "", 4},
			{"neutral", `echo '// A comment.' >> src/lib.rs`, "rejected", same, 1},
			{"harmful", `echo 'fn other() {}' >> src/lib.rs`, "rejected", "worse than the best", 1},
			{
				"broken", `echo '{' >> src/lib.rs`, "rejected",
				"error: this file contains an unclosed delimiter; --> src/lib.rs:",
				2,
			},
			{"wrong", `echo 'fn x() {}' > src/lib.rs`, "rejected", "error[E0425]: cannot find function `add`", 2},
			{
				"cheating", `echo 'echo > lib.out' > tools/rustc`, "rejected",
				"tools/rustc\": is named by the evaluation", 0,
			},
		},
	},
}

// TestRealShapes: every decision on a change of known worth is right, and a rejected
// one costs no more runs of the evaluation than it must. What else an iteration costs is
// counted by TestGitProcessesOfAnIteration.
func TestRealShapes(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	for name, s := range shapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, tool := range s.needs {
				if _, err := exec.LookPath(tool); err != nil {
					long.Missing(t, tool)
				}
			}
			w := s.world(t)
			a := w.binary("iterate", "validate")
			require.Zero(t, a.code, a.stdout)
			require.Equal(t, "accepted", w.one().Outcome, "the first change is the good one: %s", w.ledger())
			for i, c := range s.changes[1:] {
				before := w.evaluations()
				got := w.one()
				reasons := strings.Join(got.Reasons, "; ")
				assert.Equal(t, c.outcome, got.Outcome, "%s: %s", c.name, reasons)
				assert.Contains(t, reasons, c.says, c.name)
				assert.Equal(t, c.runs, w.evaluations()-before, "%s: runs of the evaluation", c.name)
				assert.Equal(t, i+2, got.Iteration)
			}
			assert.Zero(t, w.binary("iterate", "replay", "p").code)
		})
	}
}

// world is the shape's repository, with its changes beside it.
func (s shape) world(t *testing.T) *world {
	t.Helper()
	protect := fmt.Sprintf(shapeProgram, s.target, s.script)
	if _, tests := s.files["join_test.go"]; tests {
		protect = strings.Replace(protect, "target:", "protect: ['*_test.go']\ntarget:", 1)
	}
	files := map[string]string{
		".autoloop/programs/p.md": protect,
		".gitignore":              "/bundle.js\nlib.out\n*.o\n/main\n__pycache__/\n",
	}
	for name, text := range s.files {
		files[name] = text
	}
	w := newWorld(t, files)
	dir := filepath.Join(w.side, "changes")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for i, c := range s.changes {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.sh", i+1)),
			[]byte("set -e\n"+c.edit+"\necho "+c.name+"\n"), 0o600))
	}
	return w
}

// evaluations is how often the evaluation has run.
func (w *world) evaluations() int {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.side, "runs"))
	require.NoError(w.t, err)
	return strings.Count(string(text), "run\n")
}
