package history_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// TestExpensesInAnyOrder: pieces of work add up to the same, one by one, in any order and
// in any groups, and to what is counted by hand.
func TestExpensesInAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		chance := rand.New(rand.NewPCG(seed, 9))
		type piece struct {
			tokens *int64
			usd    *metric.Value
		}
		var pieces []piece
		tokens, cents, unknownTokens, unknownUSD, knownTokens, knownUSD := int64(0), int64(0), 0, 0, false, false
		for range chance.IntN(12) {
			var p piece
			if n := chance.Int64N(1000); chance.IntN(3) > 0 {
				p.tokens, tokens, knownTokens = &n, tokens+n, true
			} else {
				unknownTokens++
			}
			if n := chance.Int64N(1000); chance.IntN(3) > 0 {
				usd := metric.FromInt(n).Mul(metric.MustValue("0.01"))
				p.usd, cents, knownUSD = &usd, cents+n, true
			} else {
				unknownUSD++
			}
			pieces = append(pieces, p)
		}
		var whole history.Expense
		var groups [3]history.Expense
		for _, i := range chance.Perm(len(pieces)) {
			whole.Add(pieces[i].tokens, pieces[i].usd)
			groups[chance.IntN(3)].Add(pieces[i].tokens, pieces[i].usd)
		}
		var sum *history.Expense
		for _, i := range chance.Perm(3) {
			sum = sum.Plus(groups[i].Given())
		}
		want := map[string]any{"tokens": nil, "cost_usd": nil}
		if knownTokens {
			want["tokens"] = tokens
		}
		if knownUSD {
			want["cost_usd"] = metric.FromInt(cents).Mul(metric.MustValue("0.01"))
		}
		if unknownTokens > 0 {
			want["unknown_tokens"] = unknownTokens
		}
		if unknownUSD > 0 {
			want["unknown_usd"] = unknownUSD
		}
		text, err := json.Marshal(want)
		require.NoError(t, err)
		one, err := json.Marshal(whole)
		require.NoError(t, err)
		require.JSONEq(t, string(text), string(one), seed)
		if len(pieces) == 0 {
			require.Nil(t, sum)
			require.Nil(t, whole.Given())
			continue
		}
		other, err := json.Marshal(sum)
		require.NoError(t, err)
		require.JSONEq(t, string(text), string(other), seed)
		known, usd := sum.Known()
		require.Equal(t, tokens, known)
		require.InDelta(t, float64(cents)/100, usd, 1e-9)
	}
	tokens, usd := (*history.Expense)(nil).Known()
	assert.Zero(t, tokens)
	assert.Zero(t, usd)
}

