package loop

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/render/live"
	"github.com/org/autoloop/tests/golden"
)

// TestEndOfRun: its count, reverts in a row, a person who asks, what it may cost, and
// another run that works on the program.
func TestEndOfRun(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1\nstop-after-reverts: 2\nplateau: off", "1")
	values := []string{}
	b.agent = func(request agent.Request) agent.Reply {
		if !assert.NotEmpty(t, values, "nobody is asked any more") {
			return agent.Reply{}
		}
		value := values[0]
		values = values[1:]
		if value != "nothing" {
			b.write(request.Dir, map[string]string{"value.txt": value + "\n"})
		}
		return agent.Reply{Summary: "try " + value, Usage: metric.Usage{CostUSD: metricOf("1")}}
	}
	var ended []render.Result
	b.service.Ended = func(r render.Result) { ended = append(ended, r) }
	run := func(count int, proposes ...string) []render.Result {
		values, ended = proposes, nil
		results := b.iterate(count)
		assert.Equal(t, results, ended, "each is told at once")
		assert.Empty(t, values, "no other iteration begins")
		return results
	}
	assert.Empty(t, run(0))

	results := run(9, "nothing", "3", "2", "nothing")
	require.Len(t, results, 4, "what is kept ends a row")
	for i, result := range results {
		assert.Equal(t, i == 3, strings.Contains(result.Stopped, "stop-after-reverts"))
	}
	assert.False(t, b.records().machine.Paused, "the next run goes on")

	b.service.BudgetUSD = 1.5
	results = run(9, "nothing", "4")
	require.Len(t, results, 2)
	golden.Row(t, "budget: 2.00 of 1.50", results[1].Stopped)
	b.service.BudgetUSD = 0

	b.start()
	b.service.Alive = func(history.Lease) bool { return true }
	results = run(9)
	require.Len(t, results, 1)
	assert.Equal(t, history.Busy, results[0].Outcome)
	assert.Len(t, newFixture(t, "", "fail", "1").iterate(3), 1, "unchanged files that fail are not measured again")
}

