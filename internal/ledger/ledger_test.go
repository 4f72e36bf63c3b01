package ledger_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/ledger"
	"github.com/org/autoloop/internal/metric"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func value(text string) *metric.Value {
	v := metric.MustValue(text)
	return &v
}

func decided(iteration int, outcome ledger.Outcome, best string) ledger.Event {
	return ledger.Event{Kind: ledger.Decided, Iteration: iteration, Outcome: outcome, Best: value(best), Commit: "c" + best}
}

func TestLogKeepsWhatItDoesNotKnow(t *testing.T) {
	text := `{"schema":7,"event":"measured","future":{"a":1},"role":"baseline","metric":1.50}` + "\n" +
		`{"event":"telepathy","x":9007199254740993}` + "\n"
	log, err := ledger.Parse([]byte(text))
	require.NoError(t, err)
	require.NoError(t, log.Append(ledger.Event{Kind: ledger.Paused, Time: noon, Reason: "rest"}))
	assert.True(t, strings.HasPrefix(string(log.Bytes()), text), "earlier lines stay as they are")
	again, err := ledger.Parse(log.Bytes())
	require.NoError(t, err)
	assert.Len(t, again.Events, 3)
	assert.Equal(t, "rest", ledger.Replay(again.Events).PausedReason)
}

func TestLogRefusesWhatItCannotRead(t *testing.T) {
	for text, says := range map[string]string{
		"{\"event\":\"set\"}\n{\"event\":":   "line 2",
		"[]\n":                               "line 1",
		"{}\n":                               "no \"event\"",
		"\n\n{\"event\":\"set\",\"time\":3}": "line 3",
		"<<<<<<< ours\n":                     "line 1",
	} {
		_, err := ledger.Parse([]byte(text))
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), says)
	}
}

func TestReplay(t *testing.T) {
	books := ledger.Replay([]ledger.Event{
		{Kind: ledger.Started, Run: "r1", Time: noon, Iteration: 1},
		{Kind: ledger.Measured, Role: ledger.Baseline, Metric: value("5"), Commit: "base", Evaluator: "e", Output: "five"},
		{Kind: ledger.Measured, Role: ledger.Candidate, Metric: value("4"), Output: "four"},
		decided(1, ledger.Accepted, "4"),
		{Kind: ledger.Finished, Run: "r1"},
		{Kind: ledger.Started, Run: "r2", Time: noon.Add(time.Hour), Iteration: 2},
		decided(2, ledger.Rejected, "4"),
		{Kind: ledger.Finished, Run: "r2"},
	})
	assert.Equal(t, 2, books.Iteration)
	assert.Equal(t, "5", books.Initial.String())
	assert.Equal(t, "4", books.Best.String())
	assert.Equal(t, "c4", books.Incumbent)
	assert.Equal(t, "four", books.Output)
	assert.Equal(t, noon.Add(time.Hour), books.LastRun)
	assert.Equal(t, []string{"accepted", "rejected"}, books.Statuses())
	assert.Nil(t, books.Open)
	assert.Equal(t, 1, books.Count(ledger.Rejected))
}

func TestReplayInterrupted(t *testing.T) {
	events := []ledger.Event{
		{Kind: ledger.Started, Run: "r1", Iteration: 1},
		{Kind: ledger.Started, Run: "r2", Iteration: 1},
		{Kind: ledger.Started, Run: "r3", Iteration: 1},
	}
	books := ledger.Replay(events)
	assert.Equal(t, "r3", books.Open.Run)
	assert.Equal(t, 2, books.Interrupted)
	books = ledger.Replay(append(events, decided(1, ledger.Rejected, "1"), ledger.Event{Kind: ledger.Finished, Run: "r3"}))
	assert.Zero(t, books.Interrupted)
}

func TestReplayPausesAndErrors(t *testing.T) {
	events := []ledger.Event{decided(1, ledger.Error, "1"), decided(2, ledger.Error, "1"), decided(3, ledger.Error, "1")}
	books := ledger.Replay(events)
	assert.Equal(t, 3, books.ConsecutiveErrors())
	events = append(events, ledger.Event{Kind: ledger.Paused, Reason: "three errors"}, ledger.Event{Kind: ledger.Resumed})
	books = ledger.Replay(events)
	assert.Zero(t, books.ConsecutiveErrors(), "resuming starts the count anew")
	assert.Empty(t, books.PausedReason)
	assert.Len(t, books.Statuses(), 3, "the statuses stay")
}

