package evalrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/judge"
	"github.com/org/autoloop/internal/suite/tasks"
	"github.com/org/autoloop/tests/testbox"
)

// configured is an agent in this process. Its configuration is AGENTS.md, which it copies to out.txt.
type configured struct {
	name    string // "" for worker
	version error  // why it cannot say its version
	// ends, optional, is how its run of that number ends, from 1; else it took a hundred tokens.
	ends func(n int) (agent.Reply, error)

	mu       sync.Mutex
	asked    []agent.Request
	versions int
}

func (w *configured) Name() string         { return cmp.Or(w.name, "worker") }
func (*configured) SignIn() string         { return "" }
func (*configured) Install() string        { return "" }
func (*configured) Outdated(string) string { return "" }

func (w *configured) Version(context.Context) (string, error) {
	w.versions++
	return "1", w.version
}

func (w *configured) Propose(_ context.Context, r agent.Request) (agent.Reply, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, r)
	text, err := os.ReadFile(filepath.Join(r.Dir, "AGENTS.md"))
	if err == nil {
		err = os.WriteFile(filepath.Join(r.Dir, "out.txt"), text, 0o600)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return agent.Reply{}, err
	}
	if w.ends == nil {
		return paid(), nil
	}
	return w.ends(len(w.asked))
}

// paid is a reply that took a hundred tokens.
func paid() agent.Reply {
	return agent.Reply{Usage: metric.Usage{InputTokens: new(int64(90)), OutputTokens: new(int64(10))}}
}

// answers is a judge that answers the cases in their order as a text says: "y" is an
// answer, "-" is none, "!" the end of the comparison; the last one goes on for ever. Each
// answer takes a hundred tokens, and finds what the candidate left better.
type answers struct {
	name, text string

	mu    sync.Mutex
	cases []judge.Work
	stop  func(error)
}

var errStopped = errors.New("stopped")

func (a *answers) Name() string { return a.name }

func (a *answers) Grade(_ context.Context, c judge.Work) (judge.Opinion, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	as := a.text[min(len(a.cases), len(a.text)-1)]
	a.cases = append(a.cases, c)
	found := judge.Opinion{Usage: metric.Usage{InputTokens: new(int64(100)), CostUSD: new(metric.MustValue("0.01"))}}
	switch as {
	case '!':
		a.stop(errStopped)
		return found, errStopped
	case 'y':
		value := metric.MustValue("0.5")
		if strings.Contains(c.Diff, "+after") {
			value = metric.MustValue("0.9")
		}
		found.Judgement = &tasks.Judgement{Score: value, Rationale: c.Title, Model: "m"}
	default:
		found.Problem = "no answer"
	}
	return found, nil
}

// taskFixture is a suite with its two configurations, and what a comparison needs.
type taskFixture struct {
	t        *testing.T
	ctx      context.Context
	root     string
	sessions int
}

// Checks of a task: that the agent copied its configuration, and that this is the candidate's.
const (
	copied = `{"kind": "fileExists", "path": "out.txt"}`
	after  = `{"kind": "fileContains", "path": "out.txt", "substring": "after"}`
)

func checks(list ...string) string { return `"checks": [` + strings.Join(list, ", ") + "]" }

// newTaskFixture makes a suite of tasks, of which it is said what is not usual.
func newTaskFixture(t *testing.T, tasks map[string]string) *taskFixture {
	t.Helper()
	w := &taskFixture{t: t, ctx: t.Context(), root: t.TempDir()}
	for id, text := range tasks {
		fields := []string{text}
		for key, value := range map[string]string{
			"id": id, "title": "Task " + id, "prompt": "do " + id, "fixtureDir": "fixture",
		} {
			if !strings.Contains(text, `"`+key+`"`) {
				fields = append(fields, fmt.Sprintf("%q: %q", key, value))
			}
		}
		w.write("suite/"+id+"/task.json", "{"+strings.TrimPrefix(strings.Join(fields, ", "), ", ")+"}")
		w.write("suite/"+id+"/fixture/file.txt", "fixture of "+id+"\n")
	}
	w.write("before/AGENTS.md", "before\n")
	w.write("after/AGENTS.md", "after\n")
	return w
}

func (w *taskFixture) write(name, text string) {
	w.t.Helper()
	file := w.at(name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(w.t, os.WriteFile(file, []byte(text), 0o644))
}

func (w *taskFixture) at(name string) string { return filepath.Join(w.root, filepath.FromSlash(name)) }

func (w *taskFixture) load() *TaskSuite {
	w.t.Helper()
	loaded, err := LoadTasks(w.t.Context(), w.at("suite"))
	require.NoError(w.t, err)
	return loaded
}

// options are those of a comparison in which an agent does one run of each task after the other.
func (w *taskFixture) options(works agent.Agent) TaskOptions {
	w.t.Helper()
	w.sessions++
	stage, run := w.at(fmt.Sprintf("stage-%d", w.sessions)), w.at(fmt.Sprintf("run-%d", w.sessions))
	require.NoError(w.t, os.MkdirAll(stage, 0o700))
	require.NoError(w.t, os.MkdirAll(run, 0o700))
	return TaskOptions{
		// A busy machine must not decide: no time counts as another one.
		Thresholds: tasks.Thresholds{ObjectiveDropIsRegression: true, CostTolerance: metric.FromInt(1000)},
		Agent:      "worker", Runs: 1, Config: AgentConfig(),
		Agents: func(string) (agent.Agent, error) { return works, nil },
		Runner: Runner{
			RunDir: run, Now: time.Now, Jobs: 1, Sandboxes: testbox.Maker(),
		},
		Archive: &Archive{Dir: w.at("kept"), Stage: stage}, Session: fmt.Sprintf("session %d", w.sessions),
	}
}

// compare runs the suite on both sides; change, nil for none, adapts the options.
func (w *taskFixture) compare(works agent.Agent, change func(*TaskOptions)) (tasks.Report, error) {
	w.t.Helper()
	o := w.options(works)
	if change != nil {
		change(&o)
	}
	found, err := RunTasks(w.ctx, w.load(), o, w.side("before"), w.side("after"))
	left, readErr := os.ReadDir(o.RunDir)
	require.NoError(w.t, readErr)
	for _, entry := range left {
		require.Contains(w.t, entry.Name(), "template-", "no sandbox is left behind")
	}
	return found, err
}

func (w *taskFixture) side(name string) Side {
	return Side{Label: name, Dir: w.at(name)}
}

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

// simulated is a comparison whose runs are drawn instead of made: each task has
// four checks, which pass as the function says.
func simulated(t *testing.T, count int, passes func(side role, task, check int) bool) *comparison {
	t.Helper()
	s := &comparison{
		TaskOptions: TaskOptions{
			Thresholds: tasks.DefaultThresholds(),
			Archive:    &Archive{Dir: t.TempDir()},
			Runner:     Runner{Jobs: 1, Now: func() time.Time { return time.Time{} }},
		},
		suite: &TaskSuite{}, records: map[unit]record{}, auto: true, spent: &Spending{},
	}
	for i := range count {
		s.tasks = append(s.tasks, &prepared{Task: suite.Task{ID: fmt.Sprintf("t%d", i)}, agent: &agent.Command{}})
	}
	s.make = func(_ context.Context, u unit) (record, error) {
		r := record{}
		for check := range 4 {
			r.Checks = append(r.Checks,
				tasks.CheckResult{Kind: suite.CommandCheck, Passed: passes(u.side, u.task, check)})
		}
		r.Objective = tasks.Counted(r.Checks)
		return r, nil
	}
	return s
}
