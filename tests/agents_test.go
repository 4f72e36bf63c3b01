package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/models/client/modeltest"
	"github.com/org/autoloop/tests/long"
)

// agentKey is the key in the environment of every project with an agent; nothing
// may show it.
const agentKey = "sk-key-of-the-real-agents-0123456789"

// numbered is a program whose metric is the number in value.txt; who changes it
// is said by the caller.
const numbered = `---
metric: m
metric_direction: lower
evaluation-runs: 1
%s
---
## Goal
Lower the number in value.txt.
## Target
- ` + "`value.txt`" + `
## Evaluation
` + "```sh" + `
printf '{"m": %%s}\n' "$(cat value.txt)"
` + "```" + `
`

// realAgent is a coding agent that is run as it is.
type realAgent struct {
	name, model string
	// shell calls its tool that runs a command.
	shell func(command string) modeltest.Answer
	// environ points it at a model server.
	environ func(url string) []string
}

func codexAgent() realAgent {
	return realAgent{
		"codex", "gpt-5-codex",
		func(command string) modeltest.Answer {
			return modeltest.Use("exec_command", map[string]string{"cmd": command})
		},
		func(url string) []string {
			return []string{"OPENAI_API_KEY=" + agentKey, "OPENAI_BASE_URL=" + url + "/v1"}
		},
	}
}

func opencodeAgent() realAgent {
	return realAgent{
		"opencode", "endpoint/test-model",
		func(command string) modeltest.Answer {
			return modeltest.Use("bash", map[string]string{"command": command, "description": "change a file"})
		},
		func(url string) []string {
			config := map[string]any{"provider": map[string]any{"endpoint": map[string]any{
				"npm":     "@ai-sdk/openai-compatible",
				"options": map[string]string{"baseURL": url + "/v1", "apiKey": "{env:OPENAI_API_KEY}"},
				"models": map[string]any{"test-model": map[string]any{"cost": map[string]float64{
					"input": 2, "output": 8,
					"cache_read": 0.5,
				}}},
			}}}
			text, err := json.Marshal(config)
			if err != nil {
				panic(err)
			}
			return []string{
				"OPENAI_API_KEY=" + agentKey, "OPENCODE_DISABLE_MODELS_FETCH=1",
				"OPENCODE_CONFIG_CONTENT=" + string(text),
			}
		},
	}
}

// agentsDir is where the real agents are installed.
func agentsDir(t *testing.T, name string) string {
	t.Helper()
	long.Only(t, long.Agents)
	dir := os.Getenv("AUTOLOOP_TEST_AGENTS")
	if dir == "" {
		dir = filepath.Join("npm", "node_modules", ".bin")
	}
	dir, err := filepath.Abs(dir)
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(dir, name), "npm ci --prefix tests/npm")
	return dir
}

// modelProject is a project whose program is worked on by a real agent that asks a
// model server.
func modelProject(
	t *testing.T,
	agent realAgent,
	front string,
	answers ...modeltest.Answer,
) (*project, *modeltest.Server) {
	t.Helper()
	dir := agentsDir(t, agent.name)
	w := newProject(t, map[string]string{
		".autoloop/programs/p.md": fmt.Sprintf(numbered, "agent: "+agent.name+"\nmodel: "+agent.model+"\n"+front),
		"value.txt":               "9\n", "other.txt": "untouched\n",
	})
	w.onDisk() // Codex isolates its commands by itself.
	server := modeltest.NewForAgents(t, answers...)
	w.finds(dir)
	w.env = append(w.env, agent.environ(server.URL)...)
	t.Cleanup(func() {
		if t.Failed() {
			w.logTranscripts()
		}
	})
	return w, server
}

// logTranscripts shows what the agents printed.
func (w *project) logTranscripts() {
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(w.dir), "gh-aw", "transcripts", "*", "*", "*"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		w.t.Logf("%s:\n%s", filepath.Base(file), text)
	}
}

func realAgents() []realAgent { return []realAgent{codexAgent(), opencodeAgent()} }

// decided is the ledger's last decision.
func (w *project) decided() map[string]any {
	w.t.Helper()
	return w.last("decided")
}

// noKey holds that the key is in no file of the project, in no object of its
// repository, and in nothing that was printed.
func (w *project) noKey(printed ...string) {
	w.t.Helper()
	for _, text := range printed {
		assert.NotContains(w.t, text, agentKey)
	}
	cmd := exec.CommandContext(w.t.Context(), "git", "cat-file", "--batch", "--batch-all-objects")
	cmd.Dir, cmd.Env = w.dir, w.env
	objects, err := cmd.Output()
	require.NoError(w.t, err)
	assert.False(w.t, bytes.Contains(objects, []byte(agentKey)), "the key is in an object of the repository")
	err = filepath.WalkDir(filepath.Dir(w.dir), func(file string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(file)
		assert.False(w.t, bytes.Contains(text, []byte(agentKey)), "the key is in %s", file)
		return err
	})
	require.NoError(w.t, err)
}

// lone runs one iteration and holds that it shows no key and leaves no process.
func (w *project) lone() iteration {
	w.t.Helper()
	a := w.ok("iterate", "--program", "p", "--json")
	w.noKey(a.stdout, a.stderr)
	w.alone()
	list := w.decode(a.stdout)
	require.Len(w.t, list, 1)
	return list[0]
}

// TestRealAgentsEdit: what isolates a command leaves an agent its program, its home and
// its sandbox.
func TestRealAgentsEdit(t *testing.T) {
	t.Parallel()
	for _, agent := range realAgents() {
		t.Run(agent.name, func(t *testing.T) {
			t.Parallel()
			command := "echo 7 > value.txt"
			if agent.name == "codex" { // whose commands see no key
				command = "if env | grep -q " + agentKey[:12] + "; then echo 100; else echo 7; fi > value.txt"
			}
			w, server := modelProject(t, agent, "env: [SIDE]", agent.shell(command),
				modeltest.Text("Lowered the number to 7."))
			w.isolated()
			before := w.checkout()
			got := w.lone()
			require.Equal(t, "accepted", got.Outcome, got.Reasons)
			assert.Equal(t, "7", w.git("show", "autoloop/p:value.txt"))
			assert.Equal(t, before, w.checkout())
			assert.Contains(t, w.git("log", "-1", "--format=%s", "autoloop/p"), "Lowered the number to 7.")
			decided := w.decided()
			assert.Equal(t, agent.name, decided["agent"])
			assert.Equal(t, agent.model, decided["model"])
			usage, ok := decided["usage"].(map[string]any)
			require.True(t, ok)
			assert.InDelta(t, 2000, usage["input_tokens"], 0)
			assert.InDelta(t, 800, usage["cached_tokens"], 0)
			assert.InDelta(t, 100, usage["output_tokens"], 0)
			assert.InDelta(t, 2, usage["turns"], 0)
			assert.InDelta(t, 1, usage["tool_calls"], 0)
			assert.Positive(t, usage["cost_usd"])
			requests := server.Requests()
			require.NotEmpty(t, requests)
			for _, request := range requests {
				assert.Equal(t, agentKey, request.Key())
			}
			assert.True(t, requests[0].Has("Lower the number in value.txt."), "the prompt reaches the model")
		})
	}
}
