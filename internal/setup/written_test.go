package setup

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/tests/long"
	"github.com/org/autoloop/tests/scratch"
)

// writtenProject is a small repository, and what is done to it by candidates.
type writtenProject struct {
	kind, needs string
	slow        bool
	files       map[string]string
	numbers     map[string]float64 // beside the metric, on the untouched files
	candidates  map[string]writtenCandidate
}

// writtenCandidate is files that are written, "" for one that is deleted.
type writtenCandidate struct {
	files   map[string]string
	better  bool   // a number that is better, and all others as before
	same    bool   // the very number
	refused string // a word of the reason
	numbers map[string]float64
}

const (
	jsLib = "exports.one = () => 1\nexports.next = (x) => {\n" +
		"  // A comment that takes many bytes and says nothing at all.\n  return x + 1\n}\n"
	jsTest = "const test = require('node:test')\nconst {one, next} = require('../src/lib.js')\n" +
		"test('one', () => { if (one() !== 1) throw new Error('one is ' + one()) })\n" +
		"test('next', () => { if (next(1) !== 2) throw new Error() })\n"
	jsPlain = "const {one, next} = require('./src/lib.js')\nif (one() !== 1 || next(1) !== 2) throw new " +
		"Error('wrong')\n"
	jsBuild = "const fs = require('fs'); fs.mkdirSync('dist'); fs.copyFileSync('src/lib.js', 'dist/lib.js')\n"

	pyLib  = "import os\nimport re\n\n\ndef one():\n    return 1\n"
	pyTest = "import unittest\n\nimport lib\n\n\nclass Test(unittest.TestCase):\n    def test_one(self):\n" +
		"        self.assertEqual(lib.one(), 1)\n"

	makeC = "x: main.o lib.o\n\tcc -o $@ main.o lib.o\n" +
		"check: tests/t\n\ttests/t\ntests/t: tests/t.c lib.o\n\tcc -o $@ tests/t.c lib.o\n"
	cMain = "int next(int);\nint main(void) { return next(1) - 2; }\n"
	cLib  = "#include <stdio.h>\nint table[9999] = {1};\nint next(int x) { if (x < 0) printf(\"%d\", table[9]); " +
		"return x + 1; }\n"
	cTest = "#include <stdio.h>\nint next(int);\nint main(void) { if (next(1) != 2) return 1; puts(\"ok 1 - next\"); " +
		"return 0; }\n"

	goLib = "package lib\n\nimport \"strconv\"\n\n// Text is a number as text.\n" +
		"func Text(n int) string { return strconv.Itoa(n) }\n"
	goCheck = "package lib\n\nimport \"testing\"\n\nfunc TestText(t *testing.T) {\n\tif Text(12) != \"12\" {\n" +
		"\t\tt.Fatal(Text(12))\n\t}\n}\n\n" +
		"func BenchmarkText(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tText(123)\n\t}\n}\n"

	rustLib = "pub fn sum(n: u64) -> u64 { (0..n).sum() }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n" +
		"    fn small() { assert_eq!(super::sum(3), 3); }\n}\n"
)

