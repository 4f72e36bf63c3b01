package tests

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/tests/long"
)

func readWorkflow(t *testing.T, file string) (w workflowFile) {
	t.Helper()
	data := readText(t, file)
	require.NoError(t, yaml.Unmarshal([]byte(data), &w), file)
	return w
}

func workflowFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../workflows/*.yml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// allowed is what a file may do beyond the rules: the workflows with one job
// are for those who trust their programs.
var allowed = map[string][]string{
	"autoloop-simple.yml":        {"write run", "token run", "run run"},
	"README.md":                  {"write improve", "token improve"},
	"autoloop-page.yml":          {"write deploy"}, // to GitHub Pages, and nothing runs there
	"first-program-on-github.md": {"write improve", "token improve"},
}

func TestWorkflowsKeepTheRules(t *testing.T) {
	t.Parallel()
	for _, file := range workflowFiles(t) {
		data := readText(t, file)
		assert.Empty(t, audit(data, allowed[filepath.Base(file)]...), file)
	}
}

// TestActionKeepsRules holds what the rules for workflows say of a step:
// the token is there for the commands alone, and not where the source is built.
func TestActionKeepsRules(t *testing.T) {
	t.Parallel()
	data := readText(t, "../action.yml")
	assert.Empty(t, unpinned(data))
	tokens := 0
	for _, step := range readWorkflow(t, "../action.yml").Runs.Steps {
		if strings.HasPrefix(step.Uses, "actions/setup-") {
			assert.Equal(t, false, step.With["cache"], "what other jobs left has no place beside a token")
		}
		for name, value := range step.Env {
			assert.NotRegexp(t, eventWord, value, name)
			if strings.Contains(value, "token") {
				tokens++
				assert.Equal(t, "GITHUB_TOKEN of run", name+" of "+step.ID)
			}
		}
		for name, value := range step.With {
			assert.NotContains(t, fmt.Sprint(value), "token", "%s of %s", name, step.Uses)
		}
	}
	assert.Equal(t, 1, tokens)
}

func TestWorkflowsAskForLittle(t *testing.T) {
	t.Parallel()
	write := map[string]any{"contents": "write", "issues": "write", "pull-requests": "write"}
	plus := func(table map[string]any, more ...string) map[string]any {
		table = maps.Clone(table)
		if table == nil {
			table = map[string]any{}
		}
		for _, scope := range more {
			table[scope] = "read"
		}
		return table
	}
	wanted := map[string]map[string]any{
		"autoloop.yml steer":    plus(write, "actions"),
		"autoloop.yml schedule": plus(write, "actions"),
		"autoloop.yml iterate":  plus(write, "checks", "statuses", "actions", "models"),
		"autoloop-iterate.yml propose": plus(nil, "contents", "issues", "pull-requests", "checks",
			"statuses", "actions",
			"models"),
		"autoloop-iterate.yml publish":   plus(write, "checks", "statuses", "actions"),
		"autoloop-simple.yml run":        plus(write, "checks", "statuses", "actions", "models"),
		"autoloop-gate.yml compare":      plus(nil, "contents", "models"),
		"autoloop-page.yml build":        plus(nil, "contents"),
		"autoloop-page.yml deploy":       {"pages": "write", "id-token": "write"},
		"autoloop-validate.yml validate": {"contents": "read", "issues": "write"},
	}
	found := map[string]map[string]any{}
	action := readWorkflow(t, "../action.yml")
	for _, file := range workflowFiles(t) {
		w := readWorkflow(t, file)
		for name, job := range w.Jobs {
			permissions, _ := job.Permissions.(map[string]any)
			found[filepath.Base(file)+" "+name] = permissions
			for _, step := range job.Steps {
				if step.mode() == "" {
					continue
				}
				for input := range step.With {
					assert.Contains(t, action.Inputs, input, file)
				}
			}
		}
	}
	assert.Equal(t, wanted, found)
}

// TestWorkflowsAreBounded holds what keeps one program from being in the way of
// others, and what is kept, and for how long.
func TestWorkflowsAreBounded(t *testing.T) {
	t.Parallel()
	strategy := readWorkflow(t, "../workflows/autoloop.yml").Jobs["iterate"].Strategy
	assert.Positive(t, strategy.MaxParallel)
	require.NotNil(t, strategy.FailFast)
	assert.False(t, *strategy.FailFast, "a program that fails ends no other")
	uploads := 0
	for _, file := range workflowFiles(t) {
		for name, job := range readWorkflow(t, file).Jobs {
			for _, step := range job.Steps {
				if !strings.HasPrefix(step.Uses, "actions/upload-artifact@") {
					continue
				}
				uploads++
				days, _ := step.With["retention-days"].(int)
				assert.True(t, days > 0 && days <= 14, "%s: %s keeps an artifact for %v days", file, name,
					step.With["retention-days"])
				assert.Equal(t, true, step.With["overwrite"], "%s: %s cannot be run again", file, name)
			}
		}
	}
	assert.Equal(t, 5, uploads)
}

// TestLargeBundlesAreNotHandedOn runs the step that looks at the bundle.
func TestLargeBundlesAreNotHandedOn(t *testing.T) {
	t.Parallel()
	steps := readWorkflow(t, "../workflows/autoloop-iterate.yml").Jobs["propose"].Steps
	at := slices.IndexFunc(steps, func(s workflowStep) bool { return s.ID == "bundle" })
	require.GreaterOrEqual(t, at, 0)
	for size, made := range map[int]string{1 << 10: "made=true\n", 103 << 20: ""} {
		dir, output := t.TempDir(), filepath.Join(t.TempDir(), "output")
		require.NoError(t, os.WriteFile(output, nil, 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "bundle.json"), bytes.Repeat([]byte("x"), size), 0o600))
		cmd := exec.CommandContext(t.Context(), "bash", "-e", "-c", steps[at].Run)
		cmd.Env = append(os.Environ(), "BUNDLE="+dir, "GITHUB_OUTPUT="+output)
		log, err := cmd.CombinedOutput()
		assert.Equal(t, made != "", err == nil, string(log))
		said := readText(t, output)
		assert.Equal(t, made, said)
	}
}

func TestActionlint(t *testing.T) {
	long.Only(t, long.Act)
	t.Parallel()
	// They call each other by their place in a user's repository.
	w := newProject(t, nil)
	for _, file := range workflowFiles(t) {
		data := readText(t, file)
		w.write(".github/workflows/"+filepath.Base(file), data)
	}
	w.actionlint()
}

// actionlint checks the workflows of the repository. It has to be fetched and
// built: with AUTOLOOP_LONG=1 alone.
func (w *project) actionlint() {
	w.t.Helper()
	if !long.Asked() {
		return
	}
	files, err := filepath.Glob(filepath.Join(w.dir, ".github", "workflows", "*"))
	require.NoError(w.t, err)
	args := append([]string{"-C", "../tools/actionlint", "tool", "actionlint"}, files...)
	out, err := exec.CommandContext(w.t.Context(), "go", args...).CombinedOutput()
	require.NoError(w.t, err, string(out))
}

// TestGateReadsWholeConfiguration holds that the gate starts for all
// that is compared.
func TestGateReadsWholeConfiguration(t *testing.T) {
	t.Parallel()
	events, _ := readWorkflow(t, "../workflows/autoloop-gate.yml").On.(map[string]any)
	pulls, _ := events["pull_request"].(map[string]any)
	var paths []any
	for _, glob := range evalrun.AgentConfig().Include {
		paths = append(paths, glob)
	}
	assert.Equal(t, paths, pulls["paths"])
}
