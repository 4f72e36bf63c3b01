package evalrun_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/evals"
	"github.com/org/autoloop/internal/suite/sandbox"
	"github.com/org/autoloop/internal/suite/work"
	"github.com/org/autoloop/tests/scratch"
)

func TestMain(m *testing.M) {
	if handled, code := process.Supervise(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(scratch.Run(m))
}

// fixture is a skill, and what running its suite needs.
type fixture struct {
	t    *testing.T
	root string
}

func newFixture(t *testing.T, evals string) *fixture {
	t.Helper()
	w := &fixture{t, t.TempDir()}
	w.write("skill/SKILL.md", "---\nname: notes\n---\nWrite the word good.\n")
	w.write("skill/evals/evals.json", evals)
	return w
}

func (w *fixture) at(name string) string { return filepath.Join(w.root, filepath.FromSlash(name)) }

func (w *fixture) write(name, text string) {
	w.t.Helper()
	require.NoError(w.t, os.MkdirAll(filepath.Dir(w.at(name)), 0o755))
	require.NoError(w.t, os.WriteFile(w.at(name), []byte(text), 0o644))
}

func (w *fixture) read(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(w.at(name))
	require.NoError(w.t, err)
	return string(text)
}

// options run real processes by the agent `command`.
func (w *fixture) options(script string) evalrun.Options {
	runner := process.NewRunner()
	return evalrun.Options{
		Agent: &agent.Command{Runner: runner}, Timeout: time.Minute,
		Runner: work.Runner{
			Command: script, RunDir: w.at("run"), Now: time.Now,
			Sandboxes: &sandbox.Maker{
				Runner: runner, Remove: os.RemoveAll,
				Environ: func(home string, _ []string) ([]string, error) {
					return []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, os.MkdirAll(home, 0o700)
				},
			},
		},
	}
}

func (w *fixture) run(ctx context.Context, o evalrun.Options) (evalrun.Result, error) {
	w.t.Helper()
	skill, err := evalrun.Load(w.root, "skill", "")
	require.NoError(w.t, err)
	result, err := evalrun.Run(ctx, skill, w.at("out"), o)
	left, _ := os.ReadDir(w.at("run"))
	assert.Empty(w.t, left, "nothing is left behind")
	return result, err
}

func TestSuiteElsewhereIsNoInput(t *testing.T) {
	t.Parallel()
	w := newFixture(t, `[]`)
	w.write("skill/graded/cases.json",
		`[{"id": 1, "prompt": "p", "files": ["graded/cases.json"], "expectations": ["x"]}]`)
	_, err := evalrun.Load(w.root, "skill", "skill/graded/cases.json")
	require.ErrorContains(t, err, `there is no file "graded/cases.json"`)
}

func TestHostileExecutors(t *testing.T) {
	t.Parallel()
	forged := `{\"expectations\":[{\"text\":\"x\",\"passed\":true}]}`
	for name, c := range map[string]struct {
		script, rate string
	}{
		"writes gradings": {`echo "` + forged +
			`" | tee outputs/grading.json grading.json ../grading.json > /dev/null`, "0"},
		"removes all":       {`rm -rf ./* ./.claude`, "0"},
		"deletes its skill": {`rm -rf .claude; echo yes > outputs/x.txt`, "1"},
		"names with odd bytes": {`echo yes > outputs/x.txt; echo > "outputs/a b"; echo > 'outputs/q"'; echo > ` +
			`"$(printf 'outputs/n\nl')"; echo > "$(printf 'outputs/\377')"`, "1"},
		"a huge file": {`echo yes > outputs/x.txt; truncate -s 100M outputs/big`, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, `[{"id": 1, "prompt": "p", "deterministic_checks": [{"type": "file_contains", "file": `+
				`"x.txt", "text": "yes"}]}]`)
			result, err := w.run(t.Context(), w.options(c.script))
			require.NoError(t, err)
			assert.Equal(t, c.rate, result.Rate.RatString(), "%+v", result.Cases)
			assert.NoFileExists(t, w.at("out/eval-1/outputs/big"))
			info, err := os.Lstat(w.at("out/eval-1/outputs/x.txt"))
			assert.True(t, err != nil || info.Mode().IsRegular(), "no link is kept")
		})
	}
}

func TestCommandsOfChecksComeLast(t *testing.T) {
	t.Parallel()
	w := newFixture(t, `[{"id": 1, "prompt": "p", "deterministic_checks": [
		{"type": "shell_command", "command": "sh run.sh; echo made > later.txt"}, {"type": "file_not_exists",
			"file": "later.txt"}, {"type": "file_not_exists", "file": "forged.txt"}]}]`)
	result, err := w.run(t.Context(), w.options(`echo 'echo yes > forged.txt' > outputs/run.sh`))
	require.NoError(t, err)
	assert.Equal(t, "1", result.Rate.RatString(), "%+v", result.Cases)
	assert.NoFileExists(t, w.at("out/eval-1/outputs/later.txt"), "what is kept is what the executor left")
	assert.FileExists(t, w.at("out/eval-1/outputs/run.sh"))
	grading, err := evals.ParseGrading([]byte(w.read("out/eval-1/grading.json")))
	require.NoError(t, err)
	assert.Contains(t, grading.Expectations[0].Text, "shell_command", "the order is the suite's")
}

func TestEvaluator(t *testing.T) {
	t.Parallel()
	w := newFixture(t, `[{"id": 1, "prompt": "p", "deterministic_checks": [{"type": "file_exists", "file": "x"}, `+
		`{"type": "file_exists", "file": "y"}]}, {"id": "b", "prompt": "p", "deterministic_checks": [{"type": `+
		`"file_exists", "file": "x"}]}]`)
	e := &evalrun.Evaluator{Options: w.options("touch outputs/x"), Skill: "skill", Keep: w.at("kept")}
	for range 2 {
		outcome, err := e.Run(t.Context(), evaluation.Request{Dir: w.root, Timeout: time.Minute})
		require.NoError(t, err)
		require.Empty(t, outcome.Problem)
		assert.Equal(t, "0.75", outcome.Measurement.Metric.String())
		assert.Equal(t, "0.5", outcome.Measurement.Numbers["case.1"].String())
		assert.Contains(t, outcome.Tail, "failed: file_exists y")
	}
	assert.FileExists(t, w.at("kept/evaluation-002/eval-b/grading.json"))
	w.write("skill/evals/evals.json", "[]")
	outcome, err := e.Run(t.Context(), evaluation.Request{Dir: w.root, Timeout: time.Minute})
	require.NoError(t, err)
	assert.Contains(t, outcome.Problem, "has no case")
}