// TestWhoDoesNotSayWhatItUsed: an agent that worked and does not say it is unknown, once an
// iteration; the built-in search costs nothing.
func TestWhoDoesNotSayWhatItUsed(t *testing.T) {
	t.Parallel()
	five := int64(5)
	usd := metric.MustValue("0.5")
	worked := map[string]float64{"propose": 1}
	decided := func(agent string, usage *metric.Usage, durations map[string]float64) history.Event {
		return &history.Decided{
			Head: history.Head{Iteration: 1}, Outcome: history.Rejected,
			Work: history.Work{Agent: agent, Usage: usage, Durations: durations},
		}
	}
	proposed := func(agent string, usage *metric.Usage) history.Event {
		return &history.Proposed{
			Head: history.Head{Iteration: 1},
			Work: history.Work{Agent: agent, Usage: usage, Durations: worked},
		}
	}
	all := &metric.Usage{InputTokens: &five, OutputTokens: &five, CostUSD: &usd}
	for name, c := range map[string]struct {
		events      []history.Event
		tokens, usd int
	}{
		"it says all":   {[]history.Event{decided("claude", all, worked)}, 0, 0},
		"nothing":       {[]history.Event{decided("claude", nil, worked)}, 1, 1},
		"nothing known": {[]history.Event{decided("claude", &metric.Usage{}, worked)}, 1, 1},
		"no cost": {[]history.Event{decided("claude",
			&metric.Usage{InputTokens: &five, OutputTokens: &five}, worked)}, 0, 1},
		"no answer's tokens": {[]history.Event{decided("claude",
			&metric.Usage{InputTokens: &five, CostUSD: &usd}, worked)}, 1, 0},
		"no prompt's tokens": {[]history.Event{decided("claude",
			&metric.Usage{OutputTokens: &five, CostUSD: &usd}, worked)}, 0, 0},
		"nobody worked": {[]history.Event{decided("claude", nil, nil)}, 0, 0},
		"it measured only": {[]history.Event{decided("claude", nil,
			map[string]float64{"measure": 3})}, 0, 0},
		"the built-in search": {[]history.Event{decided("tuner", nil, worked)}, 0, 0},
		"one of two proposals": {[]history.Event{
			proposed("codex", nil), proposed("claude", all),
			decided("claude", all, worked),
		}, 1, 1},
		"two of two proposals": {[]history.Event{
			proposed("codex", nil), proposed("codex", nil),
			decided("codex", nil, worked),
		}, 1, 1},
		"a proposal of the search": {[]history.Event{proposed("tuner", nil), decided("claude", all, worked)}, 0, 0},
		"proposals of a run before": {[]history.Event{
			proposed("codex", nil),
			&history.Started{Head: history.Head{Run: "b", Iteration: 1}}, decided("claude", all, worked),
		}, 0, 0},
		"who measured does not say": {[]history.Event{
			decided("claude", all, worked),
			&history.Checked{Head: history.Head{Iteration: 1}, Evaluation: &history.Expense{UnknownUSD: 3}},
		}, 0, 1},
		"a fix that does not say": {[]history.Event{
			decided("claude", all, worked),
			&history.Checked{
				Head: history.Head{Iteration: 1},
				Work: history.Work{Usage: &metric.Usage{}, Durations: worked},
			},
		}, 1, 1},
		"a baseline of the iteration": {[]history.Event{&history.Measured{
			Head:       history.Head{Iteration: 1},
			Evaluation: &history.Expense{UnknownTokens: 1},
		}, decided("claude", nil, worked)}, 1, 1},
		"a baseline of another": {[]history.Event{
			&history.Measured{Evaluation: &history.Expense{UnknownTokens: 1}},
			decided("claude", nil, worked),
		}, 2, 1},
		"put off": {[]history.Event{&history.Finished{
			Head:      history.Head{Iteration: 1},
			NotBefore: &noon, Work: history.Work{Agent: "claude", Durations: worked},
		}}, 0, 0},
	} {
		summary := history.Replay(c.events)
		spent := summary.Spent(time.Time{})
		assert.Equal(t, []int{c.tokens, c.usd}, []int{spent.UnknownTokens, spent.UnknownUSD}, name)
	}
}

// TestTheLeadByHand holds how the branch stands against the default branch against a sum of
// what was kept, in both directions and with any incumbents between.
func TestTheLeadByHand(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		chance := rand.New(rand.NewPCG(seed, 10))
		direction, sign := metric.Lower, int64(-1)
		if seed%2 == 0 {
			direction, sign = metric.Higher, 1
		}
		at := 100 + chance.Int64N(20)
		number := func(n int64) *metric.Value {
			v := metric.FromInt(n)
			return &v
		}
		events := []history.Event{&history.Measured{Role: history.Baseline, Metric: number(at), Direction: direction}}
		base, lead, behind := at, int64(0), false
		for n := 1; n < 15; n++ {
			switch chance.IntN(4) {
			case 0: // somebody moved the branch
				at += chance.Int64N(41) - 20
				events = append(events, &history.Measured{Role: history.Incumbent, Metric: number(at)})
				lead = sign * (at - base)
				behind = lead < 0
			case 1: // noise moved both
				by := chance.Int64N(5)
				events = append(events, &history.Decided{
					Head: history.Head{Iteration: n}, Outcome: history.Accepted,
					PreviousBest: number(at + 30), Best: number(at + 30 + sign*by),
				})
				lead += by
				at += 30 + sign*by
				behind = behind && lead <= 0
				if !behind && lead <= 0 {
					lead = 1 // better by its cost alone
				}
			default:
				events = append(events, &history.Decided{
					Head: history.Head{Iteration: n}, Outcome: history.Rejected,
					PreviousBest: number(at), Best: number(at),
				})
			}
			summary := history.Replay(events)
			kept := summary.Count(history.Accepted)
			if kept > 0 || lead != 0 {
				require.Equal(t, lead > 0, summary.Lead.Better(), "seed %d, step %d: lead %d", seed, n, lead)
			}
		}
	}
}
