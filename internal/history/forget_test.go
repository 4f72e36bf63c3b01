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

// TestWhatIsForgottenOfALine: the output of a candidate and the patch of a proposal, unless
// it was kept or CI is asked. All else stays byte for byte.
func TestWhatIsForgottenOfALine(t *testing.T) {
	t.Parallel()
	const (
		output  = `{"schema":1,"event":"measured","run_id":"r","iteration":1,"role":"candidate","output":"héllo\n","seconds":2}`
		without = `{"schema":1,"event":"measured","run_id":"r","iteration":1,"role":"candidate","forgotten":{"output":7},"seconds":2}`
		second  = `{"schema":1,"event":"proposed","iteration":1,"later":{"a":1.0},"proposal":2,"patch":"+<x>","more":"é\u00e9"}`
		patched = `{"schema":1,"event":"proposed","iteration":1,"later":{"a":1.0},"proposal":2,"forgotten":{"patch":4},"more":"é\u00e9"}`
	)
	decided := func(outcome Outcome, proposal int) string {
		return fmt.Sprintf(`{"schema":1,"event":"decided","iteration":1,"outcome":%q,"proposal":%d}`, outcome, proposal)
	}
	for name, c := range map[string]struct{ before, after []string }{
		"rejected":                 {[]string{output, decided(Rejected, 0)}, []string{without, decided(Rejected, 0)}},
		"inconclusive":             {[]string{output, decided(Inconclusive, 0)}, []string{without, decided(Inconclusive, 0)}},
		"an error":                 {[]string{output, decided(Error, 0)}, []string{without, decided(Error, 0)}},
		"turned down by CI":        {[]string{output, decided(CIFixExhausted, 0)}, []string{without, decided(CIFixExhausted, 0)}},
		"kept":                     {[]string{output, decided(Accepted, 0)}, nil},
		"waits for CI":             {[]string{output, decided(PendingCI, 0)}, nil},
		"waited for CI":            {[]string{output, decided(PendingCI, 0), decided(Rejected, 0)}, []string{without, decided(PendingCI, 0), decided(Rejected, 0)}},
		"never decided":            {[]string{output}, []string{without}},
		"another one was kept":     {[]string{output, second, decided(Accepted, 1)}, []string{without, patched, decided(Accepted, 1)}},
		"its proposal was kept":    {[]string{second, decided(Accepted, 2)}, nil},
		"several":                  {[]string{second, output, second, decided(Rejected, 0)}, []string{patched, without, patched, decided(Rejected, 0)}},
		"forgotten before":         {[]string{without, patched, decided(Rejected, 0)}, nil},
		"output of the incumbent":  {[]string{strings.Replace(output, "candidate", "incumbent", 1), decided(Rejected, 0)}, nil},
		"output of a baseline":     {[]string{strings.Replace(output, "candidate", "baseline", 1), decided(Rejected, 0)}, nil},
		"output of emptied files":  {[]string{strings.Replace(output, "candidate", "emptied", 1), decided(Rejected, 0)}, nil},
		"no output":                {[]string{strings.Replace(output, `"héllo\n"`, `""`, 1)}, nil},
		"a null":                   {[]string{strings.Replace(output, `"héllo\n"`, `null`, 1)}, nil},
		"a patch of a measurement": {[]string{strings.Replace(output, `"output"`, `"patch"`, 1)}, nil},
		"an output of a decision":  {[]string{`{"schema":1,"event":"decided","iteration":1,"outcome":"rejected","output":"x","patch":"y"}`}, nil},
		"of another kind":          {[]string{`{"schema":1,"event":"telepathy","iteration":1,"output":"x","patch":"y"}`}, nil},
		"spaces between":           {[]string{`{ "schema": 1, "event": "measured", "role": "candidate", "output": "x" }`}, nil}, // no version wrote such a line
		"the word in a text":       {[]string{`{"schema":1,"event":"measured","iteration":1,"role":"candidate","problem":"no \"output\" at all"}`}, nil},
		"a blank line":             {[]string{output, "", decided(Rejected, 0)}, []string{without, "", decided(Rejected, 0)}},
		"a line that is no event":  {[]string{output, "{", decided(Rejected, 0)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			head := string(opening{Segment: 2, Lines: 1, Before: "0123"}.line())
			for _, begins := range []string{"", head} {
				segment := []byte(begins + strings.Join(c.before, "\n") + "\n")
				before := string(segment)
				want := before
				if c.after != nil {
					want = begins + strings.Join(c.after, "\n") + "\n"
				}
				short := Forget(segment)
				assert.Equal(t, want, string(short))
				assert.Equal(t, before, string(segment))
				assert.Equal(t, want, string(Forget(short)), "it forgets once")
				assert.Equal(t, want == before, numbersOf(segment) == "")
			}
		})
	}
}

