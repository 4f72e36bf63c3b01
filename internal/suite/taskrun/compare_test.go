package taskrun_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/taskrun"
	"github.com/org/autoloop/internal/suite/work"
)

func TestBetterConfigurationIsPromoted(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]object{"a": {"checks": []object{
		after(),
		{"kind": "fileExists", "path": "out.txt"},
	}}, "b": {}})
	found, err := w.compare(t.Context(), copyConfig, nil)
	require.NoError(t, err)
	assert.Equal(t, decision.Improved, found.Verdict)
	assert.True(t, found.Promotable, "%+v", found.Notes)
	assert.Equal(t, "0.5", found.NetGain.String())
	assert.Equal(t, int64(8), w.runs.Load(), "what was seen is looked at once more, on both sides")
	assert.Equal(t, 1, found.Repeats)

	run := found.Baseline.Scores[0].Runs[0]
	assert.Equal(t, []format.CheckResult{
		{Kind: format.FileContains, Name: "out.txt", Detail: `it does not contain "after"`},
		{Kind: format.FileExists, Name: "out.txt", Passed: true},
	}, run.Checks)
	assert.Equal(t, "copied\n", read(t, run.Transcript))
	assert.Contains(t, read(t, run.Diff), "+before")
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

func TestSameConfigurationIsNeutral(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]object{"a": {"checks": []object{{"kind": "fileExists", "path": "out.txt"}}}})
	found, err := w.compare(t.Context(), copyConfig, nil)
	require.NoError(t, err)
	assert.Equal(t, decision.Neutral, found.Verdict)
	assert.Equal(t, int64(2), w.runs.Load())
	assert.Nil(t, found.Baseline.Scores[0].Runs[0].Cost.WallClockMs, "time is no measure of a single run")
}

// TestChanceIsSeen has a check that passes every second time.
func TestChanceIsSeen(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]object{"a": {"checks": []object{{"kind": "command", "cmd": `
		echo x >> "$ROOT/count-$(cat out.txt)"
		test $(( ($(wc -l < "$ROOT/count-$(cat out.txt)") + $(grep -c after out.txt)) % 2 )) = 1`}}}})
	found, err := w.compare(t.Context(), copyConfig, func(o *taskrun.Options) { o.Jobs = 1 })
	require.NoError(t, err)
	assert.Equal(t, 5, found.Repeats)
	assert.Equal(t, decision.Neutral, found.Verdict, found.Summary)
	assert.Equal(t, int64(10), w.runs.Load())
	assert.NotNil(t, found.Baseline.Scores[0].Runs[0].Cost.WallClockMs, "time counts between runs made side by side")
}

func TestFinishedRunsAreKept(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]object{"a": {"checks": []object{after()}}, "b": {"checks": []object{after()}}})
	_, err := w.compare(t.Context(), copyConfig, nil)
	require.NoError(t, err)
	require.Equal(t, int64(8), w.runs.Load())

	again, err := w.compare(t.Context(), copyConfig, nil)
	require.NoError(t, err)
	assert.Equal(t, int64(8), w.runs.Load(), "nothing is run twice")
	assert.Equal(t, decision.Improved, again.Verdict)
	assert.Equal(t, 8, again.Reused)

	w.write("after/AGENTS.md", "after, again\n")
	_, err = w.compare(t.Context(), copyConfig, nil)
	require.NoError(t, err)
	assert.Equal(t, int64(12), w.runs.Load(), "the baseline's runs serve the next candidate")

	w.write("suite/a/fixture/file.txt", "another fixture\n")
	_, err = w.compare(t.Context(), copyConfig, nil)
	require.NoError(t, err)
	assert.Equal(t, int64(16), w.runs.Load(), "another fixture is another task")

	_, err = w.compare(t.Context(), copyConfig, func(o *taskrun.Options) { o.Fresh = true })
	require.NoError(t, err)
	assert.Equal(t, int64(24), w.runs.Load())
}

func TestInterruptedGoesOn(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]object{"a": {}, "b": {}, "c": {}})
	stopped := errors.New("stopped")
	ctx, stop := context.WithCancelCause(t.Context())
	_, err := w.compare(ctx, copyConfig, func(o *taskrun.Options) {
		o.Jobs = 1
		o.Progress = func(p taskrun.Progress) {
			if p.Done == 4 {
				stop(stopped)
			}
		}
	})
	require.ErrorIs(t, err, stopped)
	found, err := w.compare(t.Context(), copyConfig, nil)
	require.NoError(t, err)
	assert.Equal(t, 4, found.Reused)
	assert.Equal(t, int64(6), w.runs.Load())
}

