package budget_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/budget"
	"github.com/org/autoloop/tests/golden"
)

// TestVeryLargeBudgetIsNoBound: however large a limit is, it leaves no less than a
// smaller one.
func TestVeryLargeBudgetIsNoBound(t *testing.T) {
	t.Parallel()
	var last budget.Left
	for _, limit := range []string{"11", "1000000", "153722867", "153722868", "999999999", "1000000000000", "1e300"} {
		s := stand(t, "budget: {minutes: "+limit+", usd: "+limit+", per: program}",
			summary(t, known, time.Hour))
		require.Empty(t, s.Reason(), limit)
		require.GreaterOrEqual(t, s.Left.Time, last.Time, limit)
		require.GreaterOrEqual(t, s.Left.USD, last.USD, limit)
		last = s.Left
	}
}

// TestReasons: who reads why a program rests learns which limit it was and what helps.
func TestReasons(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		front, usage string
	}{
		"the first limit of a budget that is reached": {
			"budget: {iterations: 2, tokens: 2000, usd: 0.5, minutes: 20, per: day}", known,
		},
		"what is known is first": {
			"unknown-cost: pause\nbudget: {usd: 1, minutes: 20, per: day}", unknown,
		},
		"an unknown number of tokens": {
			"unknown-cost: pause\nbudget: {tokens: 9, per: week}", unknown,
		},
		"unknown of one iteration is no limit of it": {
			"unknown-cost: pause\nbudget: {usd: 9, tokens: 9, per: iteration}",
			unknown,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stand(t, c.front, summary(t, c.usage, 3*time.Hour, 2*time.Hour))
			golden.Line(t, s.Reason())
		})
	}
}

// TestUsedOfEachLimit: a limit that is not given has no line, and what is not
// known of a sum is said.
func TestUsedOfEachLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		front, usage string
		want         []budget.Used
	}{
		"no budget": {"", known, nil},
		"more than all": {
			"budget: {tokens: 800, per: day}", known,
			[]budget.Used{{Text: "1000 of 800 tokens this day", Share: 1.25}},
		},
		"unknown": {"budget: {tokens: 8, usd: 2, iterations: 2, per: program}", unknown, []budget.Used{
			{Text: "1 of 2 iterations in all", Share: 0.5},
			{Text: "at least 0 of 8 tokens in all"},
			{Text: "at least 0.00 of 2.00 USD in all"},
		}},
		"unknown in part": {"budget: {tokens: 2000, usd: 2, per: week}", tokens, []budget.Used{
			{Text: "1000 of 2000 tokens this week", Share: 0.5}, {Text: "at least 0.00 of 2.00 USD this week"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, stand(t, c.front, summary(t, c.usage, time.Hour)).Used)
		})
	}
}

// TestBoundOfProcess only lowers what the budgets leave, and only of money.
func TestBoundOfProcess(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		left  budget.Left
		bound float64
		spent float64
		want  float64
	}{
		{budget.Left{}, 0, 3, 0},
		{budget.Left{USD: 2}, 0, 3, 2},
		{budget.Left{}, 5, 3, 2},
		{budget.Left{USD: 4}, 5, 3, 2},
		{budget.Left{USD: 4}, 5, 5, 0.0001},
	} {
		left := c.left
		left.Tokens, left.Time = 7, time.Minute
		left.Bound(c.bound, history.Spent{USD: c.spent, Tokens: 100, Minutes: 100})
		assert.Equal(t, budget.Left{Tokens: 7, Time: time.Minute, USD: c.want}, left, "%+v", c)
	}
}
