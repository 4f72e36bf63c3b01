package history_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func value(text string) *metric.Value {
	v := metric.MustValue(text)
	return &v
}

func decided(iteration int, outcome history.Outcome, best string) *history.Decided {
	return &history.Decided{
		Head: history.Head{Iteration: iteration}, Outcome: outcome, Best: value(best),
		Commit: "c" + best,
	}
}

// TestIterationsAreFiles: the start of an iteration begins a file, what is recorded until
// the next is added to it, and what is recorded first begins iteration 0.
func TestIterationsAreFiles(t *testing.T) {
	started := func(n int) history.Event { return &history.Started{Head: history.Head{Iteration: n, Time: noon}} }
	numbers := func(log *history.Log) (list []int) {
		for _, it := range log.Iterations() {
			list = append(list, it.Number, len(it.Events))
		}
		return list
	}
	var first *history.Log
	log := first.Copy()
	require.NoError(t, log.Append(&history.Set{Key: "issue", Value: "7"}, started(1),
		decided(1, history.PendingCI, "1"), started(1), decided(1, history.Accepted, "1"), &history.Paused{}))
	assert.Equal(t, []int{0, 1, 1, 5}, numbers(log))
	kept := log.Iterations()[1].Text()
	next := log.Copy()
	require.NoError(t, next.Append(&history.Resumed{Reason: decision.Say("<b>")}, started(2)))
	assert.Equal(t, []int{0, 1, 1, 6, 2, 1}, numbers(next))
	assert.Equal(t, []int{0, 1, 1, 5}, numbers(log), "the ledger that it was made from stays")
	assert.Same(t, log.Iterations()[0], next.Iterations()[0], "what stays is not written again")
	var again []*history.Iteration
	for _, it := range next.Iterations() {
		read, err := history.ParseIteration(it.Text())
		require.NoError(t, err)
		assert.Equal(t, string(it.Text()), string(read.Text()))
		again = append(again, read)
	}
	read, err := history.NewLog(again...)
	require.NoError(t, err)
	assert.Equal(t, linesOf(t, next), linesOf(t, read))
	assert.True(t, history.Extends(next.Iterations()[1].Text(), kept))
	assert.False(t, history.Extends(kept, next.Iterations()[1].Text()), "less than before")
	assert.False(t, history.Extends(next.Iterations()[2].Text(), kept), "another")
	_, err = history.NewLog(again[1], again[0])
	require.EqualError(t, err, "iteration 0 comes after iteration 1")

	started1 := (&history.Log{}).Copy()
	require.NoError(t, started1.Append(started(1)))
	assert.Equal(t, []int{0, 0, 1, 1}, numbers(started1), "iteration 0 is always there")
	empty := started1.Iterations()[0].Text()
	more, err := history.ParseIteration(empty)
	require.NoError(t, err)
	assert.Empty(t, more.Events)
}

// linesOf are the events of a ledger, one a line.
func linesOf(t *testing.T, log *history.Log) (lines []string) {
	t.Helper()
	for _, e := range log.Events {
		line, err := history.Line(e)
		require.NoError(t, err)
		lines = append(lines, string(line))
	}
	return lines
}

// TestIterationsThatCannotBeRead are errors that say why: they are never taken for ones
// that are not there.
func TestIterationsThatCannotBeRead(t *testing.T) {
	for text, says := range map[string]string{
		``: "unexpected end", `[]`: "array", `{}`: `no "iteration"`, `{"iteration":-1}`: `no "iteration"`,
		`{"schema":2,"iteration":1}`: "it has schema 2 and this version of Autoloop knows 1: update Autoloop",
		`{"iteration":1,"events":[{"event":"set"},{"schema":9,"event":"set"}]}`: "event 2: it has schema 9",
		`{"iteration":1,"events":[{"event":"telepathy"}]}`: `event 1: its "event" is ` +
			`"telepathy", which this version of Autoloop does not know`,
		`{"iteration":1,"events":[{"event":"set","time":3}]}`: "event 1: ",
		`{"iteration":1,"events":[{"deep":{"event":"set"}}]}`: `its "event" is ""`,
		"<<<<<<< ours\n": "invalid",
	} {
		_, err := history.ParseIteration([]byte(text))
		require.ErrorContains(t, err, says, text)
	}
	_, err := history.Parse([]byte("{\"event\":\"set\"}\n{\"event\":\n"))
	require.ErrorContains(t, err, "line 2")
}

func TestReplay(t *testing.T) {
	summary := history.Replay([]history.Event{
		&history.Started{Head: history.Head{Run: "r1", Time: noon, Iteration: 1}},
		&history.Measured{Role: history.Baseline, Metric: value("5"), Commit: "base", Evaluator: "e", Output: "five"},
		&history.Measured{Role: history.Candidate, Metric: value("4"), Output: "four"},
		decided(1, history.Accepted, "4"),
		&history.Finished{Head: history.Head{Run: "r1"}},
		&history.Started{Head: history.Head{Run: "r2", Time: noon.Add(time.Hour), Iteration: 2}},
		decided(2, history.Rejected, "4"),
		&history.Finished{Head: history.Head{Run: "r2"}},
	})
	assert.Equal(t, 2, summary.Iteration)
	assert.Equal(t, "5", summary.Initial.String())
	assert.Equal(t, "4", summary.Best.String())
	assert.Equal(t, "c4", summary.Incumbent)
	assert.Equal(t, "four", summary.Output)
	assert.Equal(t, noon.Add(time.Hour), summary.LastRun)
	assert.Equal(t, []string{"accepted", "rejected"}, summary.Statuses())
	assert.Nil(t, summary.Open)
	assert.Equal(t, 1, summary.Count(history.Rejected))
}

