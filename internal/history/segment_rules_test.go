package history

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// longRun is a run of so many bytes: it starts, says something, decides and ends. An
// outcome of "" decides nothing, and "lost" ends nothing.
func longRun(n int, outcome Outcome, size int) []Event {
	head := Head{Run: fmt.Sprint("run ", n), Iteration: n, Time: time.Date(2026, 1, 1, 0, n, 0, 0, time.UTC)}
	events := []Event{&Started{Head: head}, &Set{Head: head, Key: Note, Value: strings.Repeat("x", size)}}
	if outcome != "" && outcome != "lost" {
		events = append(events, &Decided{Head: head, Outcome: outcome, Commit: fmt.Sprint("c", n)})
	}
	if outcome != "lost" {
		events = append(events, &Finished{Head: head, Outcome: outcome})
	}
	return events
}

// TestWhereALedgerIsCut: what is sealed begins and ends with runs that are over, is large
// enough, and leaves what the next iterations look at.
func TestWhereALedgerIsCut(t *testing.T) {
	t.Parallel()
	const kilobytes8 = 8 << 10
	runs := func(outcomes ...Outcome) (events []Event) {
		for i, outcome := range outcomes {
			events = append(events, longRun(i+1, outcome, kilobytes8)...)
		}
		return events
	}
	many := func(n int, outcome Outcome) (list []Outcome) {
		for range n {
			list = append(list, outcome)
		}
		return list
	}
	with := func(list []Outcome, place int, outcome Outcome) []Outcome {
		list[place] = outcome
		return list
	}
	waiting := runs(many(12, Rejected)...) // and then one that waits for CI again and again
	waiting = append(waiting, longRun(13, PendingCI, 10)...)
	for n := 14; n < 40; n++ {
		again := longRun(n, "", kilobytes8)
		for _, e := range again {
			e.Header().Iteration = 13
		}
		waiting = append(waiting, again...)
	}
	for name, c := range map[string]struct {
		events []Event
		first  []int // the iterations with which segments begin that come after the first
	}{
		"nothing":                                  {nil, nil},
		"too little":                               {runs(many(7, Rejected)...), nil},
		"enough, and too few decisions behind":     {runs(many(15, Rejected)...), nil},
		"enough, and just as many behind":          {runs(many(16, Rejected)...), []int{9}},
		"two segments":                             {runs(many(24, Rejected)...), []int{9, 17}},
		"not quite two":                            {runs(many(23, Rejected)...), []int{9}},
		"decisions count, and not runs":            {runs(with(with(many(16, Rejected), 14, ""), 15, "")...), nil},
		"a run that was lost is open":              {runs(with(many(17, Rejected), 7, "lost")...), []int{10}},
		"one that waits, and is over":              {runs(with(many(17, Rejected), 7, PendingCI)...), []int{10}},
		"nothing was ever decided":                 {runs(many(20, "")...), []int{9}},
		"nothing was ever decided, and not enough": {runs(many(15, "")...), nil},
		"waits for CI again and again":             {waiting, []int{13, 13, 13}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log, err := Parse(nil)
			require.NoError(t, err)
			require.NoError(t, log.Append(c.events...))
			whole := bytes.Clone(log.Bytes())
			sealing, err := log.Seal()
			require.NoError(t, err)
			assert.True(t, bytes.Equal(whole, log.Bytes()), "the log stays")
			if c.first == nil {
				assert.Nil(t, sealing)
				return
			}
			require.NotNil(t, sealing)
			require.Equal(t, len(c.first), len(sealing.Segments)) //nolint:testifylint // the segments are long
			assert.Equal(t, 1, sealing.First)
			var bodies []byte
			at := &Checkpoint{}
			for i, segment := range sealing.Segments {
				if i > 0 {
					assert.Equal(t, c.first[i-1], begins(t, segment))
				}
				bodies = append(bodies, Body(segment)...)
				at, err = at.Extend(segment)
				require.NoError(t, err)
			}
			assert.Equal(t, c.first[len(c.first)-1], begins(t, sealing.Open))
			assert.True(t, bytes.Equal(whole, append(bodies, Body(sealing.Open)...)), "no byte is lost")
			require.NoError(t, at.CheckOpen(sealing.Open))
			assert.True(t, at.Agrees(sealing.Checkpoint))
			assert.Equal(t, len(c.first), Before(sealing.Open))

			open, err := Open(sealing.Checkpoint, sealing.Open)
			require.NoError(t, err)
			again, err := open.Seal()
			require.NoError(t, err)
			assert.Nil(t, again, "all that can be is sealed")
			require.NoError(t, open.Append(longRun(99, Accepted, 5)...))
			last, err := ParseOpen(open.Bytes())
			require.NoError(t, err)
			assert.Len(t, last.Events, len(open.Events))
			assert.Equal(t, 99, open.Summary().Iteration)
		})
	}
}

