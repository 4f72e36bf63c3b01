package history

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
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
			says := fmt.Sprintf("seed %d, event %d, a %s", seed, i, KindOf(e))
			decided, at := n.last()
			require.Equal(t, len(decided), summary.Decided(), says)
			counts := n.outcomes()
			for _, outcome := range []Outcome{Accepted, Rejected, Inconclusive, Error, PendingCI, CIFixExhausted} {
				require.Equal(t, counts[outcome], summary.Count(outcome), says)
			}
			require.Equal(t, n.statuses(), summary.Statuses(), says)
			require.Equal(t, n.atTheEnd(func(o Outcome) bool { return o == Error }), summary.ConsecutiveErrors(), says)
			require.Equal(t, n.atTheEnd(func(o Outcome) bool { return o == Rejected || o == Inconclusive }),
				summary.Dropped(), says)
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
		for _, from := range []time.Time{
			{},
			events[0].Header().Time, events[len(events)/2].Header().Time,
			events[len(events)-1].Header().Time.Add(time.Second),
		} {
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
							unknownTokens[h.Iteration], unknownUSD[h.Iteration] = true,
								true // it had a usage of which nothing is known
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
					want.Iterations, want.Tokens, want.USD, want.Minutes = want.Iterations+1, want.Tokens+7,
						want.USD+0.25, want.Minutes+2
				}
			}
			want.UnknownTokens, want.UnknownUSD = len(unknownTokens), len(unknownUSD)
			assert.Equal(t, rounded(want), rounded(summary.Spent(from)), "seed %d, from %s", seed, from)
		}
	}
}

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
	return &invented{
		Rand: rand.New(rand.NewPCG(seed, 1)), at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		evaluator: "e0", best: 1000,
	}
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
		add(&Measured{
			Role: Baseline, Metric: numberOf(g.best), Samples: []metric.Value{*numberOf(g.best)},
			Evaluator: g.evaluator, Definition: "d" + g.evaluator, Direction: metric.Lower, Commit: "base",
			BaseBranch: "main", Evaluation: spent, Output: "was",
		})
	}
	add(&Measured{
		Role: Candidate, Metric: numberOf(g.best - 1), Samples: []metric.Value{*numberOf(g.best - 1)},
		Output: strings.Repeat("printed ", g.IntN(400)), Numbers: map[string]metric.Value{"m": *numberOf(g.best)},
	})
	if g.IntN(4) == 0 {
		add(&Proposed{
			Proposal: 1, Outcome: Rejected, Digest: fmt.Sprintf("other-%d", g.IntN(500)),
			Evaluator: g.evaluator, Patch: strings.Repeat("+line\n", g.IntN(300)),
			Work: Work{Usage: &metric.Usage{}, Durations: map[string]float64{"propose": 1}},
		})
	}
	tokens := int64(g.IntN(1000))
	e := &Decided{
		Evaluator: g.evaluator, Definition: "d" + g.evaluator, Digest: fmt.Sprintf("digest-%d", g.IntN(500)),
		Reasons: decision.Says("because"),
		Work: Work{
			Agent: "a", Summary: "step",
			Usage:     &metric.Usage{InputTokens: &tokens, OutputTokens: &tokens, CostUSD: &usd},
			Durations: map[string]float64{"propose": 2, "measure": 3},
		}, PreviousBest: numberOf(g.best),
		Best: numberOf(g.best), Focus: fmt.Sprintf("test %d", g.runs/2%9),
	}
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
			add(&Checked{
				Signature: "red",
				Work:      Work{Usage: &metric.Usage{}, Durations: map[string]float64{"propose": 1}},
			})
		}
		e.Outcome = []Outcome{Accepted, CIFixExhausted}[g.IntN(2)]
		add(e)
	}
	add(&Finished{Outcome: e.Outcome})
	if g.IntN(30) == 0 {
		add(&Paused{Reason: decision.Say("rest")})
		add(&Resumed{})
	}
	g.iteration++
	return events
}

// rounded leaves out in which order minutes were added.
func rounded(s Spent) Spent {
	s.Minutes = float64(int64(s.Minutes*1000+0.5)) / 1000
	return s
}
