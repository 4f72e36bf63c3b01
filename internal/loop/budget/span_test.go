package budget_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/budget"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
)

// begins says whether a span begins with a day, in UTC.
var begins = map[program.Span]func(day time.Time) bool{
	program.PerDay:   func(time.Time) bool { return true },
	program.PerWeek:  func(day time.Time) bool { return day.Weekday() == time.Monday },
	program.PerMonth: func(day time.Time) bool { return day.Day() == 1 },
}

// spanOf looks for the span of a moment day by day.
func spanOf(at time.Time, per program.Span) (from, until time.Time) {
	day := at.UTC().Truncate(24 * time.Hour)
	for from = day; !begins[per](from); {
		from = from.Add(-24 * time.Hour)
	}
	for until = day.Add(24 * time.Hour); !begins[per](until); {
		until = until.Add(24 * time.Hour)
	}
	return from, until
}

// TestASpanIsThatOfTheCalendar: at any moment, in any zone, an iteration counts when it
// ended in the present span or later, and the budget begins anew with the next.
func TestASpanIsThatOfTheCalendar(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(1, 2))
	for range 600 {
		zone := time.FixedZone("somewhere", chance.IntN(26*3600)-12*3600)
		at := time.Unix(1_700_000_000+chance.Int64N(4e8), 0).In(zone)
		for per := range begins {
			from, until := spanOf(at, per)
			for _, ended := range []time.Time{
				from, from.Add(-time.Second), until.Add(-time.Second), until, at, at.Add(time.Duration(chance.IntN(80*24)-40*24) * time.Hour),
			} {
				sum := &history.Summary{Attempts: []history.Attempt{{Iteration: 1, Time: ended.In(zone)}}}
				s := budget.Stand(&program.Program{Budgets: []program.Budget{{Iterations: 1, Per: per}}}, sum, at)
				says := fmt.Sprintf("per %s at %s, ended at %s", per, at, ended)
				require.Equal(t, !ended.Before(from), s.Over != "", says)
				if s.Over == "" {
					require.True(t, s.Until.IsZero(), says)
					continue
				}
				require.Equal(t, until, s.Until, says)
				require.Equal(t, "1 of 1 iterations used this "+string(per), s.Over, says)
			}
		}
	}
}

// spentBy is what so many iterations used that each used as much.
func spentBy(iterations int, tokens int64, usd string, took time.Duration) *history.Summary {
	cost := metric.MustValue(usd)
	var sum history.Summary
	for i := range iterations {
		sum.Attempts = append(sum.Attempts, history.Attempt{
			Iteration: i + 1, Time: now.Add(-time.Minute), Took: took, Usage: &metric.Usage{InputTokens: &tokens, OutputTokens: new(int64), CostUSD: &cost},
			Agent: "codex", Durations: map[string]float64{"propose": 1},
		})
	}
	return &sum
}

// TestTheOrderOfBudgetsIsNoMatter: whichever comes first, the same is used up, until
// the same time, and the same is left.
func TestTheOrderOfBudgetsIsNoMatter(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(5, 7))
	spans := []program.Span{program.PerDay, program.PerWeek, program.PerMonth, program.PerProgram, program.PerIteration}
	stopped := 0
	for range 400 {
		budgets := make([]program.Budget, 1+chance.IntN(4))
		for i := range budgets {
			budgets[i] = program.Budget{Per: spans[chance.IntN(len(spans))]}
			switch chance.IntN(4) {
			case 0:
				budgets[i].Iterations = 1 + chance.IntN(8)
			case 1:
				budgets[i].Tokens = int64(1 + chance.IntN(800))
			case 2:
				budgets[i].USD = float64(1+chance.IntN(8)) / 4
			case 3:
				budgets[i].Minutes = float64(1 + chance.IntN(80))
			}
		}
		sum := spentBy(chance.IntN(6), 100, "0.25", 10*time.Minute)
		p := &program.Program{Budgets: budgets}
		want := budget.Stand(p, sum, now)
		if want.Over != "" {
			stopped++
		}
		texts := func(s budget.Standing) []string {
			var list []string
			for _, used := range s.Used {
				list = append(list, used.Text)
			}
			slices.Sort(list)
			return list
		}
		chance.Shuffle(len(budgets), func(i, j int) { budgets[i], budgets[j] = budgets[j], budgets[i] })
		got := budget.Stand(p, sum, now)
		require.Equal(t, want.Over == "", got.Over == "", "%+v", budgets)
		require.Equal(t, want.Until, got.Until, "%+v", budgets)
		require.Equal(t, want.Left, got.Left, "%+v", budgets)
		require.Equal(t, texts(want), texts(got), "%+v", budgets)
	}
	assert.Greater(t, stopped, 100)
	assert.Less(t, stopped, 300)
}

