package evalrun

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/tasks"
	"github.com/org/autoloop/tests/golden"
)

// TestBetterConfigurationIsPromoted, by an agent that is a process.
func TestBetterConfigurationIsPromoted(t *testing.T) {
	t.Parallel()
	w := newTaskFixture(t, map[string]string{"a": checks(after, copied), "b": ""})
	const script = "cp AGENTS.md out.txt; echo copied"
	found, err := w.compare(nil, func(o *TaskOptions) {
		o.Agent, o.Runs, o.Command = "command", 0, script
		o.Agents = func(name string) (agent.Agent, error) {
			return agent.Registry{&agent.Command{Runner: process.NewRunner()}}.Ready(t.Context(), name,
				agent.Request{Command: script})
		}
	})
	require.NoError(t, err)
	assert.Equal(t, decision.Improved, found.Verdict)
	assert.True(t, found.Promotable, "%+v", found.Notes)
	assert.Equal(t, "0.5", found.NetGain.String())
	assert.Equal(t, 1, found.Repeats, "what was seen is looked at once more, on both sides")
	run := found.Baseline.Scores[0].Runs[0]
	assert.Equal(t, []tasks.CheckResult{
		{Kind: suite.FileContains, Name: "out.txt", Detail: `does not contain "after"`},
		{Kind: suite.FileExists, Name: "out.txt", Passed: true},
	}, run.Checks)
	assert.Contains(t, readText(t, run.Transcript), "copied\n")
	assert.Contains(t, readText(t, run.Diff), "+before")
	assert.Nil(t, run.Cost.WallClockMs, "time is no measure of a single run")
}

// TestFinishedRunsAreKept by what went into them, also for a later candidate.
func TestFinishedRunsAreKept(t *testing.T) {
	t.Parallel()
	w := newTaskFixture(t, map[string]string{"a": checks(after), "b": checks(after)})
	works := &configured{}
	alone, err := RunTasks(t.Context(), w.load(), w.options(works), w.side("before"))
	require.NoError(t, err)
	golden.Row(t, "alone", Alone(alone.Baseline))
	assert.Len(t, works.asked, 2)
	fresh := func(o *TaskOptions) { o.Fresh = true }
	for _, c := range []struct {
		file, text   string
		change       func(*TaskOptions)
		runs, reused int
	}{
		{"", "", nil, 2, 2}, // beside the configuration that was measured alone
		{"", "", nil, 0, 4}, // nothing is run twice
		{"after/AGENTS.md", "after, again\n", nil, 2, 2},
		{"suite/a/fixture/file.txt", "another fixture is another task\n", nil, 2, 2},
		{"", "", fresh, 4, 0},
	} {
		before := len(works.asked)
		if c.file != "" {
			w.write(c.file, c.text)
		}
		found, err := w.compare(works, c.change)
		require.NoError(t, err)
		assert.Equal(t, decision.Improved, found.Verdict)
		assert.Equal(t, c.runs, len(works.asked)-before, c.text)
		assert.Equal(t, c.reused, found.Reused, c.text)
		assert.Equal(t, c.reused > 0, found.Baseline.Interleaved != nil, "runs of another day are exchanged whole")
	}
}

func TestInterruptedGoesOn(t *testing.T) {
	t.Parallel()
	w := newTaskFixture(t, map[string]string{"a": "", "b": "", "c": ""})
	works := &configured{}
	ctx, stop := context.WithCancelCause(t.Context())
	w.ctx = ctx
	_, err := w.compare(works, func(o *TaskOptions) {
		o.Progress = func(line string) {
			if strings.HasPrefix(line, "4/") {
				stop(errStopped)
			}
		}
	})
	require.ErrorIs(t, err, errStopped)
	w.ctx = t.Context()
	found, err := w.compare(works, nil)
	require.NoError(t, err)
	assert.Equal(t, 4, found.Reused)
	assert.Len(t, works.asked, 6)
}