var writtenProjects = map[string]writtenProject{
	"node --test": {
		kind: "js-bundle-size", needs: "npm", numbers: map[string]float64{"tests": 2},
		files: map[string]string{
			"package.json": `{"scripts": {"test": "node --test", "build": "node build.js"}}`,
			"build.js":     jsBuild, "src/lib.js": jsLib, "test/lib.test.js": jsTest,
		},
		candidates: map[string]writtenCandidate{
			"a gain": {
				files:  map[string]string{"src/lib.js": "exports.one = () => 1\nexports.next = (x) => x + 1\n"},
				better: true,
			},
			"a gutted library": {
				files:   map[string]string{"src/lib.js": "exports.one = exports.next = () => 1\n"},
				refused: "tests fail: not ok 2 - next",
			},
			"an emptied library": {files: map[string]string{"src/lib.js": "\n"}, refused: "tests fail"},
			"an end at import":   {files: map[string]string{"src/lib.js": "process.exit(0)\n"}, refused: "no test ran"},
			"forged tests": {files: map[string]string{"src/lib.js": "console.log('ok 1 - one\\nok 2 - next\\n# " +
				"tests 2\\n# pass 2')\nprocess.exit(0)\n"}, refused: "no test ran"},
			"a deleted test": {
				files:   map[string]string{"test/lib.test.js": strings.SplitAfter(jsTest, "})\n")[0]},
				numbers: map[string]float64{"tests": 1},
			},
		},
	},
	"tests without a runner": {
		kind: "js-bundle-size", needs: "npm", numbers: map[string]float64{"ended": 1},
		files: map[string]string{
			"package.json": `{"scripts": {"test": "node test.js", "build": "node build.js"}}`,
			"build.js":     jsBuild, "src/lib.js": jsLib, "test.js": jsPlain,
		},
		candidates: map[string]writtenCandidate{
			"a gain": {
				files:  map[string]string{"src/lib.js": "exports.one = () => 1\nexports.next = (x) => x + 1\n"},
				better: true,
			},
			"a gutted library": {
				files:   map[string]string{"src/lib.js": "exports.one = exports.next = () => 1\n"},
				refused: "tests fail",
			},
			"an end at import": {
				files:   map[string]string{"src/lib.js": "process.exit(0)\n"},
				numbers: map[string]float64{"ended": 0},
			},
		},
	},
	"unittest": {
		kind: "python-lint", needs: "python3", numbers: map[string]float64{"tests": 1},
		files: map[string]string{".flake8": "[flake8]\n", "lib.py": pyLib, "tests/test_lib.py": pyTest},
		candidates: map[string]writtenCandidate{
			"a gain": {files: map[string]string{"lib.py": strings.ReplaceAll(pyLib,
				"import os\nimport re\n", "")}, better: true},
			"an emptied library": {files: map[string]string{"lib.py": "\n"}, refused: "tests fail"},
			"an end at import":   {files: map[string]string{"lib.py": "os._exit(0)\n"}, refused: "tests fail"},
			"an end that works": {
				files:   map[string]string{"lib.py": "__import__('os')._exit(0)\n"},
				refused: "ended before",
			},
			"deleted tests": {files: map[string]string{"tests/test_lib.py": ""}, refused: "no test ran"},
		},
	},
	"shell scripts": {
		kind: "shell-lint", needs: "shellcheck", numbers: map[string]float64{"tests": 1, "scripts": 2},
		files: map[string]string{
			"check_all.sh": "echo $1\n", "old.sh": "#!/bin/sh\necho $1\n", // a test, and a script without one
			"add.sh": "#!/bin/sh\necho $(($1 + 1))\necho $2\n", "Makefile": "test:\n\tsh tests/add.sh\n",
			"tests/add.sh": "#!/bin/sh\ntest \"$(sh ./add.sh 1 b)\" = \"$(printf '2\\nb')\" && echo 'ok 1 - add'\n",
		},
		candidates: map[string]writtenCandidate{
			"a gain": {
				files:  map[string]string{"add.sh": "#!/bin/sh\necho $(($1 + 1))\necho \"$2\"\n"},
				better: true,
			},
			"findings that are silenced": {
				files: map[string]string{"add.sh": "#!/bin/sh\n# shellcheck disable=SC2086 disable=SC2086 # no\n" +
					"echo $(($1 + 1))\n# shellcheck disable=SC2086\necho $2\n", ".shellcheckrc": "disable=SC2086\n"},
				numbers: map[string]float64{"tests": 1, "scripts": 2},
				same:    true,
			},
			"a deleted script": {
				files:   map[string]string{"old.sh": ""},
				numbers: map[string]float64{"tests": 1, "scripts": 1}, // a guardrail holds them
			},
			"a gutted script": {files: map[string]string{"add.sh": "#!/bin/sh\n"}, refused: "tests fail"},
			"a broken script": {files: map[string]string{"old.sh": "#!/bin/sh\necho $1\nif then (\n"}, refused: "[SC10"},
		},
	},
	"C with a rule check": {
		kind: "make-binary-size", needs: "cc", numbers: map[string]float64{"tests": 1},
		files: map[string]string{"Makefile": makeC, "main.c": cMain, "lib.c": cLib, "tests/t.c": cTest},
		candidates: map[string]writtenCandidate{
			"a gain": {
				files:  map[string]string{"lib.c": "int next(int x) { return x + 1; }\n"},
				better: true,
			},
			"a gutted library": {
				files:   map[string]string{"lib.c": "int next(int x) { return 2 * x + 7; }\n"},
				refused: "tests fail",
			},
			"an end before main": {
				files: map[string]string{"lib.c": "#include <stdlib.h>\n" +
					"__attribute__((constructor)) void end(void) { exit(0); }\nint next(int x) { return x; }\n"},
				numbers: map[string]float64{"tests": 0},
			},
		},
	},
	"Go with a benchmark": {
		kind: "go-benchmark", needs: "go", slow: true, numbers: map[string]float64{"tests": 1, "benchmarks": 1},
		files: map[string]string{
			"go.mod": "module example.com/lib\n\ngo 1.21\n", "lib.go": goLib,
			"lib_test.go": goCheck,
		},
		candidates: map[string]writtenCandidate{
			"a gutted library": {files: map[string]string{"lib.go": "package lib\n\n// Text is.\n" +
				"func Text(int) string { return \"\" }\n"}, refused: "tests fail: "},
			"a printed result": {
				files: map[string]string{"lib.go": goLib +
					"\nfunc init() { print2(\"BenchmarkText-2 \\t 100 \\t 7 ns/op\\n\") }\n", "p.go": goPrint},
				refused: "benchmark",
			},
			"a printed result of another": {
				files: map[string]string{"lib.go": goLib +
					"\nfunc init() { print2(\"BenchmarkX 1000000 70 ns/op\\n\") }\n", "p.go": goPrint},
				refused: "benchmark",
			},
			"another result in due form": {
				files: map[string]string{"lib.go": goLib +
					"\nfunc init() { print2(\"BenchmarkX-2 \\t 100\\t 7 ns/op\\n\") }\n", "p.go": goPrint},
				numbers: map[string]float64{"tests": 1, "benchmarks": 2},
			},
			"printed tests, and their end": {
				files: map[string]string{
					"lib.go": goLib +
						"\nfunc init() { print2(\"--- PASS: TestText (0.00s)\\nPASS\\n\"); os.Exit(0) }\n",
					"p.go": goPrint,
				},
				refused: "tests fail",
			},
			"a printed test": {
				files: map[string]string{
					"lib.go": goLib +
						"\nfunc init() { print2(\"=== RUN   TestText\\n--- PASS: TestText (0.00s)\\n\") }\n",
					"p.go": goPrint,
				},
				refused: "twice",
			},
		},
	},
	"Rust": {
		kind: "rust-binary-size", needs: "cargo", slow: true, numbers: map[string]float64{"tests": 2},
		files: map[string]string{
			"Cargo.toml": "[package]\nname = \"r\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "src/lib.rs": rustLib,
			"src/main.rs":  "fn main() { println!(\"{}\", r::sum(9)); }\n",
			"tests/big.rs": "#[test]\nfn big() { assert_eq!(r::sum(5), 10); }\n",
		},
		candidates: map[string]writtenCandidate{
			"a gutted library": {
				files:   map[string]string{"src/lib.rs": "pub fn sum(n: u64) -> u64 { n }\n"},
				refused: "tests fail",
			},
			"an end": {files: map[string]string{"src/lib.rs": strings.Replace(rustLib, "(0..n).sum()",
				"std::process::exit(n as i32 - n as i32)", 1)}, refused: "no test ran"},
			"a deleted test": {
				files:   map[string]string{"src/lib.rs": strings.SplitAfter(rustLib, "}\n")[0]},
				numbers: map[string]float64{"tests": 1},
			},
		},
	},
}

