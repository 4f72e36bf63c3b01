package history

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// naive is what a ledger adds up to, computed anew from all of its events by the plainest
// means: one pass for each question.
type naive struct{ events []Event }

// last are the final words on each iteration, in the order in which they were first
// decided, and where they are.
func (n naive) last() (list []*Decided, at []int) {
	place := map[int]int{}
	for i, e := range n.events {
		d, is := e.(*Decided)
		if !is {
			continue
		}
		if p, known := place[d.Iteration]; known {
			list[p], at[p] = d, i
			continue
		}
		place[d.Iteration] = len(list)
		list, at = append(list, d), append(at, i)
	}
	return list, at
}

func (n naive) outcomes() map[Outcome]int {
	counts := map[Outcome]int{}
	decided, _ := n.last()
	for _, d := range decided {
		counts[d.Outcome]++
	}
	return counts
}

// since are the outcomes since the program was last resumed.
func (n naive) since() []Outcome {
	resumed := -1
	for i, e := range n.events {
		if _, is := e.(*Resumed); is {
			resumed = i
		}
	}
	var list []Outcome
	decided, at := n.last()
	for i, d := range decided {
		if at[i] > resumed {
			list = append(list, d.Outcome)
		}
	}
	return list
}

func (n naive) atTheEnd(so func(Outcome) bool) int {
	list := n.since()
	for i := range list {
		if !so(list[len(list)-1-i]) {
			return i
		}
	}
	return len(list)
}

func (n naive) statuses() []string {
	var words []string
	decided, _ := n.last()
	for _, d := range decided {
		word := string(d.Outcome)
		if d.Outcome == Inconclusive {
			word = "rejected"
		}
		words = append(words, word)
	}
	for len(words) > 10 {
		words = words[1:]
	}
	return words
}

// incumbent is the last event after which the incumbent is another: the number and the
// commit of it.
func (n naive) incumbent() (best, commit string) {
	best = "—"
	for _, e := range n.events {
		switch e := e.(type) {
		case *Measured:
			if e.Role == Baseline && e.Stage == "" && e.Metric != nil {
				best, commit = e.Metric.String(), e.Commit
			}
		case *Decided:
			if e.Outcome == Accepted {
				best, commit = e.Best.String(), e.Commit
			}
		}
	}
	return best, commit
}

// began are the runs that started, when, and whether they said that they ended.
func (n naive) began() (runs []string, at map[string]time.Time, ended map[string]bool) {
	at, ended = map[string]time.Time{}, map[string]bool{}
	for _, e := range n.events {
		h := e.Header()
		switch e.(type) {
		case *Started:
			if _, known := at[h.Run]; !known {
				runs = append(runs, h.Run)
				at[h.Run] = h.Time
			}
			ended[h.Run] = false // a run may begin anew
		case *Finished:
			ended[h.Run] = true
		}
	}
	return runs, at, ended
}

// tried are the changes that were measured since the evaluator last changed.
func (n naive) tried() map[string]int {
	list, evaluator := map[string]int{}, ""
	note := func(e Event, outcome Outcome, of, digest string) {
		counts := outcome == Accepted || outcome == Rejected || outcome == CIFixExhausted
		if _, known := list[digest]; !known && counts && digest != "" && of == evaluator {
			list[digest] = e.Header().Iteration
		}
	}
	for _, e := range n.events {
		switch e := e.(type) {
		case *Measured:
			if e.Role == Baseline && e.Evaluator != evaluator {
				evaluator = e.Evaluator
				clear(list)
			}
		case *Proposed:
			note(e, e.Outcome, e.Evaluator, e.Digest)
		case *Decided:
			note(e, e.Outcome, e.Evaluator, e.Digest)
		}
	}
	return list
}

