//go:build unix

package taskrun_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite/taskrun"
)

// worker is an agent in this process, which says its version.
type worker struct {
	version func() (string, error)
	work    func(r agent.Request) (agent.Reply, error)

	mu    sync.Mutex
	asked []agent.Request
}

func (*worker) Name() string           { return "worker" }
func (*worker) SignIn() string         { return "" }
func (*worker) Install() string        { return "" }
func (*worker) Outdated(string) string { return "" }

func (w *worker) Version(context.Context) (string, error) { return w.version() }

func (w *worker) Propose(_ context.Context, r agent.Request) (agent.Reply, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, r)
	return w.work(r)
}

// commands is a Runner in this process.
type commands func(spec process.Spec) (process.Result, error)

func (c commands) Run(_ context.Context, spec process.Spec) (process.Result, error) { return c(spec) }

// copies is a worker that does what copyConfig does.
func copies() *worker {
	return &worker{
		version: func() (string, error) { return "1", nil },
		work: func(r agent.Request) (agent.Reply, error) {
			text, err := os.ReadFile(filepath.Join(r.Dir, "AGENTS.md"))
			if err == nil {
				err = os.WriteFile(filepath.Join(r.Dir, "out.txt"), text, 0o600)
			}
			return agent.Reply{Usage: metric.Usage{InputTokens: new(int64(90)), OutputTokens: new(int64(10))}}, err
		},
	}
}

// by lets a worker work, one run of each task after the other, and starts no process.
func by(works *worker) func(*taskrun.Options) {
	return func(o *taskrun.Options) {
		o.Agent, o.Runs, o.Jobs = "worker", 1, 1
		o.Agents = func(string) (agent.Agent, error) { return works, nil }
		o.Sandboxes.Runner = commands(func(process.Spec) (process.Result, error) { return process.Result{}, nil })
	}
}

// TestWhatIsWrongIsSaidBeforeAnythingRuns: nothing is spent on what cannot come to its end.
func TestWhatIsWrongIsSaidBeforeAnythingRuns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil  func(t *testing.T, w *world)
		change func(o *taskrun.Options, before, after *taskrun.Side, works *worker)
		says   string
		ours   bool // it is a failure of our own, and no fault of the caller's
	}{
		"a threshold below nothing": {nil, func(o *taskrun.Options, _, _ *taskrun.Side, _ *worker) {
			o.Thresholds.MinCompositeGain = metric.FromInt(-1)
		}, "min-composite-gain -1 is below 0; give 0 or more", false},
		"a glob that is none": {nil, func(_ *taskrun.Options, _, after *taskrun.Side,
			_ *worker,
		) {
			after.Config.Include = []string{"["}
		}, `"[" is no glob for a path in a repository`, false},
		"no glob": {nil, func(_ *taskrun.Options, before, _ *taskrun.Side,
			_ *worker,
		) {
			before.Config = taskrun.Config{}
		}, "no glob says which files are the configuration", false},
		"a side that is gone": {nil, func(_ *taskrun.Options, before, _ *taskrun.Side,
			_ *worker,
		) {
			before.Dir += "-gone"
		}, "open the baseline: ", false},
		"both sides are gone": {nil, func(_ *taskrun.Options, before, after *taskrun.Side, _ *worker) {
			before.Dir, after.Dir = before.Dir+"-gone", after.Dir+"-gone"
		}, "open the candidate: ", false},
		"a pipe in a configuration": {func(t *testing.T, w *world) {
			t.Helper()
			require.NoError(t, syscall.Mkfifo(w.at("after/CLAUDE.md"), 0o600))
		}, nil, `candidate: "CLAUDE.md" is neither a file nor a directory nor a link`, false},
		"a link out of one": {func(t *testing.T, w *world) {
			t.Helper()
			require.NoError(t, os.Symlink("/etc/passwd", w.at("before/CLAUDE.md")))
		}, nil, `baseline: "CLAUDE.md" is a link that leaves the sandbox`, false},
		"a fixture that changed since": {func(t *testing.T, w *world) {
			t.Helper()
			require.NoError(t, os.Symlink("/etc", w.at("suite/a/fixture/l")))
		}, nil, `fixture of a: "l" is a link that leaves the sandbox`, false},
		"a fixture that is gone since": {func(t *testing.T,
			w *world,
		) {
			t.Helper()
			require.NoError(t, os.RemoveAll(w.at("suite/b/fixture")))
		}, nil, "open the fixture of b: ", true},
		"an agent without a version": {nil, func(_ *taskrun.Options, _, _ *taskrun.Side, works *worker) {
			works.version = func() (string, error) { return "", errors.New("it is broken") }
		}, "a/task.json: ask agent worker for its version: it is broken", false},
		"a directory that is a file": {nil, func(o *taskrun.Options, _, _ *taskrun.Side, _ *worker) {
			require.NoError(t, os.WriteFile(o.RunDir+"-file", nil, 0o600))
			o.RunDir += "-file"
		}, "not a directory", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, map[string]object{"a": {}, "b": {}})
			loaded, err := taskrun.Load(t.Context(), w.at("suite"))
			require.NoError(t, err)
			if c.spoil != nil {
				c.spoil(t, w)
			}
			works := copies()
			before, after, o := w.side("before"), w.side("after"), w.options("", by(works))
			if c.change != nil {
				c.change(&o, &before, &after, works)
			}
			found, err := taskrun.Run(t.Context(), loaded, before, after, o)
			require.ErrorContains(t, err, c.says)
			var fault *misuse.Error
			assert.Equal(t, !c.ours, errors.As(err, &fault), "%v", err)
			assert.Empty(t, works.asked, "nothing runs")
			assert.Empty(t, found)
		})
	}
}