func TestReplayInterrupted(t *testing.T) {
	events := []history.Event{
		&history.Started{Head: history.Head{Run: "r1", Iteration: 1}},
		&history.Started{Head: history.Head{Run: "r2", Iteration: 1}},
		&history.Started{Head: history.Head{Run: "r3", Iteration: 1}},
	}
	summary := history.Replay(events)
	assert.Equal(t, "r3", summary.Open.Run)
	assert.Equal(t, 2, summary.Interrupted)
	summary = history.Replay(append(events, decided(1, history.Rejected, "1"),
		&history.Finished{Head: history.Head{Run: "r3"}}))
	assert.Zero(t, summary.Interrupted)
}

func TestReplayPausesAndErrors(t *testing.T) {
	events := []history.Event{
		decided(1, history.Error, "1"), decided(2, history.Error, "1"),
		decided(3, history.Error, "1"),
	}
	summary := history.Replay(events)
	assert.Equal(t, 3, summary.ConsecutiveErrors())
	events = append(events, &history.Paused{Reason: decision.Say("three errors")}, &history.Resumed{})
	summary = history.Replay(events)
	assert.Zero(t, summary.ConsecutiveErrors(), "resuming starts the count anew")
	assert.Empty(t, decision.Text(summary.Paused))
	assert.Len(t, summary.Statuses(), 3, "the statuses stay")
}

func TestReplayDecidedTwice(t *testing.T) {
	summary := history.Replay([]history.Event{decided(1, history.PendingCI, "1"), decided(1, history.Accepted, "2")})
	assert.Equal(t, []string{"accepted"}, summary.Statuses())
	assert.Equal(t, "2", summary.Best.String())
}

func TestReplayPutOff(t *testing.T) {
	later := noon.Add(time.Hour)
	events := []history.Event{
		&history.Started{Head: history.Head{Run: "r1", Time: noon, Iteration: 1}},
		&history.Finished{
			Head: history.Head{Run: "r1", Time: noon.Add(time.Minute), Iteration: 1}, NotBefore: &later,
			Work: history.Work{Agent: "codex"},
		},
	}
	summary := history.Replay(events)
	assert.Equal(t, later, summary.NotBefore)
	assert.True(t, summary.LastRun.IsZero(), "it counts as not run")
	assert.Nil(t, summary.Open)
	assert.Zero(t, summary.Iteration)
	assert.Empty(t, summary.Statuses())
	assert.Equal(t, "codex", summary.PutOff[0].Agent)
	resumed := history.Replay(append(events, &history.Resumed{}))
	assert.True(t, resumed.NotBefore.IsZero())
	summary = history.Replay(append(events, decided(1, history.Rejected, "1")))
	assert.True(t, summary.NotBefore.IsZero(), "a decision ends it")
}

// TestReplayAddsUpWhatFixesUsed: an iteration that waits for CI is decided more
// than once; the same commit says again what it used, and another one is a
// further proposal, as is a fix that was not kept.
func TestReplayAddsUpWhatFixesUsed(t *testing.T) {
	work := func(tokens int64, seconds float64) history.Work {
		return history.Work{
			Usage:     &metric.Usage{InputTokens: &tokens, OutputTokens: &tokens},
			Durations: map[string]float64{"propose": seconds},
		}
	}
	used := func(outcome history.Outcome, best string, tokens int64, seconds float64) *history.Decided {
		e := decided(1, outcome, best)
		e.Work = work(tokens, seconds)
		return e
	}
	pending, fixed := used(history.PendingCI, "1", 100, 60), used(history.PendingCI, "2", 10, 30)
	failed := &history.Checked{Head: history.Head{Iteration: 1}, Work: work(1, 30)}
	last := used(history.Accepted, "2", 10, 30)
	none := decided(1, history.CIFixExhausted, "1")
	none.Commit = ""
	for name, c := range map[string]struct {
		events  []history.Event
		tokens  int64
		minutes float64
	}{
		"green at once": {[]history.Event{pending, used(history.Accepted, "1", 100, 60)}, 200, 1},
		"fixed": {[]history.Event{
			pending, &history.Checked{Head: history.Head{Iteration: 1}}, fixed,
			last,
		}, 220, 1.5},
		"fixed at last":     {[]history.Event{pending, failed, failed, fixed, last}, 224, 2.5},
		"given up":          {[]history.Event{pending, failed, none}, 202, 1.5},
		"of another before": {[]history.Event{failed, pending}, 200, 1},
	} {
		summary := history.Replay(c.events)
		spent := summary.Spent(time.Time{})
		assert.Equal(t, history.Spent{Iterations: 1, Tokens: c.tokens, Minutes: c.minutes, UnknownUSD: 1}, spent, name)
	}
}

func TestSpentCountsWhatIsKnownOfSeveralProposals(t *testing.T) {
	tokens := int64(700)
	first := &history.Proposed{
		Head: history.Head{Iteration: 1}, Proposal: 1,
		Work: history.Work{Agent: "codex", Usage: &metric.Usage{InputTokens: &tokens, OutputTokens: &tokens}},
	}
	second := &history.Proposed{
		Head: history.Head{Iteration: 1}, Proposal: 2,
		Work: history.Work{Agent: "cursor", Usage: &metric.Usage{}},
	}
	whole := decided(1, history.Rejected, "1")
	whole.Usage, whole.Agent, whole.Durations = &metric.Usage{}, "cursor", map[string]float64{"propose": 60}
	again := decided(2, history.Rejected, "1")
	summary := history.Replay([]history.Event{first, second, whole, again})
	assert.Equal(t, history.Spent{Iterations: 2, Tokens: 1400, Minutes: 1, UnknownTokens: 1, UnknownUSD: 1},
		summary.Spent(time.Time{}))
}
