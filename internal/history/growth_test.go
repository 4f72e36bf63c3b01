package history

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/long"
)

// withEverything are the events of an iteration that has all that a ledger may have: a
// conversation on GitHub, a candidate that waited for CI, numbers of the tuner, several
// candidates of a strategy, runs that were put off or never came back, a new baseline.
func (g *invented) withEverything(keep func(iteration int) bool) []Event {
	g.iteration++
	var events []Event
	n := g.iteration
	run := 0
	add := func(e Event) {
		g.at = g.at.Add(7e9)
		e = Stamp(e, fmt.Sprintf("run-%d-%d", n, run), g.at)
		e.Header().Iteration = n
		events = append(events, e)
	}
	usd := metric.MustValue("0.25")
	begin := func() {
		run++
		add(&Started{Lease: &Lease{Host: "h", PID: n}, Reserved: &Reserved{Tokens: 7, CostUSD: &usd, Minutes: 2}})
	}
	if n%10 == 0 {
		begin() // it never came back
	}
	begin()
	if n%5 == 0 {
		later := g.at.Add(1e12)
		add(&Finished{NotBefore: &later, Work: Work{Agent: "slow", Durations: map[string]float64{"propose": 4}}})
		begin()
	}
	for _, key := range []string{HeardUntil, CommandsUntil, PullNumber, CIStarted, Note} {
		add(&Set{Key: key, Value: fmt.Sprintf("%s of iteration %d", key, n)})
	}
	add(&Answered{Key: fmt.Sprintf("comment-%d", n), Reason: "it is noted"})
	if n%50 == 1 {
		add(&Measured{Role: Baseline, Metric: numberOf(g.best), Samples: []metric.Value{*numberOf(g.best)}, Evaluator: fmt.Sprintf("e%d", n), Definition: "d", Direction: metric.Lower, Commit: "base", BaseBranch: "main", Output: "was"})
	}
	tokens := int64(100)
	params := map[string]metric.Value{"src/a.go:1": *numberOf(int64(n)), "src/a.go:2": *numberOf(int64(n % 7))}
	work := Work{Agent: "tuner", Summary: "step", Usage: &metric.Usage{InputTokens: &tokens, OutputTokens: &tokens, CostUSD: &usd}, Durations: map[string]float64{"propose": 2}, Params: params}
	for proposal := range 2 {
		add(&Proposed{Proposal: proposal + 1, Outcome: Rejected, Digest: fmt.Sprintf("other-%d-%d", n, proposal), Evaluator: "e", Patch: strings.Repeat("+line\n", 30), Work: work})
	}
	add(&Measured{Role: Candidate, Metric: numberOf(g.best - 1), Samples: []metric.Value{*numberOf(g.best - 1)}, Output: strings.Repeat("printed ", 40), Numbers: map[string]metric.Value{"m": *numberOf(g.best)}})
	decided := &Decided{Evaluator: "e", Definition: "d", Digest: fmt.Sprintf("digest-%d", n), Reasons: []string{"because"}, Work: work, PreviousBest: numberOf(g.best), Best: numberOf(g.best), Focus: fmt.Sprintf("test %d", n%9), Outcome: Rejected}
	if n%3 == 0 {
		decided.Outcome = Error
	}
	if keep(n) {
		g.best--
		decided.Metric, decided.Best, decided.Commit, decided.Outcome = numberOf(g.best), numberOf(g.best), fmt.Sprintf("c%d", n), PendingCI
		add(decided)
		add(&Finished{Outcome: PendingCI})
		begin()
		add(&Checked{Reason: "red", Work: work})
		decided.Outcome = Accepted
	}
	add(decided)
	add(&Finished{Outcome: decided.Outcome})
	return events
}

// TestWhatIsReadDoesNotGrow: what an iteration reads of what is sealed, and writes when
// something is sealed, is as large after ten thousand iterations as after one thousand.
func TestWhatIsReadDoesNotGrow(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	for name, keep := range map[string]func(int) bool{
		"one in eight is kept": func(n int) bool { return n%8 == 0 },
		"nothing is kept":      func(int) bool { return false },
		"all are kept":         func(int) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			type sizes struct{ checkpoint, segment, condensed, open int }
			var now sizes
			at := map[int]sizes{}
			g := inventedRuns(1)
			log, err := Parse(nil)
			require.NoError(t, err)
			errors, dropped := 0, 0 // in a row
			for n := 1; n <= 10_000; n++ {
				events := g.withEverything(keep)
				require.NoError(t, log.Append(events...))
				last := events[len(events)-1].(*Finished) //nolint:forcetypeassert,errcheck // it is the last event of a run
				errors, dropped = oneMore(errors, last.Outcome == Error), oneMore(dropped, last.Outcome.Dropped())
				now.open = max(now.open, len(log.Bytes()))
				s, err := log.Seal()
				require.NoError(t, err)
				if s != nil {
					text, err := s.Checkpoint.Encode()
					require.NoError(t, err)
					now.checkpoint = len(text)
					for _, segment := range s.Segments {
						short, err := Condense(segment)
						require.NoError(t, err)
						now.segment, now.condensed = max(now.segment, len(segment)), max(now.condensed, len(short))
					}
					log, err = Open(s.Checkpoint, s.Open)
					require.NoError(t, err)
				}
				if n == 1_000 || n == 10_000 {
					at[n] = now
					summary := log.Summary()
					assert.Equal(t, []int{n, errors, dropped}, []int{summary.Decided(), summary.ConsecutiveErrors(), summary.Dropped()})
				}
			}
			t.Logf("%+v", at)
			few, many := at[1_000], at[10_000]
			for what, pair := range map[string][2]int{
				"checkpoint": {few.checkpoint, many.checkpoint}, "segment": {few.segment, many.segment},
				"condensed segment": {few.condensed, many.condensed}, "open segment": {few.open, many.open},
			} {
				assert.LessOrEqual(t, 10*pair[1], 13*pair[0], "bytes of the largest %s: %d after 1,000 iterations, %d after 10,000", what, pair[0], pair[1])
			}
		})
	}
}

// TestOutcomesInARowAreCounted folds a summary at any moments: it counts as one that was
// never folded, is short, and does not depend on when it was folded.
func TestOutcomesInARowAreCounted(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		g := inventedRuns(seed)
		kept := 2 + g.IntN(300) // one of how many
		var whole, folded Summary
		for n := range 600 {
			outcome := []Outcome{Rejected, Error, Inconclusive}[g.IntN(1+int(seed%3))]
			if g.IntN(kept) == 0 {
				outcome = Accepted
			}
			for _, b := range []*Summary{&whole, &folded} {
				b.Add(&Decided{Head: Head{Iteration: n}, Outcome: outcome})
				if n%150 == 149 && seed%2 == 0 {
					b.Add(&Resumed{})
				}
			}
			if g.IntN(20) == 0 {
				folded.foldOutcomes()
				require.LessOrEqual(t, len(folded.SinceResumed), keptAttempts)
				once := whole
				once.foldOutcomes()
				require.Equal(t, once.SinceResumed, folded.SinceResumed)
				require.Equal(t, once.Earlier, folded.Earlier)
			}
			require.Equal(t, []int{whole.ConsecutiveErrors(), whole.Dropped()}, []int{folded.ConsecutiveErrors(), folded.Dropped()}, "%d, iteration %d", seed, n)
		}
	}
}