// TestWhatIsWarnedOf stands in the report, and keeps nothing from running.
func TestWhatIsWarnedOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(w *world)
		says    []string
	}{
		"nothing": {func(*world) {}, nil},
		"the same configuration": {
			func(w *world) { w.write("after/AGENTS.md", "before\n") },
			[]string{"baseline and candidate have the same configuration"},
		},
		"another mode is another": {func(w *world) {
			w.write("after/AGENTS.md", "before\n")
			_ = os.Chmod(w.at("after/AGENTS.md"), 0o755)
		}, nil}, //nolint:gosec // it is a mode that is looked at
		"files beside it": {func(w *world) {
			w.write("after/AGENTS.md", "before\n")
			w.write("after/main.go", "x")
		}, []string{"baseline and candidate have the same configuration"}},
		"no configuration": {
			func(w *world) { _ = os.Remove(w.at("after/AGENTS.md")) },
			[]string{"the candidate (after) has no file of a configuration"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, map[string]object{"a": {}})
			c.prepare(w)
			works := copies()
			works.work = func(agent.Request) (agent.Reply, error) { return agent.Reply{}, nil }
			found, err := w.compare(t.Context(), "", by(works))
			require.NoError(t, err)
			assert.Equal(t, strings.Join(c.says, "|"), strings.Join(found.Warnings, "|"))
			assert.Len(t, works.asked, 2)
		})
	}
}

