package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type workflowStep struct {
	Uses, Run string
	With      map[string]any
}

type workflowJob struct {
	Permissions map[string]string
	Steps       []workflowStep
}

type workflowFile struct {
	Permissions any
	Jobs        map[string]workflowJob
	Inputs      map[string]any
	Outputs     map[string]any
	Runs        struct{ Steps []workflowStep }
}

func readWorkflow(t *testing.T, file string) (w workflowFile) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(data, &w), file)
	return w
}

func workflowFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../workflows/*.yml")
	require.NoError(t, err)
	require.Len(t, files, 2)
	return files
}

// checkSteps holds the rules of every step: no expression in a script, and
// actions of others by their commit.
func checkSteps(t *testing.T, file string, steps []workflowStep) {
	t.Helper()
	pinned := regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`)
	for _, step := range steps {
		assert.NotContains(t, step.Run, "${{", "%s: an expression in a script is code", file)
		if step.Uses != "" && step.Uses != "org/autoloop@v1" {
			assert.Regexp(t, pinned, step.Uses, file)
		}
		if strings.HasPrefix(step.Uses, "actions/checkout@") {
			assert.Equal(t, false, step.With["persist-credentials"], file)
			assert.EqualValues(t, 0, step.With["fetch-depth"], file)
		}
	}
}

func TestWorkflowsAskForLittle(t *testing.T) {
	t.Parallel()
	write := map[string]string{
		"contents": "write", "issues": "write", "pull-requests": "write", "checks": "read", "statuses": "read", "models": "read",
	}
	read := map[string]string{"contents": "read", "issues": "read", "pull-requests": "read"}
	wanted := map[string]map[string]string{"run": write, "iterate": write, "schedule": read}
	action := readWorkflow(t, "../action.yml")
	for _, file := range workflowFiles(t) {
		w := readWorkflow(t, file)
		assert.Equal(t, map[string]any{}, w.Permissions, "%s: jobs alone have permissions", file)
		for name, job := range w.Jobs {
			assert.Equal(t, wanted[name], job.Permissions, "%s: %s", file, name)
			checkSteps(t, file, job.Steps)
			for _, step := range job.Steps {
				if step.Uses != "org/autoloop@v1" {
					continue
				}
				for input := range step.With {
					assert.Contains(t, action.Inputs, input, file)
				}
			}
		}
	}
}

func TestActionIsDocumented(t *testing.T) {
	t.Parallel()
	action := readWorkflow(t, "../action.yml")
	checkSteps(t, "action.yml", action.Runs.Steps)
	docs, err := os.ReadFile("../docs/actions.md")
	require.NoError(t, err)
	require.NotEmpty(t, action.Inputs)
	for _, names := range []map[string]any{action.Inputs, action.Outputs} {
		for name := range names {
			assert.Contains(t, string(docs), "\n| `"+name+"` |", "docs/actions.md names every input and output")
		}
	}
}

func TestActionlint(t *testing.T) {
	t.Parallel()
	args := []string{"-C", "../tools/actionlint", "tool", "actionlint"}
	for _, file := range workflowFiles(t) {
		path, err := filepath.Abs(file)
		require.NoError(t, err)
		args = append(args, path)
	}
	out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput()
	if err != nil && os.Getenv("AUTOLOOP_TEST_REAL") == "" && strings.Contains(string(out), "dial tcp") {
		t.Skipf("actionlint cannot be fetched: %s", out)
	}
	require.NoError(t, err, string(out))
}

// runAction runs the script of action.yml as its step does, and returns its
// outputs.
func (w *world) runAction(inputs map[string]string) (outputs, log string, err error) {
	w.t.Helper()
	root, err := filepath.Abs("..")
	require.NoError(w.t, err)
	output := filepath.Join(w.t.TempDir(), "output")
	env := append([]string{}, w.env...)
	env = append(env, "GITHUB_ACTION_PATH="+root, "GITHUB_WORKSPACE="+w.dir, "RUNNER_TEMP="+w.side, "GITHUB_OUTPUT="+output)
	all := map[string]string{
		"MODE": "run", "PROGRAM": "", "AGENT": "", "MODEL": "", "PROGRAMS_DIR": "", "MAX_PROGRAMS": "1",
		"ITERATIONS": "1", "DRY_RUN": "false", "WORKING_DIRECTORY": "",
	}
	for name, value := range inputs {
		all[name] = value
	}
	for name, value := range all {
		env = append(env, "INPUT_"+name+"="+value)
	}
	cmd := exec.CommandContext(w.t.Context(), "bash", filepath.Join(root, "workflows", "action.sh"))
	cmd.Dir, cmd.Env = w.dir, env
	printed, err := cmd.CombinedOutput()
	data, _ := os.ReadFile(output)
	return string(data), string(printed), err
}

func TestActionRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"README.md": "mine\n"})
	require.Zero(t, w.binary("iterate", "init", "--yes").code)
	w.git("add", "--all")
	w.git("commit", "--quiet", "--message", "Add Autoloop")

	outputs, log, err := w.runAction(map[string]string{"MODE": "schedule"})
	require.NoError(t, err, log)
	assert.Equal(t, "has-work=true\nselected=example\nmatrix={\"program\":[\"example\"]}\n", outputs)

	outputs, log, err = w.runAction(map[string]string{"ITERATIONS": "2"})
	require.NoError(t, err, log)
	assert.Contains(t, outputs, "report="+filepath.Join(w.side, "autoloop", "results.json"))
	assert.Contains(t, log, `"outcome": "accepted"`)
	assert.Contains(t, w.git("branch", "--list", "autoloop/example"), "autoloop/example")

	outputs, log, err = w.runAction(nil)
	require.NoError(t, err, log)
	assert.Contains(t, outputs, "has-work=false")
	assert.Contains(t, log, "not due yet")
}

func TestActionRunsNoInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"README.md": "mine\n"})
	require.Zero(t, w.binary("iterate", "init", "--yes").code)
	trap := filepath.Join(w.side, "trap")
	hostile := "$(touch " + trap + ")`touch " + trap + "`;touch " + trap + "\n::set-output name=x::y ${{ github.token }}"
	for _, name := range []string{"MODE", "PROGRAM", "PROGRAMS_DIR", "MAX_PROGRAMS", "DRY_RUN", "WORKING_DIRECTORY", "ITERATIONS", "AGENT"} {
		outputs, log, err := w.runAction(map[string]string{name: hostile})
		require.Error(t, err, "%s: %s", name, log)
		assert.NoFileExists(t, trap, name)
		assert.NotContains(t, outputs, "x=y", name)
	}
}
