package render_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/tests/long"
)

// TestALongLedgerIsShownLikeAShortOne: issue and pull request are the same, whether the
// whole ledger is there or what is shown of its sealed segments.
func TestALongLedgerIsShownLikeAShortOne(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			chance := rand.New(rand.NewPCG(seed, 9))
			kept := 2 + chance.IntN(60) // one of how many
			p := program.Parse("p.md", []byte("---\nmetric_direction: lower\n---\n## Target\n`a`\n## Evaluation\n```sh\ntrue\n```\n"))
			log, err := history.Parse(nil)
			require.NoError(t, err)
			var whole []history.Event
			at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			best, incumbent, compared := int64(1_000_000), "base", 0
			for n := range 900 {
				number := n + 1
				at = at.Add(time.Hour)
				is := history.Head{Run: fmt.Sprintf("%d-1", number), Time: at, Iteration: number}
				value := metric.FromInt(best + int64(chance.IntN(100)))
				was := metric.FromInt(best)
				events := []history.Event{&history.Started{Head: is, Lease: &history.Lease{Host: "h"}}}
				if n == 0 {
					events = append(events, &history.Measured{Head: is, Role: history.Baseline, Metric: &was, Samples: []metric.Value{was}, Evaluator: "e", Definition: "d", Direction: metric.Lower, Commit: "base", BaseBranch: "main"})
				}
				decided := &history.Decided{Head: is, Outcome: history.Rejected, Metric: &value, Best: &was, PreviousBest: &was, Evaluator: "e", Definition: "d", Parent: incumbent, Delta: "+3", Reasons: []string{"it is worse"}, Work: history.Work{Agent: "a", Summary: fmt.Sprintf("try %d", number)}}
				if chance.IntN(kept) == 0 {
					best -= int64(1 + chance.IntN(50))
					better := metric.FromInt(best)
					incumbent = fmt.Sprintf("%040x", number)
					decided.Outcome, decided.Metric, decided.Best, decided.Commit = history.Accepted, &better, &better, incumbent
					if chance.IntN(2) == 0 {
						waiting := *decided
						waiting.Outcome = history.PendingCI
						if events = append(events, &waiting); chance.IntN(4) == 0 {
							decided.Outcome, decided.Best, decided.Commit = history.CIFixExhausted, &was, ""
						}
					}
				}
				events = append(events, decided, &history.Finished{Head: is, Outcome: decided.Outcome})
				switch chance.IntN(40) {
				case 0:
					events = append(events, &history.Set{Head: is, Key: history.PullNumber, Value: fmt.Sprint(number)})
				case 1:
					events = append(events, &history.Set{Head: is, Key: history.PullEnded, Value: fmt.Sprint(number), Commit: incumbent})
				case 2:
					events = append(events, &history.Paused{Head: is, Reason: "rest"}, &history.Resumed{Head: is})
				}
				log = grown(t, log, events)
				whole = append(whole, events...)
				if number%25 != 0 {
					continue
				}
				shown, err := log.Checkpoint().Shown()
				require.NoError(t, err)
				sum := log.Summary()
				all := history.Replay(whole)
				a := render.Account{Program: p, Events: whole, Past: &all, RunURL: "https://example.com/runs/1"}
				b := render.Account{Program: p, Events: append(shown, log.Events...), Past: &sum, RunURL: a.RunURL, Left: log.Checkpoint().Lines - len(shown)}
				require.Equal(t, len(whole), b.Left+len(b.Events), "places in the ledger")
				require.Equal(t, render.Pull(a, 3), render.Pull(b, 3), "iteration %d", number)
				require.Equal(t, render.Status(a), render.Status(b), "iteration %d", number)
				require.Equal(t, a.PullMark(), b.PullMark())
				require.Equal(t, a.EverKept(), b.EverKept())
				one, other := a.Kept(), b.Kept()
				require.Equal(t, one == nil, other == nil)
				if one != nil {
					require.Equal(t, one.Iteration, other.Iteration)
				}
				if b.Left > 0 {
					compared++
				}
			}
			require.Greater(t, compared, 20)
		})
	}
}

// TestTheFirstKeptIsTurnedDownByCI: the only change that was ever put onto the branch
// was taken off by CI, long ago.
func TestTheFirstKeptIsTurnedDownByCI(t *testing.T) {
	p := program.Parse("p.md", []byte("---\nmetric_direction: lower\n---\n## Target\n`a`\n## Evaluation\n```sh\ntrue\n```\n"))
	log, err := history.Parse(nil)
	require.NoError(t, err)
	var whole []history.Event
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	was := metric.FromInt(1000)
	for number := 1; number <= 400; number++ {
		at = at.Add(time.Hour)
		is := history.Head{Run: fmt.Sprintf("%d-1", number), Time: at, Iteration: number}
		value := metric.FromInt(1001)
		events := []history.Event{&history.Started{Head: is, Lease: &history.Lease{Host: "h"}}}
		if number == 1 {
			events = append(events, &history.Measured{Head: is, Role: history.Baseline, Metric: &was, Samples: []metric.Value{was}, Evaluator: "e", Definition: "d", Direction: metric.Lower, Commit: "base", BaseBranch: "main"})
		}
		d := &history.Decided{Head: is, Outcome: history.Rejected, Metric: &value, Best: &was, PreviousBest: &was, Evaluator: "e", Definition: "d", Parent: "base", Delta: "+1", Reasons: []string{"it is worse"}, Work: history.Work{Agent: "a", Summary: fmt.Sprintf("try %d", number)}}
		if number == 5 {
			better := metric.FromInt(900)
			d.Metric, d.Best, d.Commit, d.Outcome = &better, &better, "c5", history.PendingCI
			events = append(events, d)
			e := *d
			e.Outcome, e.Best, e.Commit = history.CIFixExhausted, &was, ""
			d = &e
		}
		events = append(events, d, &history.Finished{Head: is, Outcome: d.Outcome})
		log = grown(t, log, events)
		whole = append(whole, events...)
	}
	shown, err := log.Checkpoint().Shown()
	require.NoError(t, err)
	sum := log.Summary()
	all := history.Replay(whole)
	a := render.Account{Program: p, Events: whole, Past: &all}
	b := render.Account{Program: p, Events: append(shown, log.Events...), Past: &sum, Left: log.Checkpoint().Lines - len(shown)}
	assert.Equal(t, a.Kept() == nil, b.Kept() == nil, "kept")
	assert.Equal(t, a.Leads(), b.Leads(), "leads")
	assert.Equal(t, a.PullMark(), b.PullMark())
	assert.Equal(t, render.Pull(a, 3), render.Pull(b, 3))
	assert.Equal(t, render.Status(a), render.Status(b))
}

// grown is a ledger with more events, sealed where that is worth it.
func grown(t *testing.T, log *history.Log, events []history.Event) *history.Log {
	t.Helper()
	require.NoError(t, log.Append(events...))
	s, err := log.Seal()
	require.NoError(t, err)
	if s == nil {
		return log
	}
	log, err = history.Open(s.Checkpoint, s.Open)
	require.NoError(t, err)
	return log
}