// TestHowAnAgentIsAsked: for each run by the task and the side, in a sandbox and a home of
// its own.
func TestHowAnAgentIsAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]object{"a": {"prompt": "do it", "timeoutMs": 7000}})
	works, versions := copies(), 0
	works.version = func() (string, error) { versions++; return "1", nil }
	found, err := w.compare(t.Context(), "", func(o *taskrun.Options) {
		by(works)(o)
		o.Runs, o.Model, o.Command = 3, "m", "c"
		o.Budget.Tokens = 1000
	})
	require.NoError(t, err)
	require.Len(t, works.asked, 6)
	assert.Equal(t, 1, versions, "one agent is asked once for its version")
	dirs, seeds := map[string]bool{}, map[int64]int{}
	for i, r := range works.asked {
		dirs[r.Dir] = true
		dirs[r.Home] = true
		seeds[r.Seed]++
		assert.Equal(t, int(r.Seed), r.Iteration)
		assert.Equal(t, []string{"do it", "m", "c"}, []string{r.Prompt, r.Model, r.Command})
		assert.Equal(t, "7s", r.Timeout.String())
		assert.Equal(t, []string{"AGENTS.md", "file.txt"}, r.Targets)
		assert.Equal(t, int64(1000-100*i), r.Limit.Tokens, "what is left of the budget")
		assert.NoDirExists(t, r.Dir)
	}
	assert.Len(t, dirs, 12)
	assert.Equal(t, map[int64]int{1: 2, 2: 2, 3: 2}, seeds, "both sides draw the same")
	assert.Equal(t, int64(600), *found.Expense.Tokens)
	_, err = newWorld(t, map[string]object{"a": {}, "b": {}, "c": {}}).compare(t.Context(), "", by(works))
	require.NoError(t, err)
	assert.Equal(t, 2, versions, "for all tasks of a suite")
}

// TestHowAgentsEnd: what a configuration may be to blame for is a result; anything else
// ends the comparison, which can go on, and what was used is told.
func TestHowAgentsEnd(t *testing.T) {
	t.Parallel()
	ours := errors.New("our own fault")
	for name, c := range map[string]struct {
		failure *agent.Failure
		err     error
		budget  bool
		failed  string // of the run, where it is a result
		says    string
		keeps   bool // it can go on
	}{
		"a crash": {
			&agent.Failure{Kind: agent.Crashed, Message: "exit code 3\nno luck"}, nil, false,
			"crashed: exit code 3 no luck", "", false,
		},
		"its time": {
			&agent.Failure{Kind: agent.Timeout, Message: "it took longer than 2s"}, nil, true,
			"timeout: it took longer than 2s", "", false,
		},
		"a bound of its own": {
			&agent.Failure{Kind: agent.Budget, Message: "9 turns"}, nil, false,
			"budget: 9 turns", "", false,
		},
		"the budget": {
			&agent.Failure{Kind: agent.Budget, Message: "9 turns"}, nil, true, "",
			"task a: agent worker: budget: 9 turns", true,
		},
		"no login": {
			&agent.Failure{Kind: agent.Authentication, Message: "no key"}, nil, false, "",
			"task a: agent worker: authentication: no key", true,
		},
		"nothing that started": {
			&agent.Failure{Kind: agent.Crashed, Message: "exit code 127", NotStarted: true}, nil,
			false, "", "task a: agent worker: crashed: exit code 127", true,
		},
		"machinery that failed": {nil, ours, false, "", "task a: our own fault", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, map[string]object{"a": {"checks": []object{{
				"kind": "fileExists",
				"path": "out.txt",
			}}}, "b": {}})
			works := copies()
			copied := works.work
			works.work = func(r agent.Request) (agent.Reply, error) {
				reply, err := copied(r)
				if err == nil && len(works.asked) == 1 {
					reply.Failure, err = c.failure, c.err
				}
				return reply, err
			}
			found, err := w.compare(t.Context(), "", func(o *taskrun.Options) {
				by(works)(o)
				if c.budget {
					o.Budget.Tokens = 1 << 40
				}
			})
			assert.Equal(t, int64(100*len(works.asked)), *found.Expense.Tokens, "what was used")
			if c.says != "" {
				require.ErrorContains(t, err, c.says)
				assert.Equal(t, c.keeps, errors.Is(err, taskrun.ErrIncomplete))
				assert.Len(t, works.asked, 1, "nobody works after it")
				assert.Empty(t, found.Verdict)
				assert.NoDirExists(t, w.at("kept"), "it is no result")
				return
			}
			require.NoError(t, err)
			assert.Len(t, works.asked, 4)
			run := found.Baseline.Scores[0].Runs[0]
			assert.Equal(t, c.failed, run.Failure)
			require.Len(t, run.Checks, 1)
			assert.Equal(t, "not looked at: the agent failed", run.Checks[0].Detail)
			assert.False(t, run.Checks[0].Passed, "the file that it left before does not count")
			assert.Contains(t, read(t, run.Diff), "+before", "what it changed is kept all the same")
			assert.Empty(t, found.Candidate.Scores[0].Runs[0].Failure)
		})
	}
}