// goPrint writes to standard output.
const goPrint = "package lib\n\nimport \"os\"\n\nfunc print2(text string) { os.Stdout.WriteString(text) }\n"

// TestWrittenEvaluationsRefuseWhatTheTestsDoNotCover: what `init` writes measures a gain,
// refuses what fails the tests or ends before they ran, and counts them for its guardrail.
func TestWrittenEvaluationsRefuseWhatFailsTheTests(t *testing.T) {
	t.Parallel()
	for name, project := range writtenProjects {
		t.Run(name, func(t *testing.T) {
			if project.slow {
				long.Only(t, long.Examples)
			}
			t.Parallel()
			if _, err := exec.LookPath(project.needs); err != nil {
				long.Missing(t, project.needs)
			}
			before, refused := project.measure(t, nil)
			require.Empty(t, refused)
			metric := before[""]
			delete(before, "")
			require.Equal(t, project.numbers, before)
			for name, c := range project.candidates {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					numbers, refused := project.measure(t, c.files)
					if c.refused != "" {
						assert.Contains(t, refused, c.refused)
						return
					}
					require.Empty(t, refused)
					if c.better {
						assert.Less(t, numbers[""], metric)
						c.numbers = project.numbers
					}
					if c.same {
						assert.InDelta(t, metric, numbers[""], 0)
					}
					delete(numbers, "")
					assert.Equal(t, c.numbers, numbers)
				})
			}
		})
	}
}

