package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/long"
)

// invented makes the events of runs by chance.
type invented struct {
	*rand.Rand
	at        time.Time
	iteration int
	runs      int
	evaluator string
	best      int64
}

func inventedRuns(seed uint64) *invented {
	return &invented{Rand: rand.New(rand.NewPCG(seed, 1)), at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), evaluator: "e0", best: 1000}
}

func numberOf(n int64) *metric.Value {
	v := metric.FromInt(n)
	return &v
}

// run is one run with all its events, the first of which is its start.
func (g *invented) run() []Event {
	g.runs++
	g.at = g.at.Add(time.Duration(g.IntN(300)+1) * time.Minute)
	id, number := fmt.Sprintf("run-%d", g.runs), g.iteration+1
	var events []Event
	add := func(e Event) {
		g.at = g.at.Add(time.Duration(g.IntN(90)+1) * time.Second)
		e = Stamp(e, id, g.at)
		e.Header().Iteration = number
		events = append(events, e)
	}
	usd := metric.MustValue("0.25") // sums are exact
	add(&Started{Lease: &Lease{Host: "h", PID: g.runs}, Reserved: &Reserved{Tokens: 7, CostUSD: &usd, Minutes: 2}})
	switch g.IntN(20) {
	case 0:
		return events // it never came back
	case 1:
		later := g.at.Add(time.Hour)
		add(&Finished{NotBefore: &later, Work: Work{Agent: "slow", Durations: map[string]float64{"propose": 4}}})
		return events
	case 2:
		add(&Set{Key: "note", Value: strings.Repeat("x", g.IntN(40))})
		add(&Finished{Unused: true})
		return events
	}
	if g.iteration == 0 || g.IntN(40) == 0 {
		if g.IntN(2) == 0 {
			g.evaluator = fmt.Sprintf("e%d", g.IntN(4))
		}
		spent := &Expense{}
		spent.Add(nil, &usd)
		add(&Measured{Role: Baseline, Metric: numberOf(g.best), Samples: []metric.Value{*numberOf(g.best)}, Evaluator: g.evaluator, Definition: "d" + g.evaluator, Direction: metric.Lower, Commit: "base", BaseBranch: "main", Evaluation: spent, Output: "was"})
	}
	add(&Measured{Role: Candidate, Metric: numberOf(g.best - 1), Samples: []metric.Value{*numberOf(g.best - 1)}, Output: strings.Repeat("printed ", g.IntN(400)), Numbers: map[string]metric.Value{"m": *numberOf(g.best)}})
	if g.IntN(4) == 0 {
		add(&Proposed{Proposal: 1, Outcome: Rejected, Digest: fmt.Sprintf("other-%d", g.IntN(500)), Evaluator: g.evaluator, Patch: strings.Repeat("+line\n", g.IntN(300)), Work: Work{Usage: &metric.Usage{}, Durations: map[string]float64{"propose": 1}}})
	}
	tokens := int64(g.IntN(1000))
	e := &Decided{Evaluator: g.evaluator, Definition: "d" + g.evaluator, Digest: fmt.Sprintf("digest-%d", g.IntN(500)), Reasons: []string{"because"}, Work: Work{Agent: "a", Summary: "step", Usage: &metric.Usage{InputTokens: &tokens, OutputTokens: &tokens, CostUSD: &usd}, Durations: map[string]float64{"propose": 2, "measure": 3}}, PreviousBest: numberOf(g.best), Best: numberOf(g.best), Focus: fmt.Sprintf("test %d", g.runs/2%9)}
	if g.IntN(5) == 0 {
		e.Usage = nil
	}
	e.Outcome = []Outcome{Rejected, Rejected, Rejected, Inconclusive, Error, Accepted, PendingCI}[g.IntN(7)]
	if e.Outcome == Accepted || e.Outcome == PendingCI {
		g.best -= int64(g.IntN(50) + 1)
		e.Metric, e.Best, e.Commit = numberOf(g.best), numberOf(g.best), fmt.Sprintf("c%d", g.runs)
	}
	add(e)
	if e.Outcome == PendingCI {
		add(&Finished{Outcome: PendingCI})
		add(&Started{})
		if g.IntN(2) == 0 {
			add(&Checked{Reason: "red", Work: Work{Usage: &metric.Usage{}, Durations: map[string]float64{"propose": 1}}})
		}
		e.Outcome = []Outcome{Accepted, CIFixExhausted}[g.IntN(2)]
		add(e)
	}
	add(&Finished{Outcome: e.Outcome})
	if g.IntN(30) == 0 {
		add(&Paused{Reason: "rest"})
		add(&Resumed{})
	}
	g.iteration++
	return events
}

