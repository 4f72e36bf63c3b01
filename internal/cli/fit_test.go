package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
	"github.com/org/autoloop/tests/scratch"

	"github.com/org/autoloop/internal/program"
)

// fitCase is a repository of some shape, and the program that fits it.
type fitCase struct {
	needs string // "" for none
	files map[string]string
	kind  string
	// measured is the first number; "" for a time.
	measured string
	// may is a file that the target lets change, mayNot one that it does not.
	may, mayNot string
}

var fitCases = map[string]fitCase{
	"go with a benchmark": {
		needs: "go", kind: "go-benchmark", may: "sum.go", mayNot: "sum_test.go",
		files: map[string]string{
			"go.mod": "module example.com/sum\n\ngo 1.21\n",
			"sum.go": "package sum\n\n// Sum adds.\nfunc Sum(n int) (s int) {\n" +
				"\tfor i := range make([]int, n) {\n\t\ts += i\n\t}\n\treturn s\n}\n",
			"sum_test.go": "package sum\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(3) != 3 {\n" +
				"\t\tt.Fatal()\n\t}\n}\n\nfunc BenchmarkSum(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n" +
				"\t\tSum(100)\n\t}\n}\n",
		},
	},
	"go without one": {
		needs: "go", kind: "go-coverage", measured: "50", may: "new_test.go", mayNot: "sum.go",
		files: map[string]string{
			"go.mod": "module example.com/sum\n\ngo 1.21\n",
			"sum.go": "package sum\n\n// A is tested.\nfunc A() int { return 1 }\n\n// B is not.\n" +
				"func B() int { return 2 }\n",
			"sum_test.go": "package sum\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tif A() != 1 {\n" +
				"\t\tt.Fatal()\n\t}\n}\n",
		},
	},
	"go that is covered whole, with a command": {
		needs: "go", kind: "go-binary-size", may: "main.go",
		mayNot: "main_test.go", files: map[string]string{
			"go.mod": "module example.com/cmd\n\ngo 1.21\n", "main.go": "package main\n\nfunc main() { println(1) }\n",
			"main_test.go": "package main\n\nimport \"testing\"\n\nfunc TestRuns(*testing.T) { main() }\n",
		},
	},
	"a bundle": {needs: "npm", kind: "js-bundle-size", may: "src/a.js", mayNot: "build.js", files: map[string]string{
		"package.json": `{"scripts": {"build": "node build.js"}}`, "src/a.js": "console.log('a long enough text')\n",
		"build.js": "const fs = require('fs'); fs.mkdirSync('dist'); fs.copyFileSync('src/a.js', 'dist/a.js')\n",
	}},
	"node with tests": {
		needs: "npm", kind: "js-coverage", may: "test/b.test.js", mayNot: "lib/a.js",
		files: map[string]string{
			"package.json": `{"scripts": {"test": "node --test"}}`,
			"lib/a.js":     "exports.a = () => 1\nexports.b = () => {\n  const x = 2\n  return x\n}\n",
			"test/a.test.js": "const test = require('node:test')\nconst {a} = require('../lib/a.js')\n" +
				"test('a', () => { if (a() !== 1) throw new Error() })\n",
		},
	},
	"C below the root": {
		needs: "make", kind: "make-binary-size", may: "c/x.c", mayNot: "c/Makefile",
		files: map[string]string{
			"c/Makefile": "x: x.c\n\tcc -o x x.c\n", "c/x.c": "int main(void) { return 0; }\n", "c/.gitignore": "x\n",
		},
	},
	"tests with make": {
		needs: "make", kind: "make-test-time", may: "lib/a.sh", mayNot: "Makefile",
		files: map[string]string{
			"Makefile": "test:\n\tsh lib/a.sh\n", "lib/a.sh": "exit 0\n",
		},
	},
}

// fitShop is a shop on disk, where an isolated evaluation has a build cache.
func fitShop(t *testing.T) *shop {
	t.Helper()
	disk := scratch.OnDisk(t)
	s := &shop{desk: &desk{
		t: t, root: filepath.Join(disk, "root"), dir: filepath.Join(disk, "home"),
		vars: map[string]string{},
	}, at: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)}
	for _, dir := range []string{s.root, s.dir, filepath.Join(disk, "tmp")} {
		require.NoError(t, os.Mkdir(dir, 0o755))
	}
	s.more = []string{"TMPDIR=" + filepath.Join(disk, "tmp")}
	s.git("init", "--quiet", "--initial-branch", "main")
	return s
}