// smallSegments are the segments of a ledger of invented runs, so many runs in each.
func smallSegments(t *testing.T, seed uint64, segments, runs int) [][]byte {
	t.Helper()
	g := inventedRuns(seed)
	at := &Checkpoint{}
	var list [][]byte
	for range segments {
		log, err := Parse(nil)
		require.NoError(t, err)
		for open := true; open || len(log.Events) < 4*runs; {
			events := g.run()
			require.NoError(t, log.Append(events...))
			_, over := events[len(events)-1].(*Finished)
			_, resumed := events[len(events)-1].(*Resumed)
			open = !over && !resumed
		}
		segment := bytes.Clone(log.Bytes())
		if at.Segments > 0 {
			segment = append(at.head().line(), segment...)
		}
		at, err = at.Extend(segment)
		require.NoError(t, err)
		list = append(list, segment)
	}
	return list
}

// TestSegmentsMayForget: any of the segments may stand there without their details. They
// go on after each other all the same, and add up to the same.
func TestSegmentsMayForget(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		segments := smallSegments(t, seed, 4, 8)
		whole := Summary{Settings: map[string]string{}}
		for _, segment := range segments {
			log, err := ParseOpen(segment)
			require.NoError(t, err)
			for _, e := range log.Events {
				whole.Add(e)
			}
		}
		changed := 0
		for which := range 1 << len(segments) {
			at := &Checkpoint{}
			for i, segment := range segments {
				if which>>i&1 == 1 {
					short := Forget(segment)
					if len(short) < len(segment) {
						changed++
					}
					require.Equal(t, bytes.Count(segment, []byte("\n")), bytes.Count(short, []byte("\n")), "every line stays")
					segment = short
				}
				next, err := at.Extend(segment)
				require.NoError(t, err, "segments %b, the %d.", which, i)
				at = next
			}
			got := at.Summary()
			require.Equal(t, whole.Decided(), got.Decided())
			require.Equal(t, whole.Settings, got.Settings)
			require.Equal(t, whole.Best, got.Best)
			require.Equal(t, whole.Output, got.Output, "of the incumbent all is known")
			require.Equal(t, rounded(whole.Spent(time.Time{})), rounded(got.Spent(time.Time{})))
		}
		require.Greater(t, changed, 10)
	}
}

// TestWhatMayBeForgotten is what the segment behind says: a forged one may not.
func TestWhatMayBeForgotten(t *testing.T) {
	t.Parallel()
	segments := smallSegments(t, 1, 4, 12)
	for i := range segments[:3] {
		segment, next := segments[i], segments[i+1]
		require.NotEqual(t, segment, Forget(segment))
		assert.Equal(t, Forget(segment), Forgettable(segment, next))
		assert.Equal(t, Forget(segment), Forgettable(Forget(segment), next), "it was done before")
		assert.Nil(t, Forgettable(segment, segments[(i+2)%4]), "the segment behind another")
		forged := bytes.Replace(segment, []byte(`"summary":"step"`), []byte(`"summary":"leap"`), 1)
		require.NotEqual(t, segment, forged)
		assert.Nil(t, Forgettable(forged, next))
		assert.Nil(t, Forgettable(segment, Body(next)), "one without a head")
		assert.Nil(t, Forgettable(segment, []byte(`{"schema":9,"event":"segment"}`+"\n")), "one of a later version")
		older := bytes.Replace(next, []byte(`"numbers":"`+digest(Forget(segment))+`"`), []byte(`"of":"old"`), 1)
		require.NotEqual(t, next, older)
		assert.Nil(t, Forgettable(segment, older), "a version that did not forget wrote it")
	}
	const plain = `{"schema":1,"event":"set","time":"2026-01-01T00:00:00Z","run_id":"r","iteration":1,"key":"k"}` + "\n"
	sealed, err := (&Checkpoint{}).Extend([]byte(plain))
	require.NoError(t, err)
	assert.True(t, bytes.Equal([]byte(plain), Forgettable([]byte(plain), sealed.head().line())), "it has no details")
}

