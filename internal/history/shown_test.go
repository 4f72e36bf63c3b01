package history

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
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

// TestPutOffForMonths: an iteration that is put off again and again has no more in the
// open segment and in the checkpoint after thousands of runs than after hundreds, and
// what it used is known.
func TestPutOffForMonths(t *testing.T) {
	t.Parallel()
	log, err := Parse(nil)
	require.NoError(t, err)
	var whole Summary
	g := inventedRuns(7)
	usd := metric.MustValue("0.25")
	add := func(events ...Event) {
		for _, e := range events {
			whole.Add(e)
		}
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
	for range 40 {
		add(g.withEverything(func(n int) bool { return n%4 == 0 })...)
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
		head := Head{Run: fmt.Sprintf("again-%d", n), Time: g.at, Iteration: 41}
		ended := head
		ended.Time = g.at.Add(time.Minute)
		lease := &Lease{Host: "runner", PID: n, Until: later}
		if n%9 == 0 {
			add(&Started{Head: head, Lease: lease, Reserved: &Reserved{Tokens: 7, CostUSD: &usd, Minutes: 2}}) // it never came back
			continue
		}
		add(&Started{Head: head, Lease: lease}, &Finished{Head: ended, NotBefore: &later, Work: Work{Agent: "slow", Usage: &metric.Usage{CostUSD: &usd}, Durations: map[string]float64{"propose": 4}}})
		if n%50 == 0 {
			seal()
			open = max(open, len(log.Bytes()))
			largest[n] = stored() + open
		}
	}
	assert.LessOrEqual(t, 10*largest[5000], 13*largest[1000])
	got := log.Summary()
	assert.Equal(t, whole.Decided(), got.Decided())
	assert.Equal(t, whole.NotBefore, got.NotBefore)
	assert.Equal(t, whole.PutOff[len(whole.PutOff)-1], got.PutOff[len(got.PutOff)-1])
	for day := range 30 {
		from := g.at.UTC().Truncate(24*time.Hour).AddDate(0, 0, -day)
		require.True(t, got.Knows(from))
		assert.Equal(t, rounded(whole.Spent(from)), rounded(got.Spent(from)), from)
	}
	assert.Equal(t, rounded(whole.Spent(time.Time{})), rounded(got.Spent(time.Time{})))
}