// begins is the iteration of the run with which a segment begins.
func begins(t *testing.T, segment []byte) int {
	t.Helper()
	log, err := ParseOpen(segment)
	require.NoError(t, err)
	require.IsType(t, &Started{}, log.Events[0])
	return log.Events[0].Header().Iteration
}

// TestTheHeadOfASegment is known from its first line alone.
func TestTheHeadOfASegment(t *testing.T) {
	t.Parallel()
	const event = `{"schema":1,"event":"set","key":"segment","value":"segment"}` + "\n"
	head := string(opening{Segment: 4, Lines: 90, Before: "0123"}.line())
	for name, c := range map[string]struct {
		data   string
		sealed bool
		before int
		body   string
	}{
		"empty":                   {"", false, 0, ""},
		"an event":                {event, false, 0, event},
		"events":                  {event + event, false, 0, event + event},
		"a head":                  {head, true, 3, ""},
		"a head and an event":     {head + event, true, 3, event},
		"without a line feed":     {strings.TrimSuffix(head, "\n"), true, 3, ""},
		"with spaces":             {`{ "schema": 2, "event": "segment", "segment": 2 }` + "\n" + event, true, 1, event},
		"of the first segment":    {`{"schema":2,"event":"segment","segment":1}` + "\n" + event, true, 0, event},
		"of no segment":           {`{"schema":2,"event":"segment","segment":-7}` + "\n" + event, true, 0, event},
		"of an earlier schema":    {`{"schema":1,"event":"segment","segment":3}` + "\n" + event, true, 2, event},
		"in the second line":      {event + head, false, 0, event + head},
		"half written":            {head[:40] + "\n" + event, false, 0, head[:40] + "\n" + event},
		"a number that is a text": {`{"schema":2,"event":"segment","segment":"3"}` + "\n" + event, false, 0, `{"schema":2,"event":"segment","segment":"3"}` + "\n" + event},
		"of a later schema":       {`{"schema":3,"event":"segment","segment":3}` + "\n" + event, true, 0, `{"schema":3,"event":"segment","segment":3}` + "\n" + event},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := []byte(c.data)
			assert.Equal(t, c.sealed, Sealed(data))
			assert.Equal(t, c.before, Before(data))
			assert.Equal(t, c.body, string(Body(data)))
			assert.Equal(t, c.data, string(data))
		})
	}
}

// TestASegmentOfALaterVersion is refused wherever it is read, and the error says what to do.
func TestASegmentOfALaterVersion(t *testing.T) {
	t.Parallel()
	data := []byte(`{"schema":3,"event":"segment","segment":1,"before":""}` + "\n" + `{"event":"set","key":"k"}` + "\n")
	_, openErr := Open(&Checkpoint{}, data)
	_, parseErr := ParseOpen(data)
	_, _, nextErr := Chain{}.Next(data)
	for _, err := range []error{openErr, parseErr, nextErr, Chain{}.CheckOpen(data)} {
		require.ErrorContains(t, err, "it has schema 3 and this version of Autoloop knows 2: update Autoloop")
	}
	var newer *NewerError
	require.ErrorAs(t, openErr, &newer)
	assert.Equal(t, 3, newer.Schema)
	assert.Zero(t, LastIteration(data))
	assert.Equal(t, data, Forget(data), "what cannot be read stays")
}

