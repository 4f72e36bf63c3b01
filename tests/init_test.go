package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	initWorkflow = ".github/workflows/autoloop.yml"
	initTemplate = ".github/ISSUE_TEMPLATE/autoloop-program.md"
)

func TestInitFitsTheFirstProgram(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files   map[string]string
		program string
		// needs is the tool that the evaluation runs, which must be here; "" where
		// the evaluation is not run.
		needs string
	}{
		"go": {map[string]string{
			"go.mod": "module example.com/x\n\ngo 1.26\n", "x.go": "package x\n\nfunc One() int { return 1 }\n\nfunc Two() int { return 2 }\n",
			"x_test.go": "package x\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fatal()\n\t}\n}\n",
		}, "test-coverage", "go"},
		"make":    {map[string]string{"Makefile": "test:\n\tgrep -q 1 src/x\n", "src/x": "1\n"}, "test-time", "make"},
		"npm":     {map[string]string{"package.json": `{"scripts": {"test": "node src/x.js"}}`, "src/x.js": "1\n"}, "test-time", "npm"},
		"cargo":   {map[string]string{"Cargo.toml": "[package]\nname = \"x\"\n", "src/lib.rs": ""}, "test-time", ""},
		"pytest":  {map[string]string{"pyproject.toml": "[tool.pytest.ini_options]\n", "tests/test_x.py": ""}, "test-coverage", ""},
		"nothing": {map[string]string{"README.md": "mine\n"}, "example", "sh"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.files)
			a := w.binary("iterate", "init", "--yes")
			require.Zero(t, a.code, a.stderr)
			assert.Contains(t, a.stdout, "create  .autoloop/programs/"+c.program+".md")
			a = w.binary("scheduler", "validate")
			assert.Zero(t, a.code, a.stdout)
			assert.NotContains(t, a.stdout, "warning")
			w.git("add", "--all")
			w.git("commit", "--quiet", "--message", "Add Autoloop")
			if c.needs == "" {
				return
			}
			if _, err := exec.LookPath(c.needs); err != nil {
				t.Logf("%s is not installed: its evaluation is not run", c.needs)
				return
			}
			a = w.binary("iterate", "doctor", "--evaluation", c.program)
			assert.Zero(t, a.code, "%s%s", a.stdout, a.stderr)
		})
	}
}

func TestInitAsksAndUpgrades(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"README.md": "mine\n"})
	a := w.binary("iterate", "init")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "create  "+initWorkflow)
	assert.Contains(t, a.stdout, "nothing was changed")
	assert.Empty(t, w.git("status", "--porcelain"), "nothing is written without a yes")

	require.Zero(t, w.binary("iterate", "init", "--yes").code)
	written := w.read(initWorkflow)
	simple, err := os.ReadFile("../workflows/autoloop-simple.yml")
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(written, string(simple)))
	assert.Contains(t, w.binary("iterate", "init", "--yes").stdout, "there is nothing to do")

	w.write(initWorkflow, strings.Replace(written, "17 * * * *", "5 * * * *", 1))
	edited := w.read(initWorkflow)
	a = w.binary("iterate", "init", "--yes")
	assert.Contains(t, a.stdout, "keep    "+initWorkflow+" (edited")
	assert.Equal(t, edited, w.read(initWorkflow), "what a person wrote stays")

	a = w.binary("iterate", "init", "--yes", "--force", "--matrix")
	assert.Contains(t, a.stdout, "update  "+initWorkflow)
	assert.Contains(t, w.read(initWorkflow), "needs: schedule")
	assert.Contains(t, w.binary("iterate", "init", "--yes").stdout, "there is nothing to do", "the matrix is not taken away")

	w.write(initWorkflow, written)
	a = w.binary("iterate", "init", "--yes", "--matrix")
	assert.Contains(t, a.stdout, "update  "+initWorkflow, "what an earlier init wrote is upgraded")
	assert.Contains(t, w.read(initWorkflow), "needs: schedule")
}

func TestInitWritesThroughNoLink(t *testing.T) {
	t.Parallel()
	for _, link := range []string{".github", ".autoloop"} {
		w := newWorld(t, map[string]string{"README.md": "mine\n"})
		require.NoError(t, os.Symlink(w.side, filepath.Join(w.dir, link)))
		a := w.binary("iterate", "init", "--yes")
		assert.Equal(t, 1, a.code, a.stdout)
		assert.Contains(t, a.stderr, "symbolic link")
		entries, err := os.ReadDir(w.side)
		require.NoError(t, err)
		assert.Empty(t, entries)
		assert.NoFileExists(t, filepath.Join(w.dir, initTemplate))
	}
}

// TestIssueTemplateIsUnconfigured holds that an issue made of the template as
// it is never runs.
func TestIssueTemplateIsUnconfigured(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	require.Zero(t, w.binary("iterate", "init", "--yes").code)
	_, body, found := strings.Cut(strings.TrimPrefix(w.read(initTemplate), "---\n"), "---\n")
	require.True(t, found)
	w.write(".autoloop/programs/form.md", body)
	a := w.binary("scheduler", "--program", "form")
	assert.Equal(t, 2, a.code, a.stdout)
	assert.Contains(t, a.stderr, "not configured yet")
}
