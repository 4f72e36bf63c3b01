package history

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOfHowManyIterationsOneIsDrawn: the least power of two with which a chart has few
// enough.
func TestOfHowManyIterationsOneIsDrawn(t *testing.T) {
	t.Parallel()
	for iterations := range 5000 {
		every := PointsEvery(iterations)
		require.Zero(t, every&(every-1), "a power of two")
		require.Less(t, iterations/every, MostPoints)
		require.True(t, every == 1 || iterations/(every/2) >= MostPoints, "the least")
		require.Zero(t, PointsEvery(iterations+1)%every, "what is drawn of more was drawn of fewer")
	}
}

// named are events in one word each: what they are, and of which iteration.
func named(events []Event) []string {
	var list []string
	for _, e := range events {
		name := fmt.Sprintf("%s %d", e.kind(), e.Header().Iteration)
		if d, is := e.(*Decided); is {
			name = fmt.Sprintf("%s %d", d.Outcome, d.Iteration)
			if d.Reasons == nil {
				name += ", a point"
			}
		}
		if s, is := e.(*Set); is {
			name = s.Key + " " + s.Value
		}
		list = append(list, name)
	}
	return list
}

// TestWhichEventsAreShown, of which kind and how many of each.
func TestWhichEventsAreShown(t *testing.T) {
	t.Parallel()
	decide := func(n int, outcome Outcome) Event {
		return &Decided{Head: Head{Iteration: n}, Outcome: outcome, Reasons: []string{"because"}}
	}
	many := func(from, to int, outcome Outcome) (list []Event) {
		for n := from; n <= to; n++ {
			list = append(list, decide(n, outcome))
		}
		return list
	}
	wholes := func(from, to int, outcome Outcome) (list []string) {
		for n := from; n <= to; n++ {
			list = append(list, fmt.Sprintf("%s %d", outcome, n))
		}
		return list
	}
	points := func(outcome Outcome, every int, to int) (list []string) {
		for n := every; n <= to; n += every {
			list = append(list, fmt.Sprintf("%s %d, a point", outcome, n))
		}
		return list
	}
	baseline := &Measured{Role: Baseline, Metric: numberOf(1)}
	set := func(key, value string) Event { return &Set{Key: key, Value: value} }
	var ends []Event
	var endsShown []string
	for n := range 40 {
		ends = append(ends, set(PullEnded, fmt.Sprint(n)))
		if n >= 40-shownEnds {
			endsShown = append(endsShown, fmt.Sprint("pull-ended ", n))
		}
	}
	for name, c := range map[string]struct {
		events []Event
		want   []string
	}{
		"no event":                    {nil, nil},
		"few":                         {many(1, 3, Rejected), wholes(1, 3, Rejected)},
		"the latest in full":          {many(1, 39, Rejected), append(points(Rejected, 1, 39-shownDecided), wholes(39-shownDecided+1, 39, Rejected)...)},
		"of many one in two":          {many(1, 79, Rejected), append(points(Rejected, 2, 79-shownDecided), wholes(79-shownDecided+1, 79, Rejected)...)},
		"of more one in four":         {many(1, 80, Rejected), append(points(Rejected, 4, 80-shownDecided), wholes(80-shownDecided+1, 80, Rejected)...)},
		"kept long ago":               {append(many(1, 5, Accepted), many(6, 120, Rejected)...), slices.Concat(wholes(1, 5, Accepted), slices.DeleteFunc(points(Rejected, 4, 120-shownDecided), func(s string) bool { return s == "rejected 4, a point" }), wholes(120-shownDecided+1, 120, Rejected))},
		"waits for CI":                {append([]Event{decide(1, PendingCI)}, many(2, 40, Rejected)...), slices.Concat(wholes(1, 1, PendingCI), points(Rejected, 2, 8), wholes(9, 40, Rejected))},
		"decided twice":               {[]Event{decide(1, PendingCI), decide(1, Accepted)}, []string{"pending-ci 1", "accepted 1"}},
		"the first that was promoted": {append([]Event{decide(1, PendingCI), decide(1, CIFixExhausted)}, many(2, 90, Rejected)...), slices.Concat([]string{"pending-ci 1, a point", "ci-fix-exhausted 1, a point"}, points(Rejected, 4, 56), wholes(59, 90, Rejected))},
		"the first baseline":          {[]Event{&Measured{Role: Baseline}, &Measured{Role: Incumbent, Metric: numberOf(1)}, baseline, &Measured{Role: Baseline, Metric: numberOf(2), Head: Head{Iteration: 3}}}, []string{"measured 0"}},
		"why it stopped":              {[]Event{&Paused{}, &Resumed{}, &Completed{Head: Head{Iteration: 2}}, &Paused{Head: Head{Iteration: 3}}}, []string{"paused 3"}},
		"resumed":                     {[]Event{&Paused{}, &Completed{}, &Resumed{}}, nil},
		"the ends of pull requests":   {ends, endsShown},
		"settings":                    {[]Event{set(AdoptedIteration, "5"), set(PullNumber, "7"), set(AdoptedIteration, "6"), set(Note, "x")}, []string{"adopted-iteration 5"}},
		"all others":                  {[]Event{&Started{}, &Pushed{}, &Finished{}, &Proposed{}, &Checked{}, &Answered{}, &Other{}, &Measured{Role: Candidate, Metric: numberOf(1)}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			summary := Replay(c.events)
			assert.Equal(t, c.want, named(choose(c.events, summary.Decided())))
			for cut := range c.events {
				first := Replay(c.events[:cut])
				before := choose(slices.Clone(c.events[:cut]), first.Decided())
				require.Equal(t, c.want, named(choose(append(before, c.events[cut:]...), summary.Decided())), "chosen before event %d too", cut)
			}
		})
	}
}

// TestKeptIterationsAreShownInFull: thirty of them before the latest.
func TestKeptIterationsAreShownInFull(t *testing.T) {
	t.Parallel()
	var events []Event
	for n := 1; n <= 200; n++ {
		outcome := Rejected
		if n%2 == 0 {
			outcome = Accepted
		}
		events = append(events, &Decided{Head: Head{Iteration: n}, Outcome: outcome, Reasons: []string{"because"}})
	}
	full := 0
	for _, name := range named(choose(events, 200)) {
		var n int
		_, err := fmt.Sscanf(name, "accepted %d", &n)
		if err == nil && name == fmt.Sprintf("accepted %d", n) {
			full++
			assert.Greater(t, n, 200-2*shownKept)
		}
	}
	assert.Equal(t, shownKept, full)
}

// TestWhatIsShownIsReadAgain, condensed, and as it was chosen.
func TestWhatIsShownIsReadAgain(t *testing.T) {
	t.Parallel()
	c := &Checkpoint{}
	for _, segment := range smallSegments(t, 8, 3, 14) {
		var err error
		c, err = c.Extend(segment)
		require.NoError(t, err)
	}
	shown, err := c.Shown()
	require.NoError(t, err)
	require.Greater(t, len(shown), 20)
	for _, e := range shown {
		if d, is := e.(*Decided); is {
			assert.Empty(t, d.Lessons)
			assert.Nil(t, d.Rule)
		}
		line, err := Line(e)
		require.NoError(t, err)
		short, err := Condense(line)
		require.NoError(t, err)
		assert.Equal(t, string(line), string(short), "it is condensed already")
	}
	_, err = (&Checkpoint{shown: append(c.shown[:1:1], []byte("{}"))}).Shown()
	require.Error(t, err)
}