// TestWhatIsLeftIsTheLeastOfAllBudgets, and never nothing, which would be no bound.
func TestWhatIsLeftIsTheLeastOfAllBudgets(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(3, 4))
	for range 400 {
		iterations := chance.IntN(5)
		sum := spentBy(iterations, 100, "0.25", 10*time.Minute)
		var budgets []program.Budget
		tokens, usd, minutes := math.Inf(1), math.Inf(1), math.Inf(1)
		for range 1 + chance.IntN(3) {
			b := program.Budget{Per: program.PerDay, Tokens: int64(1 + chance.IntN(900)), USD: float64(1+chance.IntN(9)) / 4, Minutes: float64(1 + chance.IntN(90))}
			used := float64(iterations)
			if chance.IntN(3) == 0 {
				b.Per, used = program.PerIteration, 0
			}
			budgets = append(budgets, b)
			tokens = min(tokens, float64(b.Tokens)-used*100)
			usd = min(usd, b.USD-used*0.25)
			minutes = min(minutes, b.Minutes-used*10)
		}
		left := budget.Stand(&program.Program{Budgets: budgets}, sum, now).Left
		require.InDelta(t, max(tokens, 1), float64(left.Tokens), 0, "%+v", budgets)
		require.InDelta(t, max(usd, 0.0001), left.USD, 1e-12, "%+v", budgets)
		require.InDelta(t, max(minutes*60, 1), left.Time.Seconds(), 1e-6, "%+v", budgets)
	}
}

// TestAVeryLargeBudgetIsNoBound: however large a limit is, it leaves no less than a
// smaller one.
func TestAVeryLargeBudgetIsNoBound(t *testing.T) {
	t.Parallel()
	var last budget.Left
	for _, limit := range []string{"1", "1000000", "153722867", "153722868", "999999999", "1000000000000", "1e300"} {
		s := stand(t, "budget: {minutes: "+limit+", usd: "+limit+", per: program}", spentBy(1, 100, "0.25", 10*time.Second))
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
		front, usage, want string
	}{
		"the first limit of a budget that is reached": {
			"budget: {iterations: 2, tokens: 2000, usd: 0.5, minutes: 20, per: day}", known, "budget: 2 of 2 iterations used this day; it resumes at 2026-03-05T00:00:00Z",
		},
		"tokens before money":    {"budget: {iterations: 3, tokens: 2000, usd: 0.5, per: day}", known, "budget: 2000 of 2000 tokens used this day; it resumes at 2026-03-05T00:00:00Z"},
		"money before minutes":   {"budget: {usd: 0.5, minutes: 20, per: day}", known, "budget: 0.50 of 0.50 USD used this day; it resumes at 2026-03-05T00:00:00Z"},
		"more than all of it":    {"budget: {usd: 0.3, per: day}", known, "budget: 0.50 of 0.30 USD used this day; it resumes at 2026-03-05T00:00:00Z"},
		"what is known is first": {"unknown-cost: pause\nbudget: {usd: 1, minutes: 20, per: day}", unknown, "budget: 20 of 20 minutes used this day; it resumes at 2026-03-05T00:00:00Z"},
		"an unknown number of tokens": {
			"unknown-cost: pause\nbudget: {tokens: 9, per: week}", unknown,
			"budget: an unknown number of tokens (2 iterations, unknown-cost: pause) used this week; it resumes at 2026-03-09T00:00:00Z",
		},
		"an unknown cost of the program": {
			"unknown-cost: pause\nbudget: {usd: 9, per: program}", unknown,
			"budget: an unknown amount of USD (2 iterations, unknown-cost: pause) used by this program; raise the limit to go on",
		},
		"an unknown cost for the longer time": {
			"unknown-cost: pause\nbudget: [{iterations: 2, per: day}, {usd: 9, per: week}]", unknown,
			"budget: an unknown amount of USD (2 iterations, unknown-cost: pause) used this week; it resumes at 2026-03-09T00:00:00Z",
		},
		"a known cost for the longer time": {
			"unknown-cost: pause\nbudget: [{usd: 9, per: day}, {iterations: 2, per: week}]", unknown,
			"budget: 2 of 2 iterations used this week; it resumes at 2026-03-09T00:00:00Z",
		},
		"unknown of one iteration is no limit of it": {"unknown-cost: pause\nbudget: {usd: 9, tokens: 9, per: iteration}", unknown, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stand(t, c.front, summary(t, c.usage, 3*time.Hour, 2*time.Hour))
			assert.Equal(t, c.want, s.Reason())
		})
	}
}

