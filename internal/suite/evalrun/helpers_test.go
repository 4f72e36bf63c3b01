package evalrun

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite/judge"
	"github.com/org/autoloop/tests/scratch"
	"github.com/org/autoloop/tests/testbox"
	"github.com/org/autoloop/tests/testdir"
)

func TestMain(m *testing.M) {
	if handled, code := process.Supervise(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(scratch.Run(m))
}

type tree = testdir.Files

// worker is an executor in this process; it notes what it was asked for.
type worker struct {
	printed agent.Printed
	work    func(ctx context.Context, r agent.Request) (agent.Reply, error)

	mu    sync.Mutex
	asked []agent.Request
}

func (*worker) Name() string { return "worker" }

func (w *worker) Project() agent.Project {
	return agent.Project{Skills: ".worker/skills", Printed: w.printed}
}

func (w *worker) Propose(ctx context.Context, r agent.Request) (agent.Reply, error) {
	w.mu.Lock()
	w.asked = append(w.asked, r)
	w.mu.Unlock()
	if w.work == nil {
		return agent.Reply{}, nil
	}
	return w.work(ctx, r)
}

// leaves is an executor that leaves files in outputs/.
func leaves(t *testing.T, list tree) *worker {
	return &worker{work: func(_ context.Context, r agent.Request) (agent.Reply, error) {
		testdir.Put(t, filepath.Join(r.Dir, "outputs"), list)
		return agent.Reply{}, nil
	}}
}

// marks is a grader in this process.
type marks func(w judge.Work) (judge.Opinion, error)

func (marks) Name() string { return "marks" }

func (m marks) Grade(_ context.Context, w judge.Work) (judge.Opinion, error) { return m(w) }

// commands is a Runner in this process.
type commands func(ctx context.Context, spec process.Spec) (process.Result, error)

func (c commands) Run(ctx context.Context, spec process.Spec) (process.Result, error) {
	return c(ctx, spec)
}

// exists is all that a case needs but its id: a check of outputs/x.
const exists = `"prompt": "p", "deterministic_checks": [{"type": "file_exists", "file": "x"}]}`

const oneCheck = `[{"id": 1, ` + exists + `]`

// fixture is a skill, and what running its suite needs.
type fixture struct {
	t    *testing.T
	root string
}

// newFixture makes a skill of a suite, with more tree below root, nil for none.
func newFixture(t *testing.T, suite string, more tree) *fixture {
	t.Helper()
	w := &fixture{t, testdir.New(t, tree{
		"skill/SKILL.md": "---\nname: notes\n---\nWrite the word good.\n", "skill/evals/evals.json": suite,
	})}
	testdir.Put(t, w.root, more)
	return w
}

func (w *fixture) at(name string) string { return filepath.Join(w.root, filepath.FromSlash(name)) }

func (w *fixture) read(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(w.at(name))
	require.NoError(w.t, err)
	return string(text)
}

// options are those of a run that starts no process: commands of checks fail.
func (w *fixture) options(executor agent.Agent) Options {
	o := Options{Agent: executor, Timeout: time.Minute, Runner: Runner{
		Jobs: 1, RunDir: w.at("run"), Now: time.Now, Sandboxes: testbox.Maker(),
	}}
	o.Sandboxes.Runner = commands(func(context.Context, process.Spec) (process.Result, error) {
		return process.Result{}, errors.New("nothing is started here")
	})
	return o
}

// byCommand are options of real processes by the agent `command`.
func (w *fixture) byCommand(script string) Options {
	runner := process.NewRunner()
	o := w.options(&agent.Command{Runner: runner})
	o.Command, o.Sandboxes.Runner = script, runner
	return o
}

func (w *fixture) load() *Skill {
	w.t.Helper()
	skill, err := Load(w.root, "skill", "")
	require.NoError(w.t, err)
	return skill
}

func (w *fixture) run(o Options) (Result, error) {
	w.t.Helper()
	result, err := Run(w.t.Context(), w.load(), w.at("out"), o)
	w.nothingLeft()
	return result, err
}

func (w *fixture) nothingLeft() {
	w.t.Helper()
	left, _ := os.ReadDir(w.at("run"))
	assert.Empty(w.t, left, "nothing is left behind")
}