// TestSuitesThatCannotBeLoaded: all that is wrong is said at once.
func TestSuitesThatCannotBeLoaded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tasks map[string]string
		link  string
		says  []string
	}{
		"task files": {
			map[string]string{"a": `"chekcs": []`, "b": `"fixtureDir": "../.."`, "c": `"timeoutMs": -1`},
			"x/l",
			[]string{"a/task.json:1: chekcs: ", "b/task.json:1: fixtureDir: ", "c/task.json:1: timeoutMs: "},
		},
		"a link out of a fixture": {
			map[string]string{"a": ""},
			"suite/a/fixture/l",
			[]string{`a/task.json: fixtureDir: fixture of a: "l"`},
		},
		"no task": {nil, "suite/l", []string{"there is no task.json"}},
	} {
		w := newTaskFixture(t, c.tasks)
		require.NoError(t, os.MkdirAll(filepath.Dir(w.at(c.link)), 0o700))
		require.NoError(t, os.Symlink("/etc/passwd", w.at(c.link)))
		_, err := LoadTasks(t.Context(), w.at("suite"))
		var wrong *misuse.Error
		require.ErrorAs(t, err, &wrong, name)
		for _, text := range c.says {
			require.ErrorContains(t, err, text, name)
		}
		assert.Len(t, strings.Split(err.Error(), "\n"), len(c.says), name)
	}
}

// TestBudget: its end ends a comparison, which goes on with another one.
func TestBudget(t *testing.T) {
	t.Parallel()
	w := newTaskFixture(t, map[string]string{"a": "", "b": "", "c": ""})
	run := func(works *configured, budget Budget) error {
		_, err := w.compare(works, func(o *TaskOptions) { o.Budget = budget })
		return err
	}
	works := &configured{}
	err := run(works, Budget{Limit: metric.Limit{Tokens: 250}})
	require.ErrorContains(t, err, "250 tokens is used up; 3 of 6 runs")
	var none *NoResultError
	require.ErrorAs(t, err, &none)
	require.NoError(t, run(works, Budget{Limit: metric.Limit{Tokens: 1 << 40}}))
	assert.Len(t, works.asked, 6)
	w.write("before/AGENTS.md", "of another\n")
	silent := &configured{ends: func(int) (agent.Reply, error) { return agent.Reply{}, nil }}
	require.ErrorContains(t, run(silent, Budget{Limit: metric.Limit{Tokens: 1}, UnknownCostPauses: true}), "does not say what it costs")
}

// TestAgentsOfTasks have the names here, whatever a task file calls them.
func TestAgentsOfTasks(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"Claude-Code": "claude", "claude_code": "claude", "openai-codex": "codex", "copilot-cli": "copilot",
		"gemini-cli": "gemini", "cursor-agent": "cursor", "mine": "mine",
	} {
		assert.Equal(t, want, AgentOf(said))
	}
	w := newTaskFixture(t, map[string]string{"a": `"agent": "claude-code"`, "b": ""})
	asked := []string{}
	_, err := w.compare(nil, func(o *TaskOptions) {
		o.Agents = func(name string) (agent.Agent, error) {
			asked = append(asked, name)
			return nil, errors.New("not here")
		}
	})
	require.ErrorContains(t, err, "a/task.json: not here")
	assert.Equal(t, []string{"claude"}, asked)
	found, err := w.compare(&configured{}, func(o *TaskOptions) { o.Override = true })
	require.NoError(t, err)
	require.Len(t, found.Warnings, 1)
	assert.Contains(t, found.Warnings[0], "a/task.json names agent claude-code;")
}