// TestReplayIsWhatIsCountedByHand holds what a ledger adds up to, after each of its
// events, against the naive computation.
func TestReplayIsWhatIsCountedByHand(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		g := inventedRuns(seed)
		var events []Event
		for range 45 {
			events = append(events, g.run()...)
		}
		var summary Summary
		standing := Standing{}
		for i, e := range events {
			summary.Add(e)
			standing = standing.after(e)
			n := naive{events[:i+1]}
			says := fmt.Sprintf("seed %d, event %d, a %s", seed, i, e.kind())
			decided, at := n.last()
			require.Equal(t, len(decided), summary.Decided(), says)
			counts := n.outcomes()
			for _, outcome := range []Outcome{Accepted, Rejected, Inconclusive, Error, PendingCI, CIFixExhausted} {
				require.Equal(t, counts[outcome], summary.Count(outcome), says)
			}
			require.Equal(t, n.statuses(), summary.Statuses(), says)
			require.Equal(t, n.atTheEnd(func(o Outcome) bool { return o == Error }), summary.ConsecutiveErrors(), says)
			require.Equal(t, n.atTheEnd(func(o Outcome) bool { return o == Rejected || o == Inconclusive }), summary.Dropped(), says)
			best, commit := n.incumbent()
			require.Equal(t, best, ValueText(summary.Best), says)
			require.Equal(t, commit, summary.Incumbent, says)
			tried := map[string]int{}
			for digest, one := range summary.Tried {
				tried[digest] = one.Iteration
			}
			require.Equal(t, n.tried(), tried, says)
			require.Equal(t, i+1, summary.Events, says)
			if len(at) > 0 {
				require.Equal(t, decided[len(decided)-1], standing.Decision, says)
				require.Equal(t, decided[len(decided)-1].Outcome == PendingCI, standing.Waiting() != nil, says)
			}
		}
		runs, _, ended := naive{events}.began()
		lost := 0
		for _, run := range runs[:len(runs)-1] {
			if !ended[run] {
				lost++
			}
		}
		require.Len(t, summary.Abandoned, lost, seed)
		require.Equal(t, ended[runs[len(runs)-1]], summary.Open == nil)
	}
}

// TestSpentIsWhatIsAddedUpByHand adds up what the events of a ledger say that was used,
// from any time on.
func TestSpentIsWhatIsAddedUpByHand(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		g := inventedRuns(seed)
		var events []Event
		for range 60 {
			events = append(events, g.run()...)
		}
		summary := Replay(events)
		n := naive{events}
		runs, began, ended := n.began()
		for _, from := range []time.Time{{}, events[0].Header().Time, events[len(events)/2].Header().Time, events[len(events)-1].Header().Time.Add(time.Second)} {
			var want Spent
			within := func(at time.Time) bool { return !at.Before(from) }
			unknownTokens, unknownUSD := map[int]bool{}, map[int]bool{}
			decided, at := n.last()
			for i, d := range decided {
				if !within(d.Time) {
					continue
				}
				want.Iterations++
				var first *Decided
				for _, e := range events[:at[i]+1] {
					if one, is := e.(*Decided); is && one.Iteration == d.Iteration {
						first = one // of several of one commit each says the same
						break
					}
				}
				want.Minutes += first.Time.Sub(began[d.Run]).Minutes()
				if first.Usage == nil {
					unknownTokens[d.Iteration], unknownUSD[d.Iteration] = true, true
				} else {
					want.Tokens += 2 * *first.Usage.InputTokens
					want.USD += first.Usage.CostUSD.Float64()
				}
			}
			for i, e := range events {
				h := e.Header()
				switch e := e.(type) {
				case *Measured:
					if e.Evaluation != nil && within(h.Time) {
						want.USD += 0.25
						want.MeasuringUSD += 0.25
						unknownTokens[h.Iteration] = true
					}
				case *Proposed:
					for j, d := range decided {
						if d.Iteration == h.Iteration && within(d.Time) && at[j] > i {
							unknownTokens[h.Iteration], unknownUSD[h.Iteration] = true, true // it had a usage of which nothing is known
						}
					}
				case *Finished:
					if e.NotBefore != nil && within(h.Time) {
						want.Minutes += h.Time.Sub(began[h.Run]).Minutes()
					}
				case *Checked:
					for _, d := range decided {
						if d.Iteration == h.Iteration && within(d.Time) {
							want.Minutes += 1.0 / 60 // a fix that nobody counted took a second
							unknownTokens[h.Iteration], unknownUSD[h.Iteration] = true, true
						}
					}
				}
			}
			for _, run := range runs[:len(runs)-1] {
				if !ended[run] && within(began[run]) {
					want.plus(Spent{Iterations: 1, Tokens: 7, USD: 0.25, Minutes: 2})
				}
			}
			want.UnknownTokens, want.UnknownUSD = len(unknownTokens), len(unknownUSD)
			assert.Equal(t, rounded(want), rounded(summary.Spent(from)), "seed %d, from %s", seed, from)
		}
	}
}

// cuttable are where a ledger may be cut: before a start, where no run is open and nothing
// waits for CI.
func cuttable(events []Event) []int {
	var list []int
	var summary Summary
	var standing Standing
	for i, e := range events {
		if _, is := e.(*Started); is && i > 0 && summary.Open == nil && standing.Waiting() == nil {
			list = append(list, i)
		}
		summary.Add(e)
		standing = standing.after(e)
	}
	return list
}

// sealedAt is what is sealed when a ledger is cut in these places, and the rest.
func sealedAt(t *testing.T, events []Event, cuts []int) (*Checkpoint, []Event) {
	t.Helper()
	at, start := &Checkpoint{}, 0
	for _, cut := range cuts {
		log, err := Parse(nil)
		require.NoError(t, err)
		require.NoError(t, log.Append(events[start:cut]...))
		segment := log.Bytes()
		if start > 0 {
			segment = append(at.head().line(), segment...)
		}
		at, err = at.Extend(segment)
		require.NoError(t, err)
		start = cut
	}
	return at, events[start:]
}

