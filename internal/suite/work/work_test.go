package work_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/work"
)

func usd(text string) *metric.Value {
	if text == "" {
		return nil
	}
	return new(metric.MustValue(text))
}

// used is what one agent used; nil tokens and no money are unknown.
type used struct {
	tokens *int64
	usd    string
}

func TestBudgetsAreReachedExactly(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	known := used{new(int64(100)), "0.1"}
	for name, c := range map[string]struct {
		used   []used
		took   time.Duration
		budget work.Budget
		says   string
	}{
		"no budget":   {[]used{known, {}}, time.Hour, work.Budget{UnknownCostPauses: true}, ""},
		"a cent left": {[]used{known, known, known}, 0, work.Budget{USD: usd("0.31")}, ""},
		"three tenths are three tenths": {
			[]used{known, known, known},
			0,
			work.Budget{USD: usd("0.3")},
			"the budget of 0.3 USD is used up",
		},
		"a budget of nothing": {nil, 0, work.Budget{USD: usd("0")}, "the budget of 0 USD is used up"},
		"a token left":        {[]used{known}, 0, work.Budget{Tokens: 101}, ""},
		"no token left": {
			[]used{known},
			0,
			work.Budget{Tokens: 100},
			"the budget of 100 tokens is used up",
		},
		"a moment left": {nil, time.Minute - 1, work.Budget{Time: time.Minute}, ""},
		"no moment left": {
			nil, time.Minute,
			work.Budget{Time: time.Minute},
			"the budget of 1m0s is used up",
		},
		"unknown, and nobody minds": {[]used{{}}, 0, work.Budget{Tokens: 1}, ""},
		"unknown, and that is minded": {
			[]used{{}},
			0,
			work.Budget{Tokens: 1, UnknownCostPauses: true},
			"the agent does not say what it costs",
		},
		"unknown beside a budget of time": {[]used{{}}, 0, work.Budget{Time: time.Hour, UnknownCostPauses: true}, ""},
		"money alone is known": {
			[]used{{nil, "0.1"}},
			0,
			work.Budget{USD: usd("1"), UnknownCostPauses: true},
			"",
		},
		"tokens alone are known": {
			[]used{{new(int64(1)), ""}},
			0,
			work.Budget{USD: usd("1"), UnknownCostPauses: true},
			"",
		},
		"nearly all the money": {[]used{{nil, "0.99999"}}, 0, work.Budget{USD: usd("1")}, ""},
		"a free model":         {[]used{{nil, "0"}}, 0, work.Budget{USD: usd("1")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spent := work.Spending{Budget: c.budget, Begun: begun}
			for _, one := range c.used {
				spent.Worked(one.tokens, usd(one.usd))
			}
			spent.Judged(nil, nil) // what a judge does not say is no reason to stop
			err := spent.Over(begun.Add(c.took))
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.says)
		})
	}
}

// TestRemainingBudget is what the next agent may use; 0 would be no bound.
func TestRemainingBudget(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		budget work.Budget
		used   used
		tokens int64
		usd    string
	}{
		"no budget":             {work.Budget{Time: time.Hour}, used{new(int64(500)), "5"}, 0, ""},
		"nothing used":          {work.Budget{Tokens: 100, USD: usd("1")}, used{new(int64(0)), "0"}, 100, "1"},
		"some used":             {work.Budget{Tokens: 100, USD: usd("1")}, used{new(int64(60)), "0.25"}, 40, "0.75"},
		"all tokens":            {work.Budget{Tokens: 100}, used{new(int64(100)), ""}, 1, ""},
		"more tokens than that": {work.Budget{Tokens: 100}, used{new(int64(150)), ""}, 1, ""},
		"all the money":         {work.Budget{USD: usd("1")}, used{nil, "1.0"}, 0, "0.0001"},
		"nearly all the money":  {work.Budget{USD: usd("1")}, used{nil, "0.99999"}, 0, "0.0001"},
		"unknown":               {work.Budget{Tokens: 100, USD: usd("1")}, used{}, 100, "1"},
	} {
		spent := work.Spending{Budget: c.budget}
		spent.Worked(c.used.tokens, usd(c.used.usd))
		tokens, left := spent.Left()
		assert.Equal(t, c.tokens, tokens, name)
		if c.usd == "" {
			assert.Nil(t, left, name)
		} else if assert.NotNil(t, left, name) {
			assert.Equal(t, c.usd, left.String(), name)
		}
	}
}

// TestEach: as many at the same time as there are jobs, in their order; after an error, or
// when one may not begin, no further one does, and each reason is said once.
func TestEach(t *testing.T) {
	t.Parallel()
	units := []int{0, 1, 2, 3, 4, 5, 6, 7}
	var now, most, done atomic.Int64
	always := func(int) error { return nil }
	require.NoError(t, work.Each(t.Context(), 3, units, always, func(context.Context, int) error {
		for n := now.Add(1); n > most.Load(); {
			most.Store(n)
		}
		time.Sleep(time.Millisecond)
		now.Add(-1)
		done.Add(1)
		return nil
	}))
	assert.EqualValues(t, 8, done.Load())
	assert.LessOrEqual(t, most.Load(), int64(3))

	broken := errors.New("broken")
	var begun []int
	err := work.Each(t.Context(), 1, units, always, func(_ context.Context, u int) error {
		if begun = append(begun, u); u == 2 {
			return broken
		}
		return nil
	})
	require.ErrorIs(t, err, broken)
	assert.Equal(t, []int{0, 1, 2}, begun)
	err = work.Each(t.Context(), 1, units, func(u int) error {
		if u == 1 {
			return broken
		}
		return nil
	}, func(context.Context, int) error { return nil })
	require.EqualError(t, err, "broken")

	ctx, stop := context.WithCancelCause(t.Context())
	stop(broken)
	require.ErrorIs(t, work.Each(ctx, 2, units, always, func(context.Context, int) error { return nil }), broken)
	assert.Len(t, work.Once([]error{nil, broken, errors.New("other"), errors.New("broken")}), 2)
}