// TestWhatIsUsedOfEachLimit: a limit that is not given has no line, and what is not
// known of a sum is said.
func TestWhatIsUsedOfEachLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		front, usage string
		want         []budget.Used
	}{
		"no budget":        {"", known, nil},
		"per iteration":    {"budget: {usd: 1, per: iteration}", known, nil},
		"more than all":    {"budget: {tokens: 800, per: day}", known, []budget.Used{{Text: "1000 of 800 tokens this day", Share: 1.25}}},
		"a limit of parts": {"budget: {minutes: 0.5, per: month}", known, []budget.Used{{Text: "10 of 0.5 minutes this month", Share: 20}}},
		"unknown": {"budget: {tokens: 8, usd: 2, iterations: 2, per: program}", unknown, []budget.Used{
			{Text: "1 of 2 iterations in all", Share: 0.5}, {Text: "at least 0 of 8 tokens in all"}, {Text: "at least 0.00 of 2.00 USD in all"},
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

// TestABoundOfTheProcess only lowers what the budgets leave, and only of money.
func TestABoundOfTheProcess(t *testing.T) {
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
		{budget.Left{USD: 1}, 5, 3, 1},
		{budget.Left{USD: 4}, 5, 3, 2},
		{budget.Left{USD: 4}, 5, 5, 0.0001},
		{budget.Left{}, 5, 9, 0.0001},
	} {
		left := c.left
		left.Tokens, left.Time = 7, time.Minute
		left.Bound(c.bound, history.Spent{USD: c.spent, Tokens: 100, Minutes: 100})
		assert.Equal(t, budget.Left{Tokens: 7, Time: time.Minute, USD: c.want}, left, "%+v", c)
	}
}

// TestAfterIsAPartOfWhatIsLeft: what is used in two steps leaves what is used at once
// does, and it is used up when nothing of a bound is left.
func TestAfterIsAPartOfWhatIsLeft(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(9, 1))
	for range 300 {
		left := budget.Left{Tokens: int64(chance.IntN(3)) * 50, USD: float64(chance.IntN(3)) * 4, Time: time.Duration(chance.IntN(2)) * time.Hour}
		tokens, usd := int64(chance.IntN(70)), float64(chance.IntN(7))
		more, dearer := int64(chance.IntN(70)), float64(chance.IntN(7))
		once, over := left.After(tokens+more, usd+dearer)
		rest, first := left.After(tokens, usd)
		require.Equal(t, left.Time, once.Time)
		if first != "" {
			continue // nothing begins then
		}
		twice, second := rest.After(more, dearer)
		require.Equal(t, once, twice)
		require.Equal(t, over == "", second == "")
		nothing := left.Tokens > 0 && left.Tokens <= tokens+more || left.USD > 0 && left.USD <= usd+dearer
		require.Equal(t, nothing, over != "", "%+v after %d tokens and %g USD", left, tokens+more, usd+dearer)
		if over != "" {
			require.True(t, strings.HasSuffix(over, " that were left"), over)
		}
	}
}