// TestTestsThatNoCandidateMayAddAreCountedExactly: code that says more passed forges.
func TestTestsThatNoCandidateMayAddAreCountedExactly(t *testing.T) {
	t.Parallel()
	for name, rails := range map[string]string{
		"node --test": "tests higher, tests lower", "tests without a runner": "ended higher",
		"unittest":            "tests higher, tests lower",
		"Go with a benchmark": "tests higher, tests lower, benchmarks higher, benchmarks lower",
		"Rust":                "tests higher", "C with a rule check": "tests higher",
		"shell scripts": "tests higher, scripts higher",
	} {
		project, dir := writtenProjects[name], t.TempDir()
		var tracked []string
		for file, text := range project.files {
			at := filepath.Join(dir, file)
			require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o700))
			require.NoError(t, os.WriteFile(at, []byte(text), 0o600))
			tracked = append(tracked, file)
		}
		here := place{dir: dir, tracked: tracked, installed: func(string) bool { return true }}
		for _, r := range recipes(here) {
			if r.kind != project.kind || !r.fits {
				continue
			}
			var found []string
			for _, g := range program.Parse("p.md", []byte(r.text("p", "."))).Guardrails {
				found = append(found, fmt.Sprintf("%s %s", g.Metric, g.Direction))
			}
			assert.Equal(t, rails, strings.Join(found, ", "), name)
		}
	}
}

// measure writes the program for a tree with a candidate's files and runs its script; the
// number without a name is the metric.
func (p writtenProject) measure(t *testing.T, changed map[string]string) (numbers map[string]float64, refused string) {
	t.Helper()
	dir, temporary := scratch.OnDisk(t), scratch.OnDisk(t)
	var tracked []string
	write := func(files map[string]string) {
		for file, text := range files {
			at := filepath.Join(dir, file)
			if text == "" {
				require.NoError(t, os.Remove(at))
				continue
			}
			tracked = append(tracked, file)
			require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o700))
			require.NoError(t, os.WriteFile(at, []byte(text), 0o600))
		}
	}
	write(p.files)
	here := place{dir: dir, tracked: tracked, installed: func(string) bool { return true }}
	var script string
	for _, r := range recipes(here) {
		if r.kind == p.kind && r.fits {
			script = program.Parse("p.md", []byte(r.text("p", "."))).Script
		}
	}
	write(changed)
	require.NotEmpty(t, script)
	tools, result := filepath.Join(temporary, "tools"), filepath.Join(temporary, "result")
	require.NoError(t, os.Mkdir(tools, 0o700))
	flake8 := "#!/bin/sh\ngrep -n '^import' lib.py || true\n"
	require.NoError(t, os.WriteFile(filepath.Join(tools, "flake8"), []byte(flake8), 0o700)) //nolint:gosec // it is run
	cmd := exec.CommandContext(t.Context(), "bash", "-e", "-u", "-o", "pipefail", "-c",
		"result=$AUTOLOOP_RESULT; unset AUTOLOOP_RESULT; AUTOLOOP_RESULT=$result\n"+script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+tools+string(os.PathListSeparator)+os.Getenv("PATH"), "TMPDIR="+temporary,
		"AUTOLOOP_RESULT="+result, "GOFLAGS=-mod=mod", "GOPROXY=off")
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, string(said)
	}
	text, err := os.ReadFile(result)
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(text, &fields), string(text))
	refused, _ = fields["rejected_reason"].(string)
	numbers = map[string]float64{}
	for name, value := range fields {
		number, _ := value.(float64)
		if !slices.Contains([]string{"tests", "benchmarks", "ended", "scripts"}, name) {
			name = ""
		}
		numbers[name] = number
	}
	return numbers, refused
}
