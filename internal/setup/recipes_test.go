package setup

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/tests/golden"
	"github.com/org/autoloop/tests/long"
)

// TestSyntaxErrorIsNoGainForLinter runs what counts findings beside linters that
// say what the real ones say. A file that cannot be read has one finding, and hides
// all others that it had.
func TestSyntaxErrorIsNoGainForLinter(t *testing.T) {
	t.Parallel()
	const ruff, eslint, unread = "python-lint ruff python3", "js-lint npx node", "syntax error: a."
	for name, c := range map[string]struct {
		tools, report string
		result        string // "" for a failure
		says          string
	}{
		"ruff, two findings": {
			ruff, `[{"code": "F401", "filename": "a.py"}, {"code": "E501", "filename": "a.py"}]`, `{"findings": 2}`, "",
		},
		"ruff, none": {ruff, `[]`, `{"findings": 0}`, ""},
		"ruff, an old one that cannot read a file": {
			ruff, `[{"code": "E999", "filename": "a.py", "message": "SyntaxError: x"}]`, "",
			unread + "py: SyntaxError: x",
		},
		"ruff, one that cannot read a file": {
			ruff, `[{"code": null, "filename": "a.py", "message": "SyntaxError: x"}]`, "", unread,
		},
		"ruff, a new one that cannot read a file": {
			ruff, `[{"code": "invalid-syntax", "filename": "a.py", "message": "x"}]`, "", unread,
		},
		"flake8, two findings": {
			"python-lint flake8 python3",
			"./a.py:1:1: F401 'os' imported but unused\n./a.py:2:80: E501 line too long\n", `{"findings": 2}`, "",
		},
		"flake8, one that cannot read a file": {
			"python-lint flake8 python3", "./a.py:1:7: E999 SyntaxError: '(' was never closed\n", "",
			"syntax error: ./a.py:1:7: E999",
		},
		"eslint, two findings": {
			eslint, `[{"filePath": "a.js", "messages": [{"ruleId": "x"}, {"ruleId": "y"}]}]`, `{"findings": 2}`, "",
		},
		"eslint, one that cannot read a file": {
			eslint, `[{"filePath": "a.js", "messages": [{"ruleId": null, "fatal": true, "message": "x"}]}]`, "", unread,
		},
		"a linter that does not work here": {"python-lint flake8 python3", "exit 3", "", ""},
	} {
		words := strings.Fields(c.tools)
		kind, linter, needs := words[0], words[1], words[2]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(needs); err != nil {
				long.Missing(t, needs)
			}
			dir := t.TempDir()
			tools := filepath.Join(dir, "tools")
			require.NoError(t, os.Mkdir(tools, 0o700))
			script := "#!/bin/sh\ncat <<'end'\n" + c.report + "\nend\n"
			if strings.HasPrefix(c.report, "exit") {
				script = "#!/bin/sh\n" + c.report + "\n"
			} else {
				script = strings.Replace(script, "\n\nend", "\nend", 1)
			}
			require.NoError(t, os.WriteFile(filepath.Join(tools, linter), []byte(script),
				0o700)) //nolint:gosec // it is run
			result := filepath.Join(dir, "result")
			here := place{dir: dir, installed: func(string) bool { return true }}
			var text string
			for _, r := range recipes(here) {
				if r.kind == kind && (kind == "js-lint" || strings.Contains(r.why, linter)) {
					text = program.Parse("p.md", []byte(r.text("p", "."))).Script
				}
			}
			require.NotEmpty(t, text)
			cmd := exec.CommandContext(t.Context(), "bash", "-e", "-u", "-o", "pipefail", "-c",
				text) //nolint:gosec // our own script
			cmd.Dir = dir
			cmd.Env = []string{
				"PATH=" + tools + string(os.PathListSeparator) + os.Getenv("PATH"), "TMPDIR=" + dir,
				"AUTOLOOP_RESULT=" + result, "HOME=" + dir,
			}
			said, err := cmd.CombinedOutput()
			if c.result == "" {
				require.Error(t, err)
				assert.Contains(t, string(said), c.says)
				return
			}
			require.NoError(t, err, string(said))
			printed, err := os.ReadFile(result)
			require.NoError(t, err)
			assert.Equal(t, c.result, strings.TrimSpace(string(printed)))
		})
	}
}