// TestLargeTreesAreTold: where trees take their time, people hear of them, and none is left.
func TestLargeTreesAreTold(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1", "5", "6")
	files := map[string]string{}
	for i := range manyFiles {
		files[fmt.Sprintf("d/%d", i)] = ""
	}
	b.commit(files)
	var told []string
	b.service.Progress = func(step live.Status) {
		if step.Stage == "trees" {
			told = append(told, step.Detail)
		}
	}
	b.one()
	assert.Equal(t, []string{"building one of 5003 files", "removing 5003 files"}, told)
	b.service.RunDir += "/w"
	require.NoError(t, os.Chmod(b.service.RunDir, 0o700)) //nolint:gosec // a directory of the test
	left, err := os.ReadDir(b.service.RunDir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// TestRefusalIsError of the program, in one job and in two: it counts as a run, and the
// third in a row pauses.
func TestRefusalIsError(t *testing.T) {
	t.Parallel()
	const reason = "codex is not installed"
	for _, jobs := range []int{1, 2} {
		b := newFixture(t, "evaluation-runs: 1\nagent: codex", "1", "3")
		b.agent = func(agent.Request) agent.Reply { panic("nobody works") }
		b.evaluating = func(string) { panic("and nothing is measured") }
		b.git("update-ref", "refs/heads/autoloop/p", "main")
		if jobs == 1 { // which does not mind that a person works on the branch
			b.git("worktree", "add", "--quiet", t.TempDir()+"/w", "autoloop/p")
		}
		for i := range 3 {
			var got render.Result
			var err error
			if jobs == 1 {
				got, err = runRefusing(t, b, reason)
			} else {
				made, _, proposed := b.service.Refusing(reason).Propose(t.Context())
				require.NoError(t, proposed)
				made.ID = made.Run
				got, err = b.service.Publish(t.Context(), made)
			}
			require.NoError(t, err)
			assert.Equal(t, []any{history.Error, i + 1, "codex"}, []any{got.Outcome, got.Iteration, got.Agent})
			assert.Equal(t, reason, strings.TrimPrefix(got.Reasons[0].String(), "the proposing job says: "))
			assert.Equal(t, i == 2, strings.HasPrefix(got.Stopped, "paused: 3 errors in a row, the last: "),
				got.Stopped)
			b.clock = b.clock.Add(time.Hour)
		}
		records := b.records()
		assert.Equal(t, history.Error, records.Decision.Outcome)
		assert.Nil(t, records.Open, "nobody holds the program")
		result, err := runRefusing(t, b, reason)
		require.NoError(t, err)
		assert.Equal(t, history.Idle, result.Outcome, "what rests is left alone")
		assert.Equal(t, 3, b.records().Iteration)
	}
}

// TestRefusalWaits for who works on the program, and for CI.
func TestRefusalWaits(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1\nci-wait: 0m", "1", "3")
	onGitHub(t, b).ci = []ci.Result{unanswered()}
	b.start()
	b.service.Alive = func(history.Lease) bool { return true }
	before := b.refs()
	result, err := runRefusing(t, b, "no agent")
	require.NoError(t, err)
	assert.Equal(t, history.Busy, result.Outcome)
	made, result, err := b.service.Refusing("no agent").Propose(t.Context())
	require.NoError(t, err)
	assert.Nil(t, made)
	assert.Equal(t, history.Busy, result.Outcome)
	assert.Equal(t, before, b.refs())

	b.service.Alive = func(history.Lease) bool { return false }
	require.Equal(t, history.PendingCI, b.one().Outcome)
	result, err = runRefusing(t, b, "no agent")
	require.NoError(t, err)
	assert.Equal(t, history.PendingCI, result.Outcome)
	records := b.records()
	assert.NotNil(t, records.Waiting(), "it is no error of what waits")
	assert.Nil(t, records.Open, "the lease is given back")
	made, result, err = b.service.Refusing("no agent").Propose(t.Context())
	require.NoError(t, err)
	assert.Nil(t, made)
	assert.Contains(t, result.Reasons[0].String(), "iteration 1 waits for CI, whose answer")
}

// runRefusing is the result of a run that cannot begin an iteration.
func runRefusing(t *testing.T, b *fixture, reason string) (render.Result, error) {
	t.Helper()
	results, err := b.service.Refusing(reason).Run(t.Context(), 1)
	if err != nil {
		return render.Result{}, err
	}
	return results[0], nil
}

// TestWarningSurvivesStart: what was found out before the start is recorded is
// shown in the end, once, however often the start is recorded.
func TestWarningSurvivesStart(t *testing.T) {
	t.Parallel()
	d := newMemoryRun(t, "", wasMeasured("1"))
	d.edit("| Best Metric | 1 |", "| Best Metric | 9 |")
	d.warn("%s was not read", "GitHub")
	d.stored.rival = func() {}
	require.NoError(t, d.acquireLease(t.Context()))
	require.NoError(t, d.acquireLease(t.Context()))
	d.warn("GitHub was not read")
	golden.Line(t, d.warnings)
}

// endedAt is a context that ends when a run comes to a step.
func endedAt(t *testing.T, s *Service, stage string) context.Context {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	t.Cleanup(end)
	s.Progress = func(status live.Status) {
		if status.Stage == stage {
			end()
		}
	}
	return ctx
}

// TestConflictThatNothingRecorded is an error of the job: nobody would find it otherwise.
func TestConflictThatNothingRecorded(t *testing.T) {
	t.Parallel()
	d := newMemoryRun(t, "", wasMeasured("1"))
	_, err := d.through(t.Context(), func(context.Context) error { return d.conflicts("main", []string{"a"}) })
	require.ErrorContains(t, err, "main does not merge")
}

// TestRunEndedBeforeLease has none to give back.
func TestRunEndedBeforeLease(t *testing.T) {
	t.Parallel()
	d := newMemoryRun(t, "", wasMeasured("1"), &history.Paused{Reason: decision.Say("a holiday")})
	_, err := d.through(endedAt(t, d.service, "hear"), d.iterate)
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, d.stored.messages)
}
