package history

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/long"
)

// TestWhatIsShownIsChosenOnce: what is shown of a ledger does not depend on when its
// segments were sealed.
func TestWhatIsShownIsChosenOnce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		open, segments, _ := sealedLedger(t, seed, 400)
		var sealed []byte
		for _, segment := range segments {
			sealed = append(sealed, Body(segment)...)
		}
		all, err := Parse(sealed)
		require.NoError(t, err)
		summary := Replay(all.Events)
		want, err := show(nil, all.Events, summary.Decided())
		require.NoError(t, err)
		require.Equal(t, want, open.Checkpoint().shown)
		require.Greater(t, len(segments), 2)
	}
}

// TestACheckpointOfAnEarlierVersionAgrees: what an archive of version 4 says is held
// against what this version computes, as far as version 4 knew it.
func TestACheckpointOfAnEarlierVersionAgrees(t *testing.T) {
	t.Parallel()
	open, _, _ := sealedLedger(t, 4, 500)
	now, err := open.Checkpoint().Encode()
	require.NoError(t, err)
	before := asVersion(t, open.Checkpoint(), 4)
	read := func(text []byte) *Checkpoint {
		c, err := decodeCheckpoint(text, firstArchived)
		require.NoError(t, err)
		return c
	}
	assert.True(t, open.Checkpoint().Agrees(read(before)))
	assert.True(t, open.Checkpoint().Agrees(read(now)))
	assert.False(t, open.Checkpoint().Agrees(read(bytes.Replace(before, []byte(`"Iteration":`), []byte(`"Iteration":1`), 1))))
	shown := bytes.Replace(now, []byte(`"outcome":"accepted"`), []byte(`"outcome":"rejected"`), 1)
	require.NotEqual(t, now, shown)
	assert.False(t, open.Checkpoint().Agrees(read(shown)))
}

// TestMonths: an iteration that is put off again and again, or waits for CI, has no more
// in the open segment and in the checkpoint after thousands of runs than after hundreds.
// What it used is known, and what becomes of it is what it would be if nothing was sealed.
func TestMonths(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	for name, c := range map[string]struct{ waits, ends Outcome }{
		"put off":                        {"", Rejected},
		"waits for CI, which is green":   {PendingCI, Accepted},
		"waits for CI, which turns down": {PendingCI, CIFixExhausted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			months(t, c.waits, c.ends)
		})
	}
}

func months(t *testing.T, waits, ends Outcome) {
	t.Helper()
	log, err := Parse(nil)
	require.NoError(t, err)
	var whole Summary
	var all []Event
	g := inventedRuns(7)
	usd := metric.MustValue("0.25")
	add := func(events ...Event) {
		for _, e := range events {
			whole.Add(e)
		}
		all = append(all, events...)
		require.NoError(t, log.Append(events...))
	}
	seal := func() {
		s, err := log.Seal()
		require.NoError(t, err)
		if s != nil {
			log, err = Open(s.Checkpoint, s.Open)
			require.NoError(t, err)
		}
	}
	for range 80 {
		add(g.withEverything(func(n int) bool { return n%2 == 0 })...)
	}
	decided := &Decided{
		Head: Head{Iteration: 81}, Outcome: waits, Evaluator: "e", Definition: "d", Digest: "waits", Commit: "c81", Metric: numberOf(3), Best: numberOf(3), PreviousBest: numberOf(g.best),
		Reasons: []string{"because"}, Work: Work{Usage: &metric.Usage{CostUSD: &usd}}, Focus: "test 3",
	}
	if waits == PendingCI {
		add(&Started{Head: Head{Run: "first", Time: g.at, Iteration: 81}},
			&Measured{Head: Head{Run: "first", Time: g.at, Iteration: 81}, Role: Candidate, Output: "what it printed", Metric: numberOf(3), Samples: []metric.Value{*numberOf(3)}},
			Stamp(decided, "first", g.at), &Finished{Head: Head{Run: "first", Time: g.at, Iteration: 81}, Outcome: PendingCI})
	}
	stored := func() int {
		text, err := log.Checkpoint().Encode()
		require.NoError(t, err)
		return len(text)
	}
	largest := map[int]int{}
	open := 0
	for n := 1; n <= 5000; n++ {
		g.at = g.at.Add(time.Hour)
		later := g.at.Add(15 * time.Minute)
		head := Head{Run: fmt.Sprintf("again-%d", n), Time: g.at, Iteration: 81}
		ended := head
		ended.Time = g.at.Add(time.Minute)
		lease := &Lease{Host: "runner", PID: n, Until: later}
		if n%9 == 0 {
			add(&Started{Head: head, Lease: lease, Reserved: &Reserved{Tokens: 7, CostUSD: &usd, Minutes: 2}}) // it never came back
			continue
		}
		finished := &Finished{Head: ended, Outcome: waits}
		if waits == "" {
			finished.NotBefore, finished.Work = &later, Work{Agent: "slow", Usage: &metric.Usage{CostUSD: &usd}, Durations: map[string]float64{"propose": 4}}
		}
		add(&Started{Head: head, Lease: lease}, finished)
		if n%50 == 0 {
			seal()
			open = max(open, len(log.Bytes()))
			largest[n] = stored() + open
		}
	}
	assert.LessOrEqual(t, 10*largest[5000], 13*largest[1000])
	assert.Less(t, open, 4*segmentSize)
	if waits == "" {
		got := log.Summary()
		assert.Equal(t, whole.NotBefore, got.NotBefore)
		assert.Equal(t, whole.PutOff[len(whole.PutOff)-1], got.PutOff[len(got.PutOff)-1])
	} else {
		require.NotNil(t, log.Standing().Waiting())
		require.Equal(t, "c81", log.Standing().Waiting().Commit)
	}
	last := *decided
	last.Head, last.Outcome = Head{Iteration: 81}, ends
	g.at = g.at.Add(time.Hour)
	begun := Head{Run: "last", Time: g.at, Iteration: 81}
	add(&Started{Head: begun}, Stamp(&last, "last", g.at), &Finished{Head: begun, Outcome: ends})
	got := log.Summary()
	assert.Equal(t, whole.Decided(), got.Decided())
	assert.Equal(t, whole.Output, got.Output)
	want, err := show(nil, all, whole.Decided())
	require.NoError(t, err)
	sealed, err := log.Checkpoint().Shown()
	require.NoError(t, err)
	shown, err := show(sealed, log.Events, got.Decided())
	require.NoError(t, err)
	assert.Equal(t, want, shown)
	for day := range 30 {
		from := g.at.UTC().Truncate(24*time.Hour).AddDate(0, 0, -day)
		require.True(t, got.Knows(from))
		assert.Equal(t, rounded(whole.Spent(from)), rounded(got.Spent(from)), from)
	}
	assert.Equal(t, rounded(whole.Spent(time.Time{})), rounded(got.Spent(time.Time{})))
	assert.Equal(t, encodedSummary(t, whole, (&Log{Events: all}).Standing()), encodedSummary(t, got, log.Standing()))
}