// TestPytestThatIsInstalledIsTriedFirst: only when it does not work an environment of
// its own is made, which needs the network.
func TestPytestThatIsInstalledIsTriedFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		installed []string
		works     string // the beginning of a line of the script that works
		setups    []bool // whether what was measured has a setup
	}{
		"it works":      {[]string{"python3", "pytest", "coverage"}, "python3 -m pytest", []bool{false}},
		"Debian's name": {[]string{"python3", "pytest", "python3-coverage"}, "python3 -m pytest", []bool{false}},
		"it does not work": {
			[]string{"python3", "pytest", "coverage"},
			".autoloop-venv/bin/python -m pytest",
			[]bool{false, true},
		},
		"nothing installed": {[]string{"python3"}, ".autoloop-venv/bin/python -m pytest", []bool{true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "pytest.ini"), []byte("[pytest]\n"), 0o600))
			var setups []bool
			fitter := Fitter{
				Root: dir, Here: dir, Tracked: []string{"pytest.ini", "tests/test_a.py"}, Tell: func(string) {},
				Installed: func(command string) bool {
					return strings.Contains(" "+strings.Join(c.installed, " ")+" ", " "+command+" ")
				},
				Measure: func(_ context.Context, p *program.Program, _ ...string) (loop.Inspection, error) {
					setups = append(setups, p.Setup != "")
					if !strings.Contains(p.Script, "\n"+c.works) {
						return loop.Inspection{Problem: "No module named pytest_cov"}, nil
					}
					return loop.Inspection{Median: metric.MustValue("50")}, nil
				},
			}
			fitted, err := fitter.Fit(t.Context(), filepath.Join(dir, "programs"), "", "python-coverage")
			require.NoError(t, err)
			assert.Equal(t, c.setups, setups)
			assert.Contains(t, fitted.Text, "\n"+c.works)
		})
	}
	assert.Len(t, Kinds(), 16, "each kind once: %v", Kinds())
}

// TestNoticingEvaluationIsOfferedFirst: the others are offered with a sentence that
// says so.
func TestNoticingEvaluationIsOfferedFirst(t *testing.T) {
	t.Parallel()
	refused, gain := loop.Breakage{File: "lib.go", Problem: "not scored: the tests fail"},
		loop.Breakage{File: "lib.go", Gain: true}
	worse := loop.Breakage{File: "lib.go", Metric: new(metric.FromInt(9))}
	for name, c := range map[string]struct {
		noisy          bool
		coverage, size loop.Breakage
		kind           string
		says           bool
	}{
		"the first notices":                 {false, refused, gain, "go-coverage", false},
		"the second notices":                {false, gain, refused, "go-binary-size", false},
		"a worse number is a no":            {false, worse, refused, "go-coverage", false},
		"a worse number that may be chance": {true, worse, refused, "go-binary-size", false},
		"none notices":                      {false, gain, gain, "go-coverage", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			tracked := []string{"go.mod", "main.go", "main_test.go"}
			for _, file := range tracked {
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte("package main\n"), 0o600))
			}
			fitter := Fitter{
				Root: dir, Here: dir, Tracked: tracked, Tell: func(string) {},
				Installed: func(string) bool { return true },
				Measure: func(_ context.Context, p *program.Program, ways ...string) (loop.Inspection, error) {
					assert.Equal(t, []string{loop.Emptied}, ways)
					broken := c.size
					if p.Name == "go-coverage" {
						broken = c.coverage
					}
					return loop.Inspection{
						Median: metric.MustValue("50"), Noisy: c.noisy,
						Broken: []loop.Breakage{broken},
					}, nil
				},
			}
			fitted, err := fitter.Fit(t.Context(), filepath.Join(dir, "programs"), "", "")
			require.NoError(t, err)
			assert.Equal(t, c.kind, fitted.Name)
			assert.Equal(t, c.says, strings.Contains(fitted.String(), "does not notice an emptied file"))
		})
	}
}

// TestSetupInstallsWhatTheTestsImport: npm by the lock file that there is, and Python into
// an environment of its own.
func TestSetupInstallsWhatTheTestsImport(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"package-lock.json", "pnpm-lock.yaml", "yarn.lock", "none", "conftest.py"} {
		here := place{
			dir:       t.TempDir(),
			installed: func(command string) bool { return command == "npm" || command == "python3" },
		}
		files := map[string]string{
			file:           "",
			"package.json": `{"scripts": {"test": "jest"}, "devDependencies": {"jest": "1"}}`,
		}
		if file == "conftest.py" {
			files = map[string]string{file: "", "setup.py": "", "requirements.txt": "x\n"}
		}
		for name, text := range files {
			require.NoError(t, os.WriteFile(filepath.Join(here.dir, name), []byte(text), 0o600))
		}
		var text string
		for _, r := range recipes(here) {
			if (r.kind == "js-test-time" || r.kind == "python-coverage") && r.fits {
				text = r.text("p", "packages/x")
			}
		}
		golden.Row(t, file, regexp.MustCompile("\nsetup: .*\n---\n").FindString(text))
	}
}

// TestMeasuredProgramIsNamedAfterItsKind: the name that is given is the example's.
func TestMeasuredProgramIsNamedAfterItsKind(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	steps, err := FirstProgram(
		root,
		filepath.Join(root, "programs"),
		"example",
		&Fitted{Name: "go-coverage", Text: "x"},
	)
	require.NoError(t, err)
	require.Len(t, steps, 1)
	assert.Equal(t, "programs/go-coverage.md", steps[0].Name)
}