// TestAnyCutsAddUpToTheSame cuts one ledger in all kinds of places: none, one, many, all.
// Whatever is sealed, it adds up to the same.
func TestAnyCutsAddUpToTheSame(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1) {
		g := inventedRuns(seed)
		var events []Event
		for range 50 {
			events = append(events, g.run()...)
		}
		all := cuttable(events)
		require.Greater(t, len(all), 20)
		whole := Replay(events)
		want := encodedSummary(t, Replay(events), (&Log{Events: events}).Standing())
		ways := map[string][]int{"none": nil, "the first": all[:1], "the last": all[len(all)-1:], "all": all}
		for i := range 2 {
			ways[fmt.Sprint("by chance, ", i)] = slices.DeleteFunc(slices.Clone(all), func(int) bool { return g.IntN(4) > i })
		}
		for name, cuts := range ways {
			says := fmt.Sprintf("seed %d, cut: %s", seed, name)
			sealed, rest := sealedAt(t, events, cuts)
			log := &Log{sealed: sealed, Events: rest}
			summary := log.Summary()
			require.Equal(t, whole.Decided(), summary.Decided(), says)
			require.Equal(t, whole.Statuses(), summary.Statuses(), says)
			require.Equal(t, whole.Settings, summary.Settings, says)
			require.Equal(t, whole.Focuses("de0"), summary.Focuses("de0"), says)
			require.Equal(t, rounded(whole.Spent(time.Time{})), rounded(summary.Spent(time.Time{})), says)
			require.Equal(t, want, encodedSummary(t, log.Summary(), log.Standing()), says)
			require.Equal(t, len(cuts), sealed.Segments, says)
			lines := 0
			for _, e := range events[:len(events)-len(rest)] {
				lines++
				if digest := digestOf(e); digest != "" {
					require.True(t, sealed.MayHave(digest), says)
				}
			}
			require.Equal(t, lines, sealed.Lines, says)
		}
	}
}

// TestASummaryIsAValueOfItsOwn: what is done with what a checkpoint adds up to changes
// nothing in it, nor in a log that goes on after it.
func TestASummaryIsAValueOfItsOwn(t *testing.T) {
	t.Parallel()
	g := inventedRuns(5)
	var events []Event
	for range 60 {
		events = append(events, g.run()...)
	}
	all := cuttable(events)
	sealed, rest := sealedAt(t, events, all[len(all)-6:len(all)-5])
	before, err := sealed.Encode()
	require.NoError(t, err)
	log := &Log{sealed: sealed, Events: rest}
	first := log.Summary()
	want := encodedSummary(t, log.Summary(), log.Standing())

	mine := sealed.Summary()
	for range 40 {
		for _, e := range g.run() {
			mine.Add(e)
		}
	}
	mine.Fold()
	mine.Settings["note"] = "mine"
	for i := range mine.Attempts {
		mine.Attempts[i].Summary, mine.Attempts[i].Outcome = "mine", Error
		for stage := range mine.Attempts[i].Durations {
			mine.Attempts[i].Durations[stage] = 1e6
		}
	}
	maps.DeleteFunc(mine.Earlier.Outcomes, func(Outcome, int) bool { return true })
	maps.DeleteFunc(mine.Earlier.Days, func(string, Spent) bool { return true })

	after, err := sealed.Encode()
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
	assert.Equal(t, want, encodedSummary(t, first, log.Standing()))
	assert.Equal(t, want, encodedSummary(t, log.Summary(), log.Standing()))
}

// TestFoldingAtAnyTime folds a summary at the end of any runs: it knows what one knows
// that is folded once, at the end.
func TestFoldingAtAnyTime(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		g := inventedRuns(seed)
		once, often := Summary{Settings: map[string]string{}}, Summary{Settings: map[string]string{}}
		for run := range 120 {
			for _, e := range g.run() {
				once.Add(e)
				often.Add(e)
			}
			if often.Open == nil && (run+int(seed))%7 == 0 {
				often.Fold()
				often.Fold()
				require.LessOrEqual(t, len(often.Attempts), keptAttempts+keptAccepted)
				require.LessOrEqual(t, len(often.SinceResumed), keptAttempts)
				require.LessOrEqual(t, len(often.Gains), keptGains+1)
				require.LessOrEqual(t, len(often.PutOff), keptAttempts)
				require.LessOrEqual(t, len(often.Abandoned), keptAttempts)
			}
		}
		assert.Equal(t, encodedSummary(t, once, Standing{}), encodedSummary(t, often, Standing{}), seed)
	}
}
