package evalrun

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/tests/golden"
)

// spending reads a budget and what was used of it: its words are `$` money, `t` tokens, a time, and whether
// an unknown cost pauses; after a semicolon each stand what one agent used, money and tokens, "-" for neither.
func spending(t *testing.T, text string) *Spending {
	t.Helper()
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	spent := &Spending{Begun: begun}
	for i, part := range strings.Split(text, ";") {
		var tokens *int64
		var usd *metric.Value
		for word := range strings.FieldsSeq(part) {
			switch {
			case word[0] == '$':
				usd = new(metric.MustValue(word[1:]))
			case word == "pauses":
				spent.UnknownCostPauses = true
			case word[0] == 't':
				n, err := strconv.ParseInt(word[1:], 10, 64)
				require.NoError(t, err)
				tokens = &n
			case word != "-":
				var err error
				spent.Time, err = time.ParseDuration(word)
				require.NoError(t, err)
			}
		}
		if i > 0 {
			spent.Add(metric.Usage{InputTokens: tokens, CostUSD: usd}, false)
			continue
		}
		if spent.CostUSD = usd; tokens != nil {
			spent.Tokens = *tokens
		}
	}
	spent.Add(metric.Usage{}, true) // what a judge does not say is no reason to stop
	return spent
}

func TestBudgetsAreReachedExactly(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{ // after a minute
		"no budget":                       "pauses; $0.1 t100; - =>",
		"a cent left":                     "$0.31; $0.1; $0.1; $0.1 =>",
		"three tenths are three tenths":   "$0.3; $0.1; $0.1; $0.1",
		"a budget of nothing":             "$0",
		"a token left":                    "t101; t100 =>",
		"no token left":                   "t100; t100",
		"a moment left":                   "1m0.000000001s =>",
		"no moment left":                  "1m",
		"unknown, and nobody minds":       "t1; - =>",
		"unknown, and that is minded":     "t1 pauses; -",
		"unknown beside a budget of time": "1h pauses; - =>",
		"money alone is known":            "$1 pauses; $0.1 =>",
		"tokens alone are known":          "$1 pauses; t1 =>",
		"nearly all the money":            "$1; $0.99999 =>",
		"a free model":                    "$1; $0 =>",
	}, func(t *testing.T, input string) any {
		t.Helper()
		spent := spending(t, input)
		if err := spent.Over(spent.Begun.Add(time.Minute)); err != nil {
			var none *NoResultError
			require.ErrorAs(t, err, &none)
			assert.Equal(t, suite.BudgetUsedUp, none.What)
			return err
		}
		return ""
	})
}

// TestRemainingBudget is what the next agent may use; 0 would be no bound.
func TestRemainingBudget(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{
		"no budget":             "1h; t500 $5 => 0 -",
		"nothing used":          "t100 $1; t0 $0 => 100 1",
		"some used":             "t100 $1; t60 $0.25 => 40 0.75",
		"all tokens":            "t100; t100 => 1 -",
		"more tokens than that": "t100; t150 => 1 -",
		"all the money":         "$1; $1.0 => 0 0.0001",
		"nearly all the money":  "$1; $0.99999 => 0 0.0001",
		"unknown":               "t100 $1; - => 100 1",
	}, func(t *testing.T, input string) any {
		t.Helper()
		left := spending(t, input).Left()
		if left.CostUSD == nil {
			return fmt.Sprint(left.Tokens, " -")
		}
		return fmt.Sprint(left.Tokens, " ", left.CostUSD)
	})
}

// TestEach: as many at the same time as there are jobs, in their order; after an error no
// further one begins.
func TestEach(t *testing.T) {
	t.Parallel()
	var now, most, done atomic.Int64
	require.NoError(t, Each(t.Context(), 3, 8, func(int) error {
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
	err := Each(t.Context(), 1, 8, func(u int) error {
		if begun = append(begun, u); u == 2 {
			return broken
		}
		return nil
	})
	require.ErrorIs(t, err, broken)
	assert.Equal(t, []int{0, 1, 2}, begun)
	ctx, stop := context.WithCancelCause(t.Context())
	stop(broken)
	require.ErrorIs(t, Each(ctx, 2, 8, func(int) error { return nil }), broken)
}