// TestWhatKeepsARunFromBeingKept is an error, and no verdict.
func TestWhatKeepsARunFromBeingKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(w *world, o *taskrun.Options)
		says   string
	}{
		"a sandbox that stays": {func(_ *world, o *taskrun.Options) {
			o.Sandboxes.Remove = func(dir string) error {
				return errors.Join(os.RemoveAll(dir), errors.New("it is held"))
			}
		}, "remove the sandbox of a: it is held"},
		"an archive that is a file": {func(w *world, _ *taskrun.Options) { w.write("kept", "") }, "keep a result as "},
		"no place to put it": {
			func(_ *world, o *taskrun.Options) { o.Archive.Stage += "-gone" },
			"begin to keep a result: ",
		},
		"no home": {func(_ *world, o *taskrun.Options) {
			o.Sandboxes.Environ = func(string, []string) ([]string, error) { return nil, errors.New("no home") }
		}, "no home"},
		"a check that cannot be run": {func(_ *world, o *taskrun.Options) {
			o.Sandboxes.Runner = commands(func(process.Spec) (process.Result, error) {
				return process.Result{},
					errors.New("no processes left")
			})
		}, "task a: run a command: no processes left"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, map[string]object{"a": {"checks": []object{{"kind": "command", "cmd": "true"}}}})
			works := copies()
			found, err := w.compare(t.Context(), "", func(o *taskrun.Options) {
				by(works)(o)
				c.change(w, o)
			})
			require.ErrorContains(t, err, c.says)
			assert.Empty(t, found.Verdict)
			loaded, err := taskrun.Load(t.Context(), w.at("suite"))
			require.NoError(t, err)
			o := w.options("", by(works))
			c.change(w, &o)
			o.Fresh = true // a run whose sandbox stays is kept
			_, err = taskrun.Measure(t.Context(), loaded, w.side("before"), o)
			require.ErrorContains(t, err, c.says, "of one configuration alone too")
		})
	}
}

// TestReportsThatCannotBeWritten say where.
func TestReportsThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]object{"a": {}})
	found, err := w.compare(t.Context(), "", by(copies()))
	require.NoError(t, err)
	w.write("file", "")
	_, err = taskrun.WriteReport(w.at("file"), found)
	require.ErrorContains(t, err, "write the report to "+w.at("file")+": ")
	_, err = taskrun.WriteReport(w.at("file/below"), found)
	require.ErrorContains(t, err, "write the report to "+w.at("file/below")+": ")
	for side, run := range map[string]string{
		"baseline":  found.Baseline.Scores[0].Runs[0].Diff,
		"candidate": found.Candidate.Scores[0].Runs[0].Diff,
	} {
		text := read(t, run)
		require.NoError(t, os.Remove(run))
		_, err = taskrun.WriteReport(w.at("report-"+side), found)
		require.ErrorContains(t, err, "no such file or directory", side)
		assert.NoFileExists(t, w.at("report-"+side+"/report.json"), "half a report is none")
		require.NoError(t, os.WriteFile(run, []byte(text), 0o600))
	}
	written, err := taskrun.WriteReport(w.at("report"), found)
	require.NoError(t, err)
	assert.Equal(t, "runs/candidate/a/1/changes.diff", written.Candidate.Scores[0].Runs[0].Diff)
}