// TestAnOpenSegmentIsThatOfItsCheckpoint, and of no other.
func TestAnOpenSegmentIsThatOfItsCheckpoint(t *testing.T) {
	t.Parallel()
	segment := []byte(`{"schema":1,"event":"decided","time":"2026-01-01T00:00:00Z","run_id":"r","iteration":3,"outcome":"rejected"}` + "\n")
	sealed, err := (&Checkpoint{}).Extend(segment)
	require.NoError(t, err)
	open := append(sealed.head().line(), `{"event":"paused","reason":"rest"}`+"\n"...)
	log, err := Open(sealed, open)
	require.NoError(t, err)
	assert.Equal(t, []any{3, "rest", 1}, []any{log.Summary().Iteration, log.Summary().PausedReason, len(log.Events)})

	more, err := sealed.Extend(append(sealed.head().line(), segment...))
	require.NoError(t, err)
	other, err := (&Checkpoint{}).Extend(bytes.Replace(segment, []byte(`"iteration":3`), []byte(`"iteration":4`), 1))
	require.NoError(t, err)
	for name, c := range map[string]*Checkpoint{"none": nil, "of nothing": {}, "of more": more, "of another segment": other} {
		_, err := Open(c, open)
		require.ErrorIs(t, err, ErrNoCheckpoint, name)
	}
	for name, change := range map[string]func(*Checkpoint){
		"another number": func(c *Checkpoint) { c.Segments++ }, "other lines": func(c *Checkpoint) { c.Lines++ }, "another digest": func(c *Checkpoint) { c.SHA256 = "0" + c.SHA256[1:] },
	} {
		again := sealed.clone()
		change(again)
		_, err := Open(again, open)
		require.ErrorIs(t, err, ErrNoCheckpoint, name)
		var wrong *SegmentError
		require.ErrorAs(t, again.CheckOpen(open), &wrong, name)
		assert.Equal(t, []int{again.Segments + 1, 1}, []int{wrong.Segment, wrong.Line})
	}
	_, err = Open(sealed, append(bytes.Clone(open), "{\n"...))
	require.ErrorContains(t, err, "ledger line 3", "lines are counted with the head")
	_, err = ParseOpen(append(bytes.Clone(open), "{\n"...))
	require.ErrorContains(t, err, "ledger line 3")

	log, err = Open(sealed, segment)
	require.NoError(t, err, "a ledger that is one segment needs no checkpoint")
	assert.Equal(t, &Checkpoint{}, log.Checkpoint())
}

// TestSkippingAWrongSegment: those behind it are held against what it should have been,
// and so is one that is missing.
func TestSkippingAWrongSegment(t *testing.T) {
	t.Parallel()
	line := func(n int) []byte {
		return fmt.Appendf(nil, `{"schema":1,"event":"decided","time":"2026-01-01T00:00:00Z","run_id":"r","iteration":%d,"outcome":"rejected"}`+"\n", n)
	}
	good := &Checkpoint{}
	var segments [][]byte
	for n := range 4 {
		segment := line(n + 1)
		if n > 0 {
			segment = append(good.head().line(), segment...)
		}
		segments = append(segments, segment)
		var err error
		good, err = good.Extend(segment)
		require.NoError(t, err)
	}
	skipped := &Checkpoint{}
	for _, segment := range segments {
		skipped = skipped.Skip(segment)
	}
	assert.Equal(t, good.Chain, skipped.Chain, "the chain goes on as if it was read")
	assert.Zero(t, skipped.Summary().Iteration)

	missing := (&Checkpoint{}).Skip(nil)
	assert.Equal(t, []int{1, 0}, []int{missing.Segments, missing.Lines})
	_, _, err := missing.Next(segments[1])
	require.ErrorContains(t, err, "segment 2, line 1: it goes on after a segment with the digest")
	_, _, err = missing.Skip(segments[1]).Next(segments[2])
	require.ErrorContains(t, err, "it says that 2 lines come before it, and there are 1")
}

// TestWhetherARunBegins in some lines of a ledger.
func TestWhetherARunBegins(t *testing.T) {
	t.Parallel()
	for text, begins := range map[string]bool{
		"": false, "\n\n": false, `{"event":"set"}`: false, `{"event":"started"}`: true, `{"event":"set"}` + "\n" + `{"event":"started"}`: true,
		`{"event":"set","value":"\"event\":\"started\""}`: false, `{"event":"started"}` + "\n{": false, `{"event":"Started"}`: false,
	} {
		assert.Equal(t, begins, Begins([]byte(text)), text)
	}
}