func TestTheLastIterationOfASegment(t *testing.T) {
	t.Parallel()
	line := func(kind string, iteration int) string {
		return fmt.Sprintf(`{"event":%q,"iteration":%d}`+"\n", kind, iteration)
	}
	for name, c := range map[string]struct {
		text string
		last int
	}{
		"empty":                    {"", 0},
		"decided":                  {line("decided", 3) + line("decided", 5), 5},
		"one of before at the end": {line("decided", 5) + line("decided", 3), 5},
		"measured":                 {line("decided", 3) + line("measured", 4), 4},
		"begun":                    {line("decided", 3) + line("started", 4) + line("finished", 4) + line("set", 9), 3},
		"unreadable":               {line("decided", 3) + "{\n", 0},
		"behind a head":            {string(opening{Segment: 2}.line()) + line("decided", 3), 3},
		"below zero":               {line("decided", -3), 0},
	} {
		assert.Equal(t, c.last, LastIteration([]byte(c.text)), name)
	}
}

// TestACondensedLine has what people are shown long after, and none of what was measured
// for it or proposed in it.
func TestACondensedLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ line, want string }{
		"a decision":         {`{"event":"decided","iteration":3,"outcome":"accepted","lessons":["l"],"foreclosed":["f"],"ideas":["i"],"rule":{"regime":"single"},"seed":"s","changed":["a"],"metric":1.50}`, `{"event":"decided","iteration":3,"metric":1.50,"outcome":"accepted"}`},
		"a baseline":         {`{"event":"measured","role":"baseline","metric":1,"samples":[1],"guardrail_samples":{},"numbers":{"a":1},"case_samples":{},"evaluator_writes":{"f":true},"output":"x"}`, `{"event":"measured","metric":1,"role":"baseline"}`},
		"the incumbent":      {`{"event":"measured","role":"incumbent","metric":1,"samples":[1]}`, `{"event":"measured","metric":1,"role":"incumbent"}`},
		"a candidate":        {`{"event":"measured","role":"candidate","metric":1}`, ""},
		"a trial's":          {`{"event":"measured","role":"incumbent","stage":"pairs","metric":1}`, ""},
		"a push":             {`{"event":"pushed","commit":"c"}`, ""},
		"a start":            {`{"event":"started","lease":{"host":"h"},"reserved":{"tokens":1}}`, `{"event":"started","reserved":{"tokens":1}}`},
		"a proposal":         {`{"event":"proposed","patch":"p","digest":"d","forgotten":{"patch":1}}`, `{"digest":"d","event":"proposed"}`},
		"samples of another": {`{"event":"decided","samples":[1],"numbers":{"a":1}}`, `{"event":"decided","numbers":{"a":1},"samples":[1]}`},
		"of a later version": {`{"event":"telepathy","future":{"b":1.0,"a":[]},"output":"x"}`, `{"event":"telepathy","future":{"b":1.0,"a":[]}}`},
		"exact numbers":      {`{"event":"decided","metric":9007199254740993,"more":1e400}`, `{"event":"decided","metric":9007199254740993,"more":1e400}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := c.want
			if want != "" {
				want += "\n"
			}
			for _, begins := range []string{"", "\n\r\n", string(opening{Segment: 2}.line())} {
				short, err := Condense([]byte(begins + c.line + "\n"))
				require.NoError(t, err)
				assert.Equal(t, want, string(short))
				again, err := Condense(short)
				require.NoError(t, err)
				assert.Equal(t, want, string(again))
			}
		})
	}
	for _, text := range []string{"{", "[]\n", `{"event":"set"}` + "\nx\n", `{"event":3}`} {
		_, err := Condense([]byte(text))
		require.ErrorContains(t, err, "condense a segment: ", text)
	}
}
