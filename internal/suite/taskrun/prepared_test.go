package taskrun_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/taskrun"
)

// worker is an agent in this process, which does what copyConfig does and says its version.
type worker struct {
	version func() (string, error)
	// ends is how its run of that number ends, from 1.
	ends func(n int) (agent.Reply, error)

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
	text, err := os.ReadFile(filepath.Join(r.Dir, "AGENTS.md"))
	if err == nil {
		err = os.WriteFile(filepath.Join(r.Dir, "out.txt"), text, 0o600)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return agent.Reply{}, err
	}
	return w.ends(len(w.asked))
}

// commands is a Runner in this process.
type commands func(spec process.Spec) (process.Result, error)

func (c commands) Run(_ context.Context, spec process.Spec) (process.Result, error) { return c(spec) }

// paid is a reply that took a hundred tokens.
func paid() agent.Reply {
	return agent.Reply{Usage: metric.Usage{InputTokens: new(int64(90)), OutputTokens: new(int64(10))}}
}

func copies() *worker {
	return &worker{
		version: func() (string, error) { return "1", nil },
		ends:    func(int) (agent.Reply, error) { return paid(), nil },
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

// TestFaultsAreSaidBeforeAnythingRuns: nothing is spent on what cannot come to its end.
func TestFaultsAreSaidBeforeAnythingRuns(t *testing.T) {
	t.Parallel()
	type spoiled struct {
		*fixture

		o             taskrun.Options
		before, after taskrun.Side
		works         *worker
	}
	link := func(at string) func(f *spoiled) {
		return func(f *spoiled) { _ = os.Symlink("/etc", f.at(at)) }
	}
	remove := func(names ...string) func(f *spoiled) {
		return func(f *spoiled) {
			for _, name := range names {
				_ = os.RemoveAll(f.at(name))
			}
		}
	}
	for name, c := range map[string]struct {
		spoil func(f *spoiled)
		says  string
		ours  bool // it is a failure of our own, and no fault of the caller's
	}{
		"a baseline that is gone":  {remove("before"), "open the baseline: ", false},
		"a candidate that is gone": {remove("before", "after"), "open the candidate: ", false},
		"two empty configurations": {
			remove("before/AGENTS.md", "after/AGENTS.md"), "there is nothing to compare", false,
		},
		"a link out of one": {
			link("before/CLAUDE.md"), `baseline: "CLAUDE.md" is a link that`, false,
		},
		"a fixture that changed since": {link("suite/a/fixture/l"), `fixture of a: "l" is a link that leaves`, false},
		"a fixture that is gone since": {remove("suite/b/fixture"), "open the fixture of b: ", true},
		"an agent without a version": {func(f *spoiled) {
			f.works.version = func() (string, error) { return "", errors.New("it is broken") }
		}, "a/task.json: ask agent worker for its", false},
		"an agent that is not there": {func(f *spoiled) {
			f.o.Agents = func(string) (agent.Agent, error) { return nil, errors.New("nobody") }
		}, "the run's agent: nobody", false},
		"no agent": {func(f *spoiled) { f.o.Agent = "" }, "a/task.json names no agent", false},
		"a directory that is a file": {func(f *spoiled) {
			f.write("file", "")
			f.o.RunDir = f.at("file")
		}, "not a directory", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, map[string]object{"a": {}, "b": {}})
			loaded, err := taskrun.Load(t.Context(), w.at("suite"))
			require.NoError(t, err)
			works := copies()
			f := &spoiled{w, w.options("", by(works)), w.side("before"), w.side("after"), works}
			c.spoil(f)
			found, err := taskrun.Run(t.Context(), loaded, f.before, f.after, f.o)
			require.ErrorContains(t, err, c.says)
			var fault *misuse.Error
			assert.Equal(t, !c.ours, errors.As(err, &fault), "%v", err)
			assert.Empty(t, works.asked, "nothing runs")
			assert.Empty(t, found)
		})
	}
}

// TestWarningsOfConfigurations stand in the report, and keep nothing from running.
func TestWarningsOfConfigurations(t *testing.T) {
	t.Parallel()
	const same = "baseline and candidate have the same configuration"
	for name, c := range map[string]struct {
		files, says string
		mode        os.FileMode // of the candidate's file
	}{
		"another":                 {"AGENTS.md", "", 0o644},
		"the same, beside others": {"main.go", same, 0o644},
		"another mode is another": {"main.go", "", 0o755},
		"none":                    {"", "the candidate (after) has no file of a configuration", 0o644},
	} {
		w := newFixture(t, map[string]object{"a": {}})
		switch c.files {
		case "":
			require.NoError(t, os.Remove(w.at("after/AGENTS.md")))
		case "main.go":
			w.write("after/AGENTS.md", "before\n")
			w.write("after/main.go", "x")
			require.NoError(t, os.Chmod(w.at("after/AGENTS.md"), c.mode))
		}
		works := copies()
		found, err := w.compare(t.Context(), "", by(works))
		require.NoError(t, err)
		assert.Equal(t, c.says, strings.Join(found.Warnings, "|"), name)
		assert.Len(t, works.asked, 2)
	}
}