func TestReplayDecidedTwice(t *testing.T) {
	books := ledger.Replay([]ledger.Event{decided(1, ledger.PendingCI, "1"), decided(1, ledger.Accepted, "2")})
	assert.Equal(t, []string{"accepted"}, books.Statuses())
	assert.Equal(t, "2", books.Best.String())
}

func TestReplayPutOff(t *testing.T) {
	later := noon.Add(time.Hour)
	events := []ledger.Event{
		{Kind: ledger.Started, Run: "r1", Time: noon, Iteration: 1},
		{Kind: ledger.Finished, Run: "r1", Time: noon.Add(time.Minute), Iteration: 1, NotBefore: &later, Agent: "codex"},
	}
	books := ledger.Replay(events)
	assert.Equal(t, later, books.NotBefore)
	assert.True(t, books.LastRun.IsZero(), "it counts as not run")
	assert.Nil(t, books.Open)
	assert.Zero(t, books.Iteration)
	assert.Empty(t, books.Statuses())
	assert.Equal(t, "codex", books.PutOff[0].Agent)
	resumed := ledger.Replay(append(events, ledger.Event{Kind: ledger.Resumed}))
	assert.True(t, resumed.NotBefore.IsZero())
	books = ledger.Replay(append(events, decided(1, ledger.Rejected, "1")))
	assert.True(t, books.NotBefore.IsZero(), "a decision ends it")
}

// TestReplayAddsUpWhatFixesUsed: an iteration that waits for CI is decided more
// than once; the same commit says again what it used, and another one is a
// further proposal, as is a fix that was not kept.
func TestReplayAddsUpWhatFixesUsed(t *testing.T) {
	used := func(e ledger.Event, tokens int64, seconds float64) ledger.Event {
		e.Usage, e.Durations = &ledger.Usage{InputTokens: &tokens, OutputTokens: &tokens}, map[string]float64{"propose": seconds}
		return e
	}
	pending, fixed := used(decided(1, ledger.PendingCI, "1"), 100, 60), used(decided(1, ledger.PendingCI, "2"), 10, 30)
	failed := used(ledger.Event{Kind: ledger.Checked, Iteration: 1}, 1, 30)
	last := fixed
	last.Outcome = ledger.Accepted
	none := decided(1, ledger.CIFixExhausted, "1")
	none.Commit = ""
	for name, c := range map[string]struct {
		events  []ledger.Event
		tokens  int64
		minutes float64
	}{
		"green at once":     {[]ledger.Event{pending, used(decided(1, ledger.Accepted, "1"), 100, 60)}, 200, 1},
		"mended":            {[]ledger.Event{pending, {Kind: ledger.Checked, Iteration: 1}, fixed, last}, 220, 1.5},
		"mended at last":    {[]ledger.Event{pending, failed, failed, fixed, last}, 224, 2.5},
		"given up":          {[]ledger.Event{pending, failed, none}, 202, 1.5},
		"of another before": {[]ledger.Event{failed, pending}, 200, 1},
	} {
		books := ledger.Replay(c.events)
		spent := books.Spent(time.Time{})
		assert.Equal(t, ledger.Spent{Iterations: 1, Tokens: c.tokens, Minutes: c.minutes, UnknownUSD: 1}, spent, name)
	}
}

func TestSpentCountsWhatIsKnownOfSeveralProposals(t *testing.T) {
	tokens := int64(700)
	first := ledger.Event{Kind: ledger.Proposed, Iteration: 1, Proposal: 1, Agent: "codex", Usage: &ledger.Usage{InputTokens: &tokens, OutputTokens: &tokens}}
	second := ledger.Event{Kind: ledger.Proposed, Iteration: 1, Proposal: 2, Agent: "cursor", Usage: &ledger.Usage{}}
	whole := decided(1, ledger.Rejected, "1")
	whole.Usage, whole.Agent, whole.Durations = &ledger.Usage{}, "cursor", map[string]float64{"propose": 60}
	again := decided(2, ledger.Rejected, "1")
	books := ledger.Replay([]ledger.Event{first, second, whole, again})
	assert.Equal(t, ledger.Spent{Iterations: 2, Tokens: 1400, Minutes: 1, UnknownTokens: 1, UnknownUSD: 1}, books.Spent(time.Time{}))
}