// TestSuitesThatCannotBeLoaded: all that is wrong is said at once.
func TestSuitesThatCannotBeLoaded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tasks map[string]object
		link  string
		says  []string
	}{
		"task files": {
			map[string]object{"a": {"chekcs": []object{}}, "b": {"fixtureDir": "../.."}, "c": {"timeoutMs": -1}},
			"",
			[]string{"a/task.json:1: chekcs: ", "b/task.json:1: fixtureDir: ", "c/task.json:1: timeoutMs: "},
		},
		"a link out of a fixture": {
			map[string]object{"a": {}},
			"suite/a/fixture/l",
			[]string{`a/task.json: fixtureDir: fixture of a: "l" is a link that leaves the sandbox`},
		},
		"no task": {nil, "suite/l", []string{"there is no task.json"}},
	} {
		w := newFixture(t, c.tasks)
		if c.link != "" {
			require.NoError(t, os.MkdirAll(filepath.Dir(w.at(c.link)), 0o700))
			require.NoError(t, os.Symlink("/etc/passwd", w.at(c.link)))
		}
		_, err := taskrun.Load(t.Context(), w.at("suite"))
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
	w := newFixture(t, map[string]object{"a": {}, "b": {}, "c": {}})
	run := func(works *worker, budget work.Budget) error {
		_, err := w.compare(t.Context(), "", func(o *taskrun.Options) {
			by(works)(o)
			o.Budget = budget
		})
		return err
	}
	works := copies()
	err := run(works, work.Budget{Tokens: 250})
	require.ErrorContains(t, err, "250 tokens is used up after 3 of 6 runs")
	var none *work.NoResultError
	require.ErrorAs(t, err, &none)
	require.NoError(t, run(works, work.Budget{Tokens: 1 << 40}))
	assert.Len(t, works.asked, 6)
	silent := copies()
	silent.version = func() (string, error) { return "2", nil }
	silent.ends = func(int) (agent.Reply, error) { return agent.Reply{}, nil }
	require.ErrorContains(t, run(silent, work.Budget{Tokens: 1, UnknownCostPauses: true}), "does not say what it costs")
}

// TestConfigurationAlone measures one side; a later comparison in which it is the
// baseline takes its runs.
func TestConfigurationAlone(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]object{"a": {"checks": []object{after(), {"kind": "fileExists", "path": "out.txt"}}}})
	loaded, err := taskrun.Load(t.Context(), w.at("suite"))
	require.NoError(t, err)
	alone, err := taskrun.Measure(t.Context(), loaded, w.side("before"), w.options(copyConfig, nil))
	require.NoError(t, err)
	assert.Equal(t, "before", alone.Baseline.ConfigLabel)
	assert.Equal(t, "1/2", alone.Baseline.Scores[0].Runs[0].Objective.String())
	assert.Nil(t, alone.Baseline.Stochastic, "of one run nobody knows")
	_, err = w.compare(t.Context(), copyConfig, func(o *taskrun.Options) { o.Runs = 1 })
	require.NoError(t, err)
	assert.Equal(t, int64(2), w.runs.Load(), "the candidate's alone")
}

// TestAgentsOfTasks have the names here, whatever a task file calls them.
func TestAgentsOfTasks(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"Claude-Code": "claude", "claude_code": "claude", "openai-codex": "codex", "copilot-cli": "copilot",
		"gemini-cli": "gemini", "cursor-agent": "cursor", "mine": "mine",
	} {
		assert.Equal(t, want, taskrun.AgentOf(said))
	}
	w := newFixture(t, map[string]object{"a": {"agent": "claude-code"}, "b": {}})
	asked := []string{}
	_, err := w.compare(t.Context(), "", func(o *taskrun.Options) {
		o.Agents = func(name string) (agent.Agent, error) {
			asked = append(asked, name)
			return nil, errors.New("not here")
		}
	})
	require.ErrorContains(t, err, "a/task.json: not here")
	assert.ElementsMatch(t, []string{"claude", "command"}, asked)
	found, err := w.compare(t.Context(), copyConfig, func(o *taskrun.Options) { o.Override = true })
	require.NoError(t, err)
	require.Len(t, found.Warnings, 1)
	assert.Contains(t, found.Warnings[0], "a/task.json names agent claude-code;")
}

// TestAgentThatAlwaysFails has no verdict.
func TestAgentThatAlwaysFails(t *testing.T) {
	t.Parallel()
	found, err := newFixture(t, map[string]object{"a": {}}).compare(t.Context(), "exit 3", nil)
	require.ErrorContains(t, err, "in all 1 runs of the baseline (crashed:")
	assert.Empty(t, found.Verdict)
}