// sealedLedger is a ledger that was written run by run, sealed whenever that is worth
// it, beside the same ledger in one piece.
func sealedLedger(t *testing.T, seed uint64, runs int) (open *Log, segments [][]byte, whole []byte) {
	t.Helper()
	g := inventedRuns(seed)
	open, err := Parse(nil)
	require.NoError(t, err)
	for range runs {
		events := g.run()
		require.NoError(t, open.Append(events...))
		for _, e := range events {
			line, err := Line(e)
			require.NoError(t, err)
			whole = append(whole, line...)
		}
		s, err := open.Seal()
		require.NoError(t, err)
		if s == nil {
			continue
		}
		require.Equal(t, len(segments)+1, s.First)
		segments = append(segments, s.Segments...)
		text, err := s.Checkpoint.Encode()
		require.NoError(t, err)
		read, err := DecodeCheckpoint(text)
		require.NoError(t, err)
		open, err = Open(read, s.Open)
		require.NoError(t, err)
	}
	return open, segments, whole
}

func encodedSummary(t *testing.T, summary Summary, standing Standing) map[string]any {
	t.Helper()
	summary.Fold()
	for day, spent := range summary.Earlier.Days {
		summary.Earlier.Days[day] = rounded(spent)
	}
	text, err := (&Checkpoint{summary: summary, standing: standing}).Encode()
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(text, &fields))
	return fields
}

func TestSealedLedgerIsTheWholeLedger(t *testing.T) {
	long.Only(t, long.Simulations)
	for seed := range uint64(4) {
		open, segments, whole := sealedLedger(t, seed, 700)
		require.Greater(t, len(segments), 5)
		var bodies []byte
		for i, segment := range segments {
			assert.GreaterOrEqual(t, len(segment), segmentSize)
			assert.Equal(t, i > 0, Sealed(segment))
			bodies = append(bodies, Body(segment)...)
		}
		require.Equal(t, string(whole), string(append(bodies, Body(open.Bytes())...)))
		assert.Less(t, len(open.Bytes()), 3*segmentSize)

		all, err := Parse(whole)
		require.NoError(t, err)
		want, got := Replay(all.Events), open.Summary()
		for _, outcome := range []Outcome{Accepted, Rejected, Inconclusive, Error, CIFixExhausted} {
			assert.Equal(t, want.Count(outcome), got.Count(outcome), outcome)
		}
		assert.Equal(t, want.ConsecutiveErrors(), got.ConsecutiveErrors())
		assert.Equal(t, want.Decided(), got.Decided())
		assert.Equal(t, want.Dropped(), got.Dropped())
		assert.Equal(t, want.Statuses(), got.Statuses())
		for day := range 45 {
			from := want.LastRun.UTC().Truncate(24*time.Hour).AddDate(0, 0, -day)
			assert.True(t, got.Knows(from))
			assert.Equal(t, rounded(want.Spent(from)), rounded(got.Spent(from)), from)
		}
		assert.Equal(t, rounded(want.Spent(time.Time{})), rounded(got.Spent(time.Time{})))
		recent := want.Attempts[len(want.Attempts)-3].Time
		assert.True(t, got.Knows(recent))
		assert.Equal(t, rounded(want.Spent(recent)), rounded(got.Spent(recent)))
		assert.False(t, got.Knows(want.Attempts[5].Time))
		assert.Equal(t, encodedSummary(t, want, all.Standing()), encodedSummary(t, got, open.Standing()))
	}
}

// rounded leaves out in which order minutes were added.
func rounded(s Spent) Spent {
	s.Minutes = float64(int64(s.Minutes*1000+0.5)) / 1000
	return s
}

func TestCheckpointIsComputedAgain(t *testing.T) {
	open, segments, _ := sealedLedger(t, 9, 500)
	again := &Checkpoint{}
	for _, segment := range segments {
		var err error
		again, err = again.Extend(segment)
		require.NoError(t, err)
	}
	want, err := open.Checkpoint().Encode()
	require.NoError(t, err)
	got, err := again.Encode()
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got))
	assert.Less(t, len(got), 100<<10, "it does not grow with the ledger")

	for i := range 500 {
		assert.Equal(t, bytes.Contains(bytes.Join(segments, nil), fmt.Appendf(nil, `"digest-%d"`, i)), again.MayHave(fmt.Sprintf("digest-%d", i)), i)
	}

	_, err = Open(nil, open.Bytes())
	require.ErrorIs(t, err, ErrNoCheckpoint)
	_, err = Open(&Checkpoint{Chain: Chain{Segments: 1}}, open.Bytes())
	require.ErrorIs(t, err, ErrNoCheckpoint)
	_, err = DecodeCheckpoint(bytes.Replace(want, []byte(`"version":6`), []byte(`"version":7`), 1))
	require.ErrorContains(t, err, "version 7")
}

func replaced(segment []byte, from, to string) []byte {
	return bytes.Replace(segment, []byte(from), []byte(to), 1)
}

