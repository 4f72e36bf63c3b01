package tests

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/tests/long"
)

// standIns are the agents that a stand-in takes the place of: their programs,
// and the variable by which they log in, which is no other's.
func standIns() map[string][2]string {
	agents, taken := map[string][2]string{}, map[string]bool{}
	for _, tool := range commandline.All() {
		free := slices.IndexFunc(tool.Keys, func(key string) bool { return !taken[key] })
		agents[tool.Name] = [2]string{tool.Program, tool.Keys[free]}
		taken[tool.Keys[free]] = true
	}
	return agents
}

// keyOf is the key of one agent; no two are the same.
func keyOf(variable string) string { return agentKey + "-of-" + variable }

// standInProject is a project with a stand-in for every agent: a script that does
// work, says what the real agent was recorded to say, and shows its environment
// on standard error. The names of the variables that it saw are in side/seen-NAME.
func standInProject(t *testing.T, work, front string) *project {
	t.Helper()
	w := newProject(t, map[string]string{
		".autoloop/programs/p.md": fmt.Sprintf(numbered, "env: [SIDE]\n"+front), "value.txt": "9\n",
	})
	bin := filepath.Join(w.side, "bin")
	require.NoError(t, os.Mkdir(bin, 0o755))
	for name, agent := range standIns() {
		said := w.recording(name, "edit")
		script := fmt.Sprintf("#!/bin/sh\n"+
			"case \"$*\" in --version) echo 9999.0; exit;; esac\n"+
			"env | cut -d= -f1 > %[1]s/seen-%[2]s\nenv >&2\ncat > %[1]s/prompt-%[2]s\n%[3]s\n"+
			"if [ -n \"$COPILOT_OTEL_FILE_EXPORTER_PATH\" ]; then cat %[4]s.told > \"$COPILOT_OTEL_FILE_EXPORTER_PATH\"; fi\n"+
			"cat %[4]s; cat %[4]s.err >&2; exit $(cat %[4]s.code)\n",
			w.side, name, work, said)
		require.NoError(t, os.WriteFile(filepath.Join(bin, agent[0]), []byte(script), 0o755))
		w.env = append(w.env, agent[1]+"="+keyOf(agent[1]))
	}
	w.finds(bin)
	return w
}

// recording writes what an agent was recorded to print into the side directory.
func (w *project) recording(agent, scenario string) string {
	w.t.Helper()
	text := readText(w.t, filepath.Join("..", "internal", "agent", "testdata", agent, scenario+".json"))
	var made struct {
		Out, Err, Told []string
		Code           int
	}
	require.NoError(w.t, json.Unmarshal([]byte(text), &made))
	if made.Code < 0 { // It was ended by us.
		made.Code = 1
	}
	file := filepath.Join(w.side, "said-"+agent)
	for name, lines := range map[string][]string{
		"": made.Out, ".err": made.Err, ".told": made.Told,
		".code": {strconv.Itoa(made.Code)},
	} {
		require.NoError(w.t, os.WriteFile(file+name, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	}
	return file
}

// TestAgentSeesOnlyItsOwnKey: each agent gets the variables of its own login,
// the evaluation none, and the workflow's token is nobody's.
func TestAgentSeesOnlyItsOwnKey(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	for name, agent := range standIns() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := standInProject(t, "echo 7 > value.txt", "setup: env | cut -d= -f1 > \"$SIDE/seen-evaluation\"")
			for _, token := range []string{"GITHUB_TOKEN", "GH_TOKEN", "ACTIONS_RUNTIME_TOKEN", "SOME_OTHER_TOKEN"} {
				w.env = append(w.env, token+"="+keyOf(token))
			}
			a := w.ok("iterate", "--program", "p", "--json", "--agent", name, "--model", "test-model")
			w.noKey(a.stdout, a.stderr)
			seen := w.lines("seen-" + name)
			assert.Contains(t, seen, agent[1])
			assert.NotContains(t, w.lines("seen-evaluation"), agent[1])
			for _, variable := range seen {
				if strings.HasSuffix(variable, "_KEY") || strings.HasSuffix(variable, "_TOKEN") {
					own := []string{agent[1]}
					switch name {
					case "codex":
						own = append(own, "CODEX_API_KEY") // The same key under the name that it reads.
					case "opencode":
						own = append(own, "ANTHROPIC_API_KEY", "OPENAI_API_KEY",
							"GEMINI_API_KEY") // It speaks to all of them.
					}
					assert.Contains(t, own, variable)
				}
			}
		})
	}
}

func (w *project) lines(name string) []string {
	w.t.Helper()
	text := readText(w.t, filepath.Join(w.side, name))
	return strings.Fields(text)
}

// deaf is work that never ends, with children that have sessions of their own
// and do not listen to signals.
const deaf = `(setsid sh -c 'trap "" TERM INT HUP; sleep 600; sleep 600' &) ; setsid sleep 600 & touch ` +
	`"$SIDE/begun-$$"; trap "" TERM; sleep 600; sleep 600`

func TestAgentsThatNeverEndAreEnded(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	withinLimit(t, func(minutes string) (bool, func()) {
		w := standInProject(
			t,
			deaf,
			"agents: [claude, codex, gemini, cursor]\ncandidates: 4\ntimeout-minutes: "+minutes,
		)
		require.Zero(t, w.marked())
		a := w.binary("iterate", "--program", "p", "--json")
		assert.Zero(t, w.marked(), "a process is left")
		begun, err := filepath.Glob(filepath.Join(w.side, "begun-*"))
		require.NoError(t, err)
		return len(begun) == 4, func() {
			require.Zero(t, a.code, a.stderr)
			got := w.decode(a.stdout)
			assert.Equal(t, "error", got[0].Outcome)
			assert.Contains(t, got[0].Reasons[0], "took longer")
			assert.Len(t, begun, 4, "all of them were at work")
		}
	})
}

func TestAgentsEndWithUs(t *testing.T) {
	t.Parallel()
	w := standInProject(t, deaf, "agents: [claude, codex, opencode]\ncandidates: 3\ntimeout-minutes: 10")
	cmd := w.command("iterate", "--program", "p")
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		begun, _ := filepath.Glob(filepath.Join(w.side, "begun-*"))
		return len(begun) == 3 && w.marked() >= 9
	}, 2*time.Minute, 50*time.Millisecond, "three agents and their children are at work")
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	w.alone()
}
