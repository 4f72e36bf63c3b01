package taskrun_test

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
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/taskrun"
	"github.com/org/autoloop/internal/suite/work"
)

func TestABetterConfigurationIsPromoted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]object{"a": {"checks": []object{
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

func TestTheSameIsNeutralAfterOneRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]object{"a": {"checks": []object{{"kind": "fileExists", "path": "out.txt"}}}})
	found, err := w.compare(t.Context(), copyConfig, nil)
	require.NoError(t, err)
	assert.Equal(t, decision.Neutral, found.Verdict)
	assert.Equal(t, int64(2), w.runs.Load())
	assert.Nil(t, found.Baseline.Scores[0].Runs[0].Cost.WallClockMs, "time is no measure of a single run")
}

// TestChanceIsSeen has a check that passes every second time.
func TestChanceIsSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]object{"a": {"checks": []object{{"kind": "command", "cmd": `
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
	w := newWorld(t, map[string]object{"a": {"checks": []object{after()}}, "b": {"checks": []object{after()}}})
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

// TestACandidateIsMeasuredAnewAsBaseline keeps its luck from being inherited.
func TestACandidateIsMeasuredAnewAsBaseline(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]object{"a": {}})
	for range 2 {
		_, err := w.compare(t.Context(), copyConfig, nil)
		require.NoError(t, err)
		require.NoError(t, os.Rename(w.at("after"), w.at("was")))
		require.NoError(t, os.Rename(w.at("before"), w.at("after")))
		require.NoError(t, os.Rename(w.at("was"), w.at("before")))
	}
	assert.Equal(t, int64(4), w.runs.Load())
}

func TestWhatCannotBeReadIsRunAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]object{"a": {}})
	_, err := w.compare(t.Context(), copyConfig, nil)
	require.NoError(t, err)
	results, err := filepath.Glob(w.at("kept/*/1/result.json"))
	require.NoError(t, err)
	require.Len(t, results, 2)
	require.NoError(t, os.WriteFile(results[0],
		[]byte(`{"format":1,"checks":[{"kind":"command","passed":true}]}`), 0o600))
	require.NoError(t, os.WriteFile(results[1], []byte(`{"form`), 0o600))
	_, err = w.compare(t.Context(), copyConfig, nil)
	require.NoError(t, err)
	assert.Equal(t, int64(4), w.runs.Load())
	_, err = w.compare(t.Context(), copyConfig, nil)
	require.NoError(t, err)
	assert.Equal(t, int64(4), w.runs.Load(), "and is kept then")
}

func TestFailuresAreResults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ script, says string }{
		"crash": {
			`grep -q before AGENTS.md && exit 0; grep -q "fails here" || exit 0; echo "no luck" >&2; exit 3`,
			"crashed: exit code 3 no luck",
		},
		"timeout": {`grep -q before AGENTS.md && exit 0; sleep 600`, "timeout: it took longer than LIMIT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := time.Second
			compare := func() taskrun.Report {
				ms := limit.Milliseconds()
				w := newWorld(t, map[string]object{
					"a": {
						"prompt": "It fails here.", "timeoutMs": ms,
						"checks": []object{{"kind": "fileExists", "path": "file.txt"}},
					}, "b": {"timeoutMs": ms},
				})
				found, err := w.compare(t.Context(), test.script, func(o *taskrun.Options) { o.Runs = 1 })
				require.NoError(t, err)
				return found
			}
			found := compare()
			// A busy machine may not even start the other side in that time.
			for found.Baseline.Scores[0].Runs[0].Failure != "" && limit < time.Minute {
				limit *= 5
				found = compare()
			}
			assert.Equal(t, decision.Regressed, found.Verdict)
			assert.Contains(t, found.Candidate.Scores[0].Runs[0].Failure,
				strings.ReplaceAll(test.says, "LIMIT", limit.String()))
			assert.False(t, found.Candidate.Scores[0].Runs[0].Checks[0].Passed)
			assert.Empty(t, found.Baseline.Scores[0].Runs[0].Failure)
		})
	}
}

// TestAnAgentThatCannotRunIsNoResult has no verdict where the agent failed in all
// that a side did.
func TestAnAgentThatCannotRunIsNoResult(t *testing.T) {
	t.Parallel()
	const broken = "what was finished is kept; run it again to go on"
	for name, test := range map[string]struct{ script, says, then string }{
		"both sides": {
			`exit 3`, "the agent failed in all 2 runs of the baseline (crashed: exit code 3",
			"repair the agent",
		},
		"one side": {
			`grep -q before AGENTS.md || exit 3`,
			"the agent failed in all 2 runs of the candidate (crashed: exit code 3", "repair the agent",
		},
		"not found":    {`grep -q before AGENTS.md || no-such-agent`, "exit code 127", broken},
		"not executed": {`grep -q before AGENTS.md || ./file.txt`, "exit code 126", broken},
		"nowhere":      {`no-such-agent`, "exit code 127", broken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, map[string]object{"a": {}, "b": {}})
			found, err := w.compare(t.Context(), test.script, func(o *taskrun.Options) { o.Runs = 1 })
			require.ErrorContains(t, err, test.says)
			require.ErrorContains(t, err, test.then)
			assert.LessOrEqual(t, strings.Count(err.Error(), "task a: "), 1, "nothing is said twice: %v", err)
			assert.Empty(t, found.Verdict)
		})
	}
}

func TestTwoEmptyConfigurationsAreAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]object{"a": {}})
	for _, side := range []string{"before", "after"} {
		require.NoError(t, os.Remove(w.at(side+"/AGENTS.md")))
	}
	_, err := w.compare(t.Context(), copyConfig, nil)
	var wrong *misuse.Error
	require.ErrorAs(t, err, &wrong)
	require.ErrorContains(t, err, "there is nothing to compare")
	assert.Zero(t, w.runs.Load(), "nothing runs")
}

func TestAnAgentThatIsNotThereIsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]object{"a": {}, "b": {"agent": "nobody"}})
	_, err := w.compare(t.Context(), copyConfig, nil)
	var wrong *misuse.Error
	require.ErrorAs(t, err, &wrong)
	require.ErrorContains(t, err, `b/task.json: no agent is called "nobody"`)
	assert.Zero(t, w.runs.Load(), "nothing runs")

	_, err = w.compare(t.Context(), copyConfig, func(o *taskrun.Options) { o.Agent = "" })
	require.ErrorContains(t, err, "a/task.json names no agent")
}

// refused is an agent that cannot work, through no fault of a configuration.
type refused struct{ agent.Agent }

func (refused) Propose(context.Context, agent.Request) (agent.Reply, error) {
	return agent.Reply{Failure: &agent.Failure{Kind: agent.RateLimit, Message: "come back at ten"}}, nil
}

func TestAnAgentThatCannotWorkIsNoResult(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]object{"a": {}})
	_, err := w.compare(t.Context(), copyConfig, func(o *taskrun.Options) {
		o.Agents = func(string) (agent.Agent, error) { return refused{&agent.Command{}}, nil }
	})
	require.ErrorContains(t, err, "task a: agent command: rate-limit: come back at ten")
	assert.NoDirExists(t, w.at("kept"))
}

func TestEverythingWrongIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]object{
		"a": {"chekcs": []object{}}, "b": {"fixtureDir": "../.."},
		"c": {"timeoutMs": -1},
	})
	_, err := taskrun.Load(t.Context(), w.at("suite"))
	var wrong *misuse.Error
	require.ErrorAs(t, err, &wrong)
	for _, text := range []string{
		"a/task.json:1: chekcs: ", "b/task.json:1: fixtureDir: ",
		"c/task.json:1: timeoutMs: ",
	} {
		require.ErrorContains(t, err, text)
	}
	assert.Len(t, strings.Split(err.Error(), "\n"), 3)

	_, err = taskrun.Load(t.Context(), w.at("before"))
	require.ErrorContains(t, err, "there is no task.json")
}

func TestLinksOutOfAFixtureAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]object{"a": {}})
	require.NoError(t, os.Symlink("/etc/passwd", w.at("suite/a/fixture/l")))
	_, err := taskrun.Load(t.Context(), w.at("suite"))
	require.ErrorContains(t, err, `a/task.json: fixtureDir: fixture of a: "l" is a link that leaves the sandbox`)
}

func TestBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]object{"a": {}, "b": {}, "c": {}})
	priced := func(o *taskrun.Options) {
		o.Budget, o.Jobs = work.Budget{Tokens: 250}, 1
		o.Agents = func(string) (agent.Agent, error) {
			return spender{counted{&agent.Command{Runner: o.Sandboxes.Runner}, &w.runs}}, nil
		}
	}
	_, err := w.compare(t.Context(), copyConfig, priced)
	require.ErrorContains(t, err, "the budget of 250 tokens is used up after 3 of 6 runs")
	require.ErrorIs(t, err, taskrun.ErrIncomplete)
	_, err = w.compare(t.Context(), copyConfig, func(o *taskrun.Options) { priced(o); o.Budget.Tokens = 1 << 40 })
	require.NoError(t, err)
	assert.Positive(t, w.runs.Load())

	_, err = w.compare(t.Context(), copyConfig, func(o *taskrun.Options) {
		o.Budget, o.Jobs, o.Fresh = work.Budget{Tokens: 1, UnknownCostPauses: true}, 1, true
	})
	require.ErrorContains(t, err, "the agent does not say what it costs")
}

// spender says that every run took 100 tokens.
type spender struct{ agent.Agent }

func (s spender) Propose(ctx context.Context, request agent.Request) (agent.Reply, error) {
	reply, err := s.Agent.Propose(ctx, request)
	in, out := int64(90), int64(10)
	reply.Usage.InputTokens, reply.Usage.OutputTokens = &in, &out
	return reply, err
}

func TestInterruptedGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]object{"a": {}, "b": {}, "c": {}})
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

func TestConfigurationGlobs(t *testing.T) {
	t.Parallel()
	c := taskrun.AgentConfig()
	require.NoError(t, c.Err())
	for path, is := range map[string]bool{
		"AGENTS.md": true, "sub/AGENTS.md": false, ".claude/a/b.md": true, ".claude/settings.local.json": false,
		"CLAUDE.local.md":                 false,
		".github/copilot-instructions.md": true, ".github/workflows/x.yml": false, "main.go": false,
		".claude/worktrees/x/AGENTS.md": false,
	} {
		assert.Equal(t, is, c.Match(path), path)
	}
	for dir, is := range map[string]bool{
		".claude": true, ".claude/deep/er": true, ".github": true,
		".github/workflows": false, "node_modules": false, "AGENTS.md": false,
	} {
		assert.Equal(t, is, c.Within(dir), dir)
	}
	c = taskrun.Config{Include: []string{"docs/", "{a/b,c}/*.md", "x/*/y.md"}}
	assert.True(t, c.Match("docs/deep/x"))
	assert.True(t, c.Match("a/b/x.md"))
	for dir, is := range map[string]bool{
		"docs": true, "docs/deep": true, "a": true, "x": true, "x/any": true,
		"x/any/more": true,
	} {
		assert.Equal(t, is, c.Within(dir), dir)
	}
	require.ErrorContains(t, taskrun.Config{Include: []string{"[", "/abs"}}.Err(), `"[" is no glob`)
	require.Error(t, taskrun.Config{}.Err())
}