// TestLocalProgramsFitAndWereMeasured: in a repository of each shape `init
// --local` and `new --fit` write a program that validates, whose first number is
// the one that was said, and whose target has the sources.
func TestLocalProgramsFitAndWereMeasured(t *testing.T) {
	long.Only(t, long.Examples)
	t.Parallel()
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	require.NoError(t, err)
	for name, c := range fitCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(c.needs); err != nil {
				long.Missing(t, c.needs)
			}
			s := fitShop(t)
			s.more = append(s.more, "GOCACHE="+strings.TrimSpace(string(cache)), "GOFLAGS=-mod=mod", "GOPROXY=off")
			for file, text := range c.files {
				s.file(file, text)
			}
			s.commit()
			args := []string{"init", "--local", "--yes"}
			if strings.HasPrefix(name, "C ") {
				args = append(args, "--repo-dir", filepath.Join(s.root, "c"))
			}
			a := s.iterate(args...)
			require.Zero(t, a.code, a.out+a.errors)
			file := filepath.Join(s.root, ".autoloop/programs", c.kind+".md")
			assert.Contains(t, a.out, "written: "+file+" (")
			said := regexp.MustCompile(`(?m)^measured: ([0-9.]+), `).FindStringSubmatch(a.out)
			require.NotNil(t, said, a.out)
			if c.measured != "" {
				assert.Equal(t, c.measured, said[1])
			}
			text := readText(t, file)
			assert.NotContains(t, text, "target-metric")
			assert.Contains(t, text, `"$AUTOLOOP_RESULT"`)
			v := s.iterate("validate", c.kind)
			require.Zero(t, v.code, v.out)
			assert.Contains(t, v.out, c.kind+".md: ok\n")
			matcher := program.Parse(file, []byte(text)).Matcher()
			assert.True(t, matcher.Allows(c.may), c.may)
			assert.False(t, matcher.Allows(c.mayNot), c.mayNot)
		})
	}
}

func TestNewFit(t *testing.T) {
	t.Parallel()
	s := fitShop(t)
	s.file("Makefile", "test:\n\tsh lib/a.sh\n")
	s.file("lib/a.sh", "sleep 0.1\n") // without it everything is faster
	fit := func(words ...string) answer {
		return s.iterate(append([]string{"init", "--local", "--yes"}, words...)...)
	}
	a := fit("quick")
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.errors, "the repository has no commit yet: commit your files first")
	s.commit()
	a = fit("quick")
	require.Zero(t, a.code, a.errors)
	assert.Contains(t, a.out, "measured: ")
	assert.Contains(t, a.out, "does not notice an emptied file (lib/a.sh)")
	assert.Zero(t, s.iterate("validate", "quick").code)
	a = fit("quick")
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.errors, "exists already")
	a = fit("other", "--kind", "speed")
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.errors, `no kind of program is called "speed": give one of go-benchmark,`)
	a = fit("timed", "--kind", "make-test-time", "--json")
	require.Zero(t, a.code, a.errors)
	assert.Regexp(t, `^\{"changed":true,"steps":\[\{"action":"create","name":"[^"]+/timed\.md","why":"[^"]+"\}\]\}\n$`,
		a.out)
	assert.FileExists(t, filepath.Join(s.root, ".autoloop/programs/timed.md"))

	s.file("lib/a.sh", "exit 1\n")
	s.commit()
	a = fit("other")
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.errors, "make-test-time: not taken: ")
	assert.NoFileExists(t, filepath.Join(s.root, ".autoloop/programs/other.md"))
}

// TestDoctorSaysThatTheTargetIsMet before anything was tried.
func TestDoctorSaysThatTheTargetIsMet(t *testing.T) {
	t.Parallel()
	for target, met := range map[string]bool{"4": true, "5": true, "6": false} {
		s := fitShop(t)
		s.file(".autoloop/programs/p.md", "---\ntarget-metric: "+target+"\n"+changing+"---\n"+goodTarget+evaluation)
		s.file("value.txt", "5\n")
		s.commit()
		const says = "it measures 5, which meets target-metric "
		assert.Equal(t, met, strings.Contains(s.iterate("doctor").out, says), target)
		assert.Equal(t, met, strings.Contains(s.iterate("doctor", "p").out, says), target)
	}
}

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}