// TestRequestsToAgents are by the task and the side, in a sandbox and a home of their own.
func TestRequestsToAgents(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]object{"a": {"prompt": "do it", "timeoutMs": 7000}, "b": {"timeoutMs": 7000}})
	works, versions := copies(), 0
	works.version = func() (string, error) { versions++; return "1", nil }
	found, err := w.compare(t.Context(), "", func(o *taskrun.Options) {
		by(works)(o)
		o.Runs, o.Model, o.Command, o.Budget.Tokens = 3, "m", "c", 1200
	})
	require.NoError(t, err)
	require.Len(t, works.asked, 12)
	assert.Equal(t, 1, versions, "one agent is asked once for its version")
	dirs, seeds, prompts := map[string]bool{}, map[int64]int{}, map[string]int{}
	for i, r := range works.asked {
		dirs[r.Dir], dirs[r.Home] = true, true
		seeds[r.Seed]++
		prompts[r.Prompt]++
		assert.Equal(t, int(r.Seed), r.Iteration)
		assert.Equal(t, []string{"m", "c", "7s"}, []string{r.Model, r.Command, r.Timeout.String()})
		assert.Equal(t, []string{"AGENTS.md", "file.txt"}, r.Targets)
		assert.Equal(t, int64(1200-100*i), r.Limit.Tokens, "what is left of the budget")
		assert.NoDirExists(t, r.Dir)
	}
	assert.Len(t, dirs, 24)
	assert.Equal(t, map[int64]int{1: 4, 2: 4, 3: 4}, seeds, "both sides draw the same")
	assert.Equal(t, map[string]int{"do it": 6, "do b": 6}, prompts)
	assert.Equal(t, int64(1200), *found.Expense.Tokens)
}

// TestFailedRunIsKeptWithItsChanges, and none of its checks passes; a failure of our own ends
// the comparison, and what was used is told.
func TestFailedRunIsKeptWithItsChanges(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]object{"a": {"checks": []object{{"kind": "fileExists", "path": "out.txt"}}}, "b": {}})
	run := func(failure error) (taskrun.Report, error) {
		works := copies()
		works.ends = func(n int) (agent.Reply, error) {
			reply := paid()
			crash, is := errors.AsType[*agent.Failure](failure)
			if n > 1 || is {
				if n == 1 {
					reply.Failure = crash
				}
				return reply, nil
			}
			return reply, failure
		}
		found, err := w.compare(t.Context(), "", by(works))
		assert.Equal(t, int64(100*len(works.asked)), *found.Expense.Tokens)
		return found, err
	}
	_, err := run(errors.New("our own fault"))
	require.ErrorContains(t, err, "task a: our own fault")
	_, err = run(&agent.Failure{Kind: agent.Authentication, Message: "no key"})
	require.ErrorContains(t, err, "task a: agent worker: authentication: no key; what was finished is kept")
	assert.NoDirExists(t, w.at("kept"), "it is no result")
	found, err := run(&agent.Failure{Kind: agent.Crashed, Message: "3\nno luck"})
	require.NoError(t, err)
	failed := found.Baseline.Scores[0].Runs[0]
	assert.Equal(t, "crashed: 3 no luck", failed.Failure)
	assert.Equal(t, "not looked at: the agent failed", failed.Checks[0].Detail)
	assert.False(t, failed.Checks[0].Passed, "the file that it left before does not count")
	assert.Contains(t, read(t, failed.Diff), "+before", "what it changed is kept all the same")
	assert.Empty(t, found.Candidate.Scores[0].Runs[0].Failure)
}

