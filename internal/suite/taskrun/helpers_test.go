package taskrun_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite/cache"
	"github.com/org/autoloop/internal/suite/sandbox"
	"github.com/org/autoloop/internal/suite/score"
	"github.com/org/autoloop/internal/suite/taskrun"
	"github.com/org/autoloop/internal/suite/work"
	"github.com/org/autoloop/tests/scratch"
)

func TestMain(m *testing.M) {
	if handled, code := process.Supervise(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(scratch.Run(m))
}

// fixture is a suite with its two configurations, and what a comparison needs.
type fixture struct {
	t    *testing.T
	root string
	// runs counts the agents that were started.
	runs     atomic.Int64
	sessions int
}

type object = map[string]any

// newFixture makes a suite of these tasks; the keys that a task does not have
// get a value.
func newFixture(t *testing.T, tasks map[string]object) *fixture {
	t.Helper()
	w := &fixture{t: t, root: t.TempDir()}
	for id, task := range tasks {
		usual := object{"id": id, "title": "Task " + id, "prompt": "do " + id, "fixtureDir": "fixture"}
		for key, value := range usual {
			if _, there := task[key]; !there {
				task[key] = value
			}
		}
		text, err := json.Marshal(task)
		require.NoError(t, err)
		w.write("suite/"+id+"/task.json", string(text))
		w.write("suite/"+id+"/fixture/file.txt", "fixture of "+id+"\n")
	}
	w.write("before/AGENTS.md", "before\n")
	w.write("after/AGENTS.md", "after\n")
	return w
}

func (w *fixture) write(name, text string) {
	w.t.Helper()
	file := w.at(name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(w.t, os.WriteFile(file, []byte(text), 0o644))
}

func (w *fixture) at(name string) string { return filepath.Join(w.root, filepath.FromSlash(name)) }

// counted counts the proposals of an agent.
type counted struct {
	agent.Agent

	runs *atomic.Int64
}

func (c counted) Propose(ctx context.Context, request agent.Request) (agent.Reply, error) {
	c.runs.Add(1)
	return c.Agent.Propose(ctx, request)
}

// options are those of a comparison by the agent `command`, with real
// processes; change adapts them.
func (w *fixture) options(script string, change func(*taskrun.Options)) taskrun.Options {
	w.t.Helper()
	w.sessions++
	runner := process.NewRunner()
	stage, run := w.at(fmt.Sprintf("stage-%d", w.sessions)), w.at(fmt.Sprintf("run-%d", w.sessions))
	require.NoError(w.t, os.MkdirAll(stage, 0o700))
	require.NoError(w.t, os.MkdirAll(run, 0o700))
	o := taskrun.Options{
		Agent: "command", Thresholds: score.DefaultThresholds(),
		Agents: func(name string) (agent.Agent, error) {
			found, err := agent.NewRegistry(&agent.Command{Runner: runner}).Usable(name,
				agent.Situation{Command: script})
			return counted{found, &w.runs}, err
		},
		Runner: work.Runner{
			Command: script, RunDir: run, Now: time.Now,
			Sandboxes: &sandbox.Maker{
				Runner: runner, Remove: os.RemoveAll,
				Environ: func(home string, _ []string) ([]string, error) {
					return []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "ROOT=" + w.root}, os.MkdirAll(home, 0o700)
				},
			},
		},
		Archive: &cache.Archive{Dir: w.at("kept"), Stage: stage}, Session: fmt.Sprintf("session %d", w.sessions),
	}
	// A busy machine must not decide: no time counts as another one.
	o.Thresholds.CostTolerance = metric.FromInt(1000)
	if change != nil {
		change(&o)
	}
	return o
}

// compare runs the suite on both sides.
func (w *fixture) compare(ctx context.Context, script string, change func(*taskrun.Options)) (taskrun.Report, error) {
	w.t.Helper()
	loaded, err := taskrun.Load(ctx, w.at("suite"))
	require.NoError(w.t, err)
	o := w.options(script, change)
	found, err := taskrun.Run(ctx, loaded, w.side("before"), w.side("after"), o)
	left, readErr := os.ReadDir(o.RunDir)
	require.NoError(w.t, readErr)
	for _, entry := range left {
		require.Contains(w.t, entry.Name(), "template-", "no sandbox is left behind")
	}
	return found, err
}

func (w *fixture) side(name string) taskrun.Side {
	return taskrun.Side{Label: name, Dir: w.at(name), Config: taskrun.AgentConfig()}
}

// after is a check that holds with the candidate's configuration alone, when
// the agent copies AGENTS.md to out.txt.
func after() object { return object{"kind": "fileContains", "path": "out.txt", "substring": "after"} }

const copyConfig = "cp AGENTS.md out.txt; echo copied"