func TestSegmentsKnowTheirPlace(t *testing.T) {
	_, segments, _ := sealedLedger(t, 3, 500)
	require.Greater(t, len(segments), 4)
	other := slices.Clone(segments[1])
	other = bytes.Replace(other, []byte(`"summary":"step"`), []byte(`"summary":"leap"`), 1)
	for name, c := range map[string]struct {
		segments [][]byte
		says     string
	}{
		"reordered":     {[][]byte{segments[0], segments[2], segments[1]}, "segment 2, line 1: it says that it is segment 3"},
		"missing":       {[][]byte{segments[1]}, "segment 1, line 1: it says that it is segment 2"},
		"doubled":       {[][]byte{segments[0], segments[1], segments[1]}, "segment 3, line 1: it says that it is segment 2"},
		"first twice":   {[][]byte{segments[0], segments[0]}, "segment 2, line 1: it does not say which segment it goes on after"},
		"forged":        {[][]byte{segments[0], other, segments[2]}, "segment 3, line 1: it goes on after a segment with the digest"},
		"unreadable":    {[][]byte{segments[0], append(slices.Clone(segments[1]), "{\n"...)}, "segment 2: ledger line"},
		"other lines":   {[][]byte{segments[0], replaced(segments[1], `"lines":`, `"lines":1`)}, "lines come before it, and there are"},
		"other numbers": {[][]byte{segments[0], replaced(segments[1], `"numbers":"`, `"numbers":"0`)}, "it says that segment 1 without details has the digest 0"},
		"a future head": {[][]byte{bytes.Replace(segments[1], []byte(`"schema":2`), []byte(`"schema":3`), 1)}, "update Autoloop"},
	} {
		at := &Checkpoint{}
		var err error
		for _, segment := range c.segments {
			if at, err = at.Extend(segment); err != nil {
				break
			}
		}
		var wrong *SegmentError
		require.ErrorAs(t, err, &wrong, name)
		assert.ErrorContains(t, err, c.says, name)
	}
}

// TestOlderReadersRefuseSealedLedgers: a version without segments parses every line
// of the open segment as an event.
func TestOlderReadersRefuseSealedLedgers(t *testing.T) {
	open, _, _ := sealedLedger(t, 3, 300)
	_, err := Parse(open.Bytes())
	require.ErrorContains(t, err, "ledger line 1")
	assert.ErrorContains(t, err, headNote)
}

func TestSmallLedgersStayOneFile(t *testing.T) {
	g := inventedRuns(1)
	log, err := Parse(nil)
	require.NoError(t, err)
	for len(log.Bytes()) < segmentSize {
		s, err := log.Seal()
		require.NoError(t, err)
		require.Nil(t, s)
		require.NoError(t, log.Append(g.run()...))
	}
}

func TestCondensedLedger(t *testing.T) {
	_, segments, whole := sealedLedger(t, 5, 600)
	var condensed []byte
	for _, segment := range segments {
		short, err := Condense(segment)
		require.NoError(t, err)
		condensed = append(condensed, short...)
	}
	sealed := 0
	for _, segment := range segments {
		sealed += len(Body(segment))
	}
	all, err := Parse(whole[:sealed])
	require.NoError(t, err)
	short, err := Parse(condensed)
	require.NoError(t, err)
	want, got := Replay(all.Events), Replay(short.Events)
	assert.Equal(t, want.Tried, got.Tried)
	assert.Equal(t, want.Settings, got.Settings)
	assert.Equal(t, want.Best, got.Best)
	assert.Equal(t, rounded(want.Spent(time.Time{})), rounded(got.Spent(time.Time{})))
	require.Len(t, got.Attempts, len(want.Attempts))
	for i := range want.Attempts {
		a, b := want.Attempts[i], got.Attempts[i]
		assert.Equal(t, []any{a.Iteration, a.Outcome, a.Metric, a.Deviation, a.Params, a.Focus, a.Took}, []any{b.Iteration, b.Outcome, b.Metric, b.Deviation, b.Params, b.Focus, b.Took})
	}
	assert.Less(t, len(condensed), len(whole)/2)
}

// TestCheckpointHasEveryField: what is added to a Summary has to be put into
// checkpoints too, and their version raised.
func TestCheckpointHasEveryField(t *testing.T) {
	hidden := func(of any) []string {
		var names []string
		for i := range reflect.TypeOf(of).NumField() {
			if field := reflect.TypeOf(of).Field(i); !field.IsExported() {
				names = append(names, field.Name)
			}
		}
		return names
	}
	assert.Equal(t, []string{"known", "openDecided", "baselines", "candidateOutput", "adopted", "candidateNumbers", "candidateSamples", "agrees"}, hidden(Summary{}))
	assert.Equal(t, []string{"known", "commit", "folded"}, hidden(Attempt{}))
	assert.Equal(t, []string{"checked", "settled", "measured"}, hidden(Standing{}))
	assert.Equal(t, []string{"sign", "margin"}, hidden(Lead{}))
	assert.Empty(t, hidden(Earlier{}))
	assert.Empty(t, hidden(Focused{}))
	assert.Empty(t, hidden(Abandoned{}))
	names, err := json.Marshal(Summary{})
	require.NoError(t, err)
	assert.Equal(t, "e242", fmt.Sprintf("%.4s", digest(names)), "the exported fields of a Summary changed: %s", names)
}