// TestRunsThatCannotBeKept are an error, and no verdict.
func TestRunsThatCannotBeKept(t *testing.T) {
	t.Parallel()
	for says, change := range map[string]func(w *fixture, o *taskrun.Options){
		"remove the sandbox of task a: it is held": func(_ *fixture, o *taskrun.Options) {
			o.Sandboxes.Remove = func(dir string) error {
				return errors.Join(os.RemoveAll(dir),
					errors.New("it is held"))
			}
		},
		"keep a result as ":        func(w *fixture, _ *taskrun.Options) { w.write("kept", "") },
		"begin to keep a result: ": func(_ *fixture, o *taskrun.Options) { o.Archive.Stage += "-gone" },
		"no home": func(_ *fixture, o *taskrun.Options) {
			o.Sandboxes.Environ = func(string, []string) ([]string, error) { return nil, errors.New("no home") }
		},
		"task a: run a command: no processes left": func(_ *fixture, o *taskrun.Options) {
			o.Sandboxes.Runner = commands(func(process.Spec) (process.Result, error) {
				return process.Result{}, errors.New("no processes left")
			})
		},
	} {
		w := newFixture(t, map[string]object{"a": {"checks": []object{{"kind": "command", "cmd": "true"}}}})
		found, err := w.compare(t.Context(), "", func(o *taskrun.Options) {
			by(copies())(o)
			change(w, o)
		})
		require.ErrorContains(t, err, says)
		assert.Empty(t, found.Verdict)
	}
}

// TestReports can be moved, written again, and read; nothing else is cleared for them.
func TestReports(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]object{"t": {"checks": []object{after()}}})
	found, err := w.compare(t.Context(), "", func(o *taskrun.Options) {
		by(copies())(o)
		o.Runs = 2
	})
	require.NoError(t, err)
	found.Warnings = []string{"<b>look</b>"}
	runs := found.Baseline.Scores[0].Runs
	runs[0].Diff, runs[0].Transcript = "", runs[0].Diff // an agent in this process writes none
	given := runs[0].Transcript
	to := w.at("new/report")
	written, err := taskrun.WriteReport(to, found)
	require.NoError(t, err)
	assert.Equal(t, given, runs[0].Transcript, "the given report stays as it is")
	kept := written.Baseline.Scores[0].Runs
	assert.Empty(t, kept[0].Diff)
	assert.Equal(t, "runs/baseline/t/2/changes.diff", kept[1].Diff)
	assert.Equal(t, "runs/baseline/t/1/changes.diff", kept[0].Transcript)
	assert.Equal(t, read(t, runs[1].Diff), read(t, filepath.Join(to, kept[1].Diff)))
	back, err := taskrun.ReadOutcome(filepath.Join(to, "baseline.json"), "x")
	require.NoError(t, err)
	assert.Equal(t, written.Baseline, back, "an outcome of the report is one for the next comparison")
	shown := read(t, filepath.Join(to, "report.md"))
	assert.Contains(t, shown, "look")
	assert.NotContains(t, shown, "<b>")

	found.Baseline.Scores[0].Runs = runs[:1]
	_, err = taskrun.WriteReport(to, found)
	require.NoError(t, err, "in the place of an earlier report")
	assert.NoDirExists(t, filepath.Join(to, "runs/baseline/t/2"), "nothing of it is left")

	w.write("other/thesis.txt", "")
	w.write("other/runs/x", "")
	_, err = taskrun.WriteReport(w.at("other"), found)
	require.ErrorContains(t, err, "other files; give an empty directory")
	assert.FileExists(t, w.at("other/runs/x"))
	for _, place := range []string{"other/thesis.txt", "other/thesis.txt/below"} {
		_, err = taskrun.WriteReport(w.at(place), found)
		require.ErrorContains(t, err, "write the report to "+w.at(place)+": ")
	}
	for side, runs := range map[string][]format.Run{
		"baseline": found.Baseline.Scores[0].Runs, "candidate": found.Candidate.Scores[0].Runs,
	} {
		was := runs[0].Transcript
		runs[0].Transcript = w.at("gone")
		_, err = taskrun.WriteReport(w.at("report-"+side), found)
		require.ErrorContains(t, err, "no such file or directory", side)
		assert.NoFileExists(t, w.at("report-"+side+"/report.json"), "half a report is not written")
		runs[0].Transcript = was
	}
}

func TestOutcomesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "outcome.json")
	for text, says := range map[string]string{
		`{"configLabel": "c", "scores": []}`: "",
		"no":                                 "their outcome:1: is not JSON",
		"{\"scores\": [{},\n{}]}":            "outcome:2: scores[1].taskId: is missing",
		`{"scores": [{}, {}, {}, {}]}`:       "; and 3 more",
		`{"kind": "other"}`:                  "scores: is missing",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		o, err := taskrun.ReadOutcome(file, "their outcome")
		if says == "" {
			require.NoError(t, err)
			assert.Equal(t, "c", o.ConfigLabel)
			continue
		}
		require.ErrorContains(t, err, says)
		assert.NotContains(t, err.Error(), "\n", "on one line")
		assert.Empty(t, o)
	}
	_, err := taskrun.ReadOutcome(file+"-gone", "x")
	require.EqualError(t, err, "x does not exist")
	_, err = taskrun.ReadOutcome(filepath.Dir(file), "x")
	require.EqualError(t, err, "read x: is a directory")
}