// TestFaultsAreSaidBeforeAnythingRuns: nothing is spent on what cannot come to its end.
func TestFaultsAreSaidBeforeAnythingRuns(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	for says, c := range map[string]struct {
		remove, link string // paths
		change       func(o *TaskOptions, works *configured)
		ours         bool // it is a failure of our own, and no fault of the caller's
	}{
		"open the baseline: ":                     {remove: "before"},
		"open the candidate: ":                    {remove: "after"},
		"there is nothing to compare":             {remove: "before/AGENTS.md after/AGENTS.md"},
		"open the fixture of b: ":                 {remove: "suite/b/fixture", ours: true},
		`baseline: "CLAUDE.md" is a link that`:    {link: "before/CLAUDE.md"},
		`fixture of a: "l" is a link that leaves`: {link: "suite/a/fixture/l"},
		"a/task.json: ask agent worker for its":   {change: func(_ *TaskOptions, works *configured) { works.version = gone }},
		"the run's agent: gone": {change: func(o *TaskOptions, _ *configured) {
			o.Agents = func(string) (agent.Agent, error) { return nil, gone }
		}},
		"a/task.json names no agent": {change: func(o *TaskOptions, _ *configured) { o.Agent = "" }},
		"not a directory":            {change: func(o *TaskOptions, _ *configured) { o.RunDir = os.Args[0] }, ours: true},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			w, works := newTaskFixture(t, map[string]string{"a": "", "b": ""}), &configured{}
			loaded, o := w.load(), w.options(works)
			for name := range strings.FieldsSeq(c.remove) {
				require.NoError(t, os.RemoveAll(w.at(name)))
			}
			if c.link != "" {
				require.NoError(t, os.Symlink("/etc", w.at(c.link)))
			}
			if c.change != nil {
				c.change(&o, works)
			}
			found, err := RunTasks(t.Context(), loaded, o, w.side("before"), w.side("after"))
			require.ErrorContains(t, err, says)
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
	const same = "baseline and candidate have the same"
	for name, c := range map[string]struct {
		text, says string
		mode       os.FileMode // of the candidate's file
	}{
		"another":                 {"after\n", "", 0o644},
		"the same, beside others": {"before\n", same, 0o644},
		"another mode is another": {"before\n", "", 0o755},
		"none":                    {"", "the candidate (after) has no file of", 0o644},
	} {
		w, works := newTaskFixture(t, map[string]string{"a": ""}), &configured{}
		w.write("after/main.go", "x")
		w.write("after/AGENTS.md", c.text)
		require.NoError(t, os.Chmod(w.at("after/AGENTS.md"), c.mode))
		if c.text == "" {
			require.NoError(t, os.Remove(w.at("after/AGENTS.md")))
		}
		found, err := w.compare(works, nil)
		require.NoError(t, err)
		assert.Equal(t, c.says == "", len(found.Warnings) == 0)
		assert.Contains(t, strings.Join(found.Warnings, "|"), c.says, name)
		assert.Len(t, works.asked, 2)
	}
}

// TestRequestsToAgents are by the task and the side, in a sandbox and a home of their own.
func TestRequestsToAgents(t *testing.T) {
	t.Parallel()
	w := newTaskFixture(t, map[string]string{"a": `"prompt": "do it", "timeoutMs": 7000`, "b": `"timeoutMs": 7000`})
	w.write("before/CLAUDE.md", "of the baseline alone\n")
	w.write("suite/a/fixture/CLAUDE.md", "of the fixture\n")
	works := &configured{}
	found, err := w.compare(works, func(o *TaskOptions) {
		o.Runs, o.Model, o.Command, o.Budget.Tokens = 3, "m", "c", 1200
	})
	require.NoError(t, err)
	require.Len(t, works.asked, 12)
	assert.Equal(t, 1, works.versions, "one agent is asked once for its version")
	dirs, seeds, asked := map[string]bool{}, map[int64]int{}, map[string]int{}
	for i, r := range works.asked {
		dirs[r.Dir], dirs[r.Home] = true, true
		seeds[r.Seed]++
		asked[r.Prompt+": "+strings.Join(r.Targets, " ")]++
		assert.Equal(t, int(r.Seed), r.Iteration)
		assert.Equal(t, []string{"m", "c", "7s"}, []string{r.Model, r.Command, r.Timeout.String()})
		assert.Equal(t, int64(1200-100*i), r.Limit.Tokens, "what is left of the budget")
		assert.NoDirExists(t, r.Dir)
	}
	assert.Len(t, dirs, 24)
	assert.Equal(t, map[int64]int{1: 4, 2: 4, 3: 4}, seeds, "both sides draw the same")
	assert.Equal(t, map[string]int{
		"do it: AGENTS.md CLAUDE.md file.txt": 3, "do it: AGENTS.md file.txt": 3,
		"do b: AGENTS.md CLAUDE.md file.txt": 3, "do b: AGENTS.md file.txt": 3,
	}, asked)
	assert.Equal(t, int64(1200), *found.Expense.Tokens)
	assert.NotNil(t, found.Baseline.Scores[0].Runs[0].Cost.WallClockMs, "time counts between runs made side by side")
}

// TestFailedRunIsKeptWithItsChanges, and none of its checks passes; a failure of our own ends
// the comparison, and what was used is told.
func TestFailedRunIsKeptWithItsChanges(t *testing.T) {
	t.Parallel()
	w := newTaskFixture(t, map[string]string{"a": checks(copied), "b": ""})
	run := func(failure *agent.Failure, err error) (tasks.Report, error) {
		works := &configured{ends: func(n int) (agent.Reply, error) {
			reply := paid()
			if n > 1 {
				return reply, nil
			}
			reply.Failure = failure
			return reply, err
		}}
		found, err := w.compare(works, nil)
		assert.Equal(t, int64(100*len(works.asked)), *found.Expense.Tokens)
		return found, err
	}
	_, err := run(nil, errors.New("our own fault"))
	require.ErrorContains(t, err, "task a: our own fault")
	_, err = run(&agent.Failure{Kind: agent.Authentication, Message: "no key"}, nil)
	require.ErrorContains(t, err, "task a: agent worker: authentication: no key")
	assert.NoDirExists(t, w.at("kept"), "it is no result")
	crash := &agent.Failure{Kind: agent.Crashed, Message: "3\nno luck"}
	_, err = w.compare(&configured{ends: func(int) (agent.Reply, error) { return agent.Reply{Failure: crash}, nil }},
		func(o *TaskOptions) { o.Archive.Dir = w.at("elsewhere") })
	require.ErrorContains(t, err, "in all 2 runs of the baseline (crashed: 3 no luck)")
	found, err := run(crash, nil)
	require.NoError(t, err)
	failed := found.Baseline.Scores[0].Runs[0]
	assert.Equal(t, "crashed: 3 no luck", failed.Failure)
	assert.Equal(t, "not looked at: the agent failed", failed.Checks[0].Detail)
	assert.False(t, failed.Checks[0].Passed, "the file that it left before does not count")
	assert.Contains(t, readText(t, failed.Diff), "+before", "what it changed is kept all the same")
	assert.Empty(t, found.Candidate.Scores[0].Runs[0].Failure)
}

// broken is a Runner of no commands.
type broken struct{ error }

func (b broken) Run(context.Context, process.Spec) (process.Result, error) {
	return process.Result{}, b.error
}

// TestRunsThatCannotBeKept are an error, and no verdict.
func TestRunsThatCannotBeKept(t *testing.T) {
	t.Parallel()
	for says, change := range map[string]func(w *taskFixture, o *TaskOptions){
		"remove the sandbox of task a: it is held": func(_ *taskFixture, o *TaskOptions) {
			o.Sandboxes.Remove = func(dir string) error {
				return errors.Join(os.RemoveAll(dir), errors.New("it is held"))
			}
		},
		"keep a result as ":        func(w *taskFixture, _ *TaskOptions) { w.write("kept", "") },
		"begin to keep a result: ": func(_ *taskFixture, o *TaskOptions) { o.Archive.Stage += "-gone" },
		"no home": func(_ *taskFixture, o *TaskOptions) {
			o.Sandboxes.Environ = func(string, []string) ([]string, error) { return nil, errors.New("no home") }
		},
		"task a: run a command: no processes left": func(_ *taskFixture, o *TaskOptions) {
			o.Sandboxes.Runner = broken{errors.New("no processes left")}
		},
	} {
		w := newTaskFixture(t, map[string]string{"a": checks(`{"kind": "command", "cmd": "true"}`)})
		found, err := w.compare(&configured{}, func(o *TaskOptions) { change(w, o) })
		require.ErrorContains(t, err, says)
		assert.Empty(t, found.Verdict)
	}
}

// slow is a Runner whose commands take half a minute each.
type slow struct{ limits *[]time.Duration }

func (s slow) Run(_ context.Context, spec process.Spec) (process.Result, error) {
	*s.limits = append(*s.limits, spec.Timeout)
	return process.Result{Duration: 30 * time.Second}, nil
}

// TestChecksShareTheTimeOfATask: each has what the ones before it left, and the last none.
func TestChecksShareTheTimeOfATask(t *testing.T) {
	t.Parallel()
	const command = `{"kind": "command", "cmd": "x"}`
	w := newTaskFixture(t, map[string]string{
		"a": checks(command, command, `{"kind": "diffContains", "substring": "+"}`, command) + `, "timeoutMs": 50000`,
	})
	var limits []time.Duration
	found, err := w.compare(&configured{}, func(o *TaskOptions) { o.Sandboxes.Runner, o.Jobs = slow{&limits}, 1 })
	require.NoError(t, err)
	assert.Equal(t, []time.Duration{50 * time.Second, 20 * time.Second}, limits[:2])
	assert.Contains(t, found.Baseline.Scores[0].Runs[0].Checks[3].Detail, "time was up")
}

// TestLoginOfAgent is in nothing that is kept of its work, and shown to no judge.
func TestLoginOfAgent(t *testing.T) {
	t.Parallel()
	const login = "login-of-the-agent-4711"
	w := newTaskFixture(t, map[string]string{"a": checks(after, `{"kind": "command", "cmd": "cat out.txt >&2; exit 1"}`,
		`{"kind": "diffContains", "substring": "`+login+`"}`) + `, "judgeRubric": {"criteria": "is it good?"}`})
	w.write("after/AGENTS.md", "after "+login+"\n")
	j := &answers{text: "y"}
	works := &configured{ends: func(int) (agent.Reply, error) {
		return agent.Reply{Summary: "used " + login, Secrets: process.NewMasker(nil, login)}, nil
	}}
	found, err := w.compare(works, func(o *TaskOptions) { o.Grader = j })
	require.NoError(t, err)
	require.Len(t, j.cases, 2)
	for _, c := range j.cases {
		assert.NotContains(t, c.Diff, login)
		assert.Equal(t, "used ***", c.Words)
		assert.NotContains(t, c.Checks[1].Detail, login)
	}
	run := found.Candidate.Scores[0].Runs[0]
	assert.Contains(t, run.Checks[1].Detail, "exit code 1: ")
	assert.True(t, run.Checks[2].Passed, "a check looks at what was written")
	assert.Contains(t, readText(t, run.Diff), "+after ***")
	assert.NotContains(t, readText(t, filepath.Join(filepath.Dir(run.Diff), "result.json")), "after "+login)
	assert.NotContains(t, TaskFailures(found.Candidate), "after "+login)
}

// TestReports can be moved, written again, and read; nothing else is cleared for them.
func TestReports(t *testing.T) {
	t.Parallel()
	w := newTaskFixture(t, map[string]string{"t": checks(after)})
	found, err := w.compare(&configured{}, func(o *TaskOptions) { o.Runs = 2 })
	require.NoError(t, err)
	found.Warnings = []string{"<b>look</b>"}
	runs := found.Baseline.Scores[0].Runs
	runs[0].Diff, runs[0].Transcript = "", runs[0].Diff // an agent in this process writes none
	given, to := runs[0].Transcript, w.at("new/report")
	written, err := WriteReport(to, found)
	require.NoError(t, err)
	assert.Equal(t, given, runs[0].Transcript, "the given report stays as it is")
	kept := written.Baseline.Scores[0].Runs
	assert.Empty(t, kept[0].Diff)
	assert.Equal(t, "runs/baseline/t/2/changes.diff", kept[1].Diff)
	assert.Equal(t, "runs/baseline/t/1/changes.diff", kept[0].Transcript)
	assert.Equal(t, readText(t, runs[1].Diff), readText(t, filepath.Join(to, kept[1].Diff)))
	back, err := ReadOutcome(filepath.Join(to, "baseline.json"), "x")
	require.NoError(t, err)
	assert.Equal(t, written.Baseline, back, "an outcome of the report is one for the next comparison")
	shown := readText(t, filepath.Join(to, "report.md"))
	assert.Contains(t, shown, "look")
	assert.NotContains(t, shown, "<b>")

	found.Baseline.Scores[0].Runs = runs[:1]
	_, err = WriteReport(to, found)
	require.NoError(t, err, "in the place of an earlier report")
	assert.NoDirExists(t, filepath.Join(to, "runs/baseline/t/2"), "nothing of it is left")

	w.write("other/thesis.txt", "")
	w.write("other/runs/x", "")
	for place, says := range map[string]string{
		"other":                  "other files; give an empty directory",
		"other/thesis.txt":       "write the report to " + w.at("other/thesis.txt"),
		"other/thesis.txt/below": "write the report to " + w.at("other/thesis.txt/below"),
	} {
		_, err = WriteReport(w.at(place), found)
		require.ErrorContains(t, err, says)
	}
	assert.FileExists(t, w.at("other/runs/x"))
	for i, o := range []tasks.SuiteOutcome{found.Candidate, found.Baseline} {
		o.Scores[0].Runs[0].Transcript = w.at("gone")
		report := w.at("report" + []string{"-1", "-2"}[i])
		_, err = WriteReport(report, found)
		require.ErrorContains(t, err, "no such file or directory")
		assert.NoFileExists(t, filepath.Join(report, ReportFile), "half a report is not written")
	}
}

func TestOutcomesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "outcome.json")
	for text, says := range map[string]string{
		"no":                      "their outcome:1: is not JSON",
		"{\"scores\": [{},\n{}]}": "outcome:2: scores[1].taskId: is missing",
		`{"kind": "other"}`:       "scores: is missing",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		_, err := ReadOutcome(file, "their outcome")
		require.ErrorContains(t, err, says)
	}
	_, err := ReadOutcome(file+"-gone", "x")
	require.EqualError(t, err, "x does not exist")
	_, err = ReadOutcome(filepath.Dir(file), "x")
	require.EqualError(t, err, "read x: is a directory")
}
