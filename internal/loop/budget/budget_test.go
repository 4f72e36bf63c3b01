package budget_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/org/autoloop/tests/testrepo"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/budget"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/tests/golden"
)

// now is a Wednesday.
var now = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// records are those of iterations that ended these times ago, each with an agent
// that said what it used.
func summary(t *testing.T, usage string, ago ...time.Duration) *history.Summary {
	t.Helper()
	var lines strings.Builder
	for i, d := range ago {
		end := now.Add(-d)
		fmt.Fprintf(&lines, `{"event":"started","run_id":"r%d","time":%q,"iteration":%d}`+"\n", i,
			end.Add(-10*time.Minute).Format(time.RFC3339), i+1)
		fmt.Fprintf(&lines, `{"event":"decided","run_id":"r%d","time":%q,"iteration":%d,"outcome":"rejected",`+
			`"agent":"codex","durations":{"propose":300},"usage":%s}`+"\n",
			i, end.Format(time.RFC3339), i+1, usage)
		fmt.Fprintf(&lines, `{"event":"finished","run_id":"r%d","time":%q,"iteration":%d}`+"\n", i,
			end.Format(time.RFC3339),
			i+1)
	}
	log, err := testrepo.Ledger([]byte(lines.String()))
	require.NoError(t, err)
	sum := history.Replay(log.Events)
	return &sum
}

func stand(t *testing.T, front string, sum *history.Summary) budget.Standing {
	t.Helper()
	return standAt(t, front, sum, now)
}

func standAt(t *testing.T, front string, sum *history.Summary, now time.Time) budget.Standing {
	t.Helper()
	p := program.Parse("p.md", []byte("---\n"+front+"\n---\n## Goal\nx\n"))
	require.NoError(t, p.Err())
	return budget.Stand(p, sum, now)
}

const (
	known = `{"input_tokens":900,"output_tokens":100,"cached_tokens":null,"cost_usd":0.25,"turns":null,` +
		`"tool_calls":null}`
	tokens = `{"input_tokens":900,"output_tokens":100,"cached_tokens":null,"cost_usd":null,"turns":null,` +
		`"tool_calls":null}`
	unknown = `{"input_tokens":null,"output_tokens":null,"cached_tokens":null,"cost_usd":null,"turns":null,` +
		`"tool_calls":null}`
)

func TestStand(t *testing.T) {
	t.Parallel()
	hours := func(list ...int) (ago []time.Duration) {
		for _, h := range list {
			ago = append(ago, time.Duration(h)*time.Hour)
		}
		return ago
	}
	for name, c := range map[string]struct {
		front, usage string
		ago          []time.Duration
	}{
		"of the program": {
			"budget: {usd: 0.5, per: program}", known, hours(5000, 3),
		},
		"of an iteration": {"budget: {usd: 0.1, per: iteration}", known, hours(3)},
		"unknown, not allowed": {
			"unknown-cost: pause\nbudget: {usd: 1, per: day}", unknown, hours(3),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stand(t, c.front, summary(t, c.usage, c.ago...))
			golden.Line(t, s.Reason())
		})
	}
}

func TestLeft(t *testing.T) {
	t.Parallel()
	used := summary(t, known, 3*time.Hour, 30*time.Hour)
	for front, want := range map[string]budget.Left{
		"":                                 {},
		"budget: {tokens: 3000, per: day}": {Tokens: 2000},
		"budget: [{usd: 1, per: day}, {usd: 0.1, per: iteration}]":    {USD: 0.1},
		"budget: [{usd: 1, per: month}, {usd: 9, per: iteration}]":    {USD: 0.5},
		"budget: [{minutes: 15, per: day}, {tokens: 10, per: month}]": {Tokens: 1, Time: 5 * time.Minute},
		"budget: {iterations: 5, per: day}":                           {},
	} {
		assert.Equal(t, want, stand(t, front, used).Left, front)
	}
}

// TestSpansRollOver: a budget begins anew at midnight UTC, whatever the clock's
// zone is, and not a second earlier.
func TestSpansRollOver(t *testing.T) {
	t.Parallel()
	west := time.FixedZone("west", -5*3600)
	for name, c := range map[string]struct {
		per       string
		last, now time.Time
		until     string // "" when it may go on
	}{
		"last second of a day": {
			"day", utc(2026, 3, 4, 0, 0, 0), utc(2026, 3, 4, 23, 59, 59),
			"2026-03-05T00:00:00Z",
		},
		"first second of the day":    {"day", utc(2026, 3, 4, 23, 59, 59), utc(2026, 3, 5, 0, 0, 0), ""},
		"another zone, the next day": {"day", utc(2026, 3, 4, 23, 0, 0), time.Date(2026, 3, 4, 19, 0, 0, 0, west), ""},
		"Sunday": {
			"week", utc(2026, 3, 2, 0, 0, 0), utc(2026, 3, 8, 23, 59, 59),
			"2026-03-09T00:00:00Z",
		},
		"Monday":                 {"week", utc(2026, 3, 8, 23, 59, 59), utc(2026, 3, 9, 0, 0, 0), ""},
		"first day of the year":  {"month", utc(2026, 12, 31, 23, 59, 59), utc(2027, 1, 1, 0, 0, 0), ""},
		"a clock that went back": {"day", utc(2026, 3, 9, 12, 0, 0), utc(2026, 3, 4, 12, 0, 0), "2026-03-05T00:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := standAt(t, "budget: {iterations: 1, per: "+c.per+"}", summary(t, known, now.Sub(c.last)), c.now)
			if c.until == "" {
				assert.Empty(t, s.Reason())
				return
			}
			assert.Equal(t, c.until, s.Until.Format(time.RFC3339), s.Reason())
		})
	}
}

func utc(year, month, day, hour, minute, second int) time.Time {
	return time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
}

// TestLeastRemainderMayBegin: with the least left an iteration may begin, and with nothing
// left none.
func TestLeastRemainderMayBegin(t *testing.T) {
	t.Parallel()
	used := summary(t, known, 3*time.Hour)
	for front, may := range map[string]bool{
		"budget: {tokens: 1001, per: day}": true, "budget: {tokens: 1000, per: day}": false,
		"budget: {usd: 0.2501, per: day}": true, "budget: {usd: 0.25, per: day}": false,
		"budget: {minutes: 10.001, per: day}": true, "budget: {minutes: 10, per: day}": false,
		"budget: {iterations: 2, per: day}": true, "budget: {iterations: 1, per: day}": false,
	} {
		s := stand(t, front, used)
		assert.Equal(t, may, s.Reason() == "", "%s: %s", front, s.Reason())
	}
	s := stand(t, "budget: [{tokens: 1001, per: day}, {usd: 0.2501, per: week}]", used)
	assert.Equal(t, int64(1), s.Left.Tokens)
	assert.InDelta(t, 0.0001, s.Left.USD, 1e-9)
}

func TestWaits(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]bool{
		-time.Second: false, 0: false, time.Second: true, budget.LongestWait: true,
		budget.LongestWait + time.Second: false,
	} {
		assert.Equal(t, want, budget.Waits(now.Add(wait), now), wait.String())
	}
}

// TestTunerIsFree: an iteration without a model has no unknown cost.
func TestTunerIsFree(t *testing.T) {
	t.Parallel()
	line := `{"event":"decided","run_id":"r","time":"2026-03-04T10:00:00Z","iteration":1,"outcome":"rejected",` +
		`"agent":"tuner","durations":{"propose":1},"usage":` + unknown + "}\n"
	log, err := testrepo.Ledger([]byte(line))
	require.NoError(t, err)
	sum := history.Replay(log.Events)
	assert.Empty(t, stand(t, "unknown-cost: pause\nbudget: {tokens: 1000, usd: 1, per: day}", &sum).Over)
}

func TestAfter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		left   budget.Left
		tokens int64
		usd    float64
		want   budget.Left
		over   string
	}{
		{budget.Left{}, 1 << 40, 1e9, budget.Left{}, ""},
		{budget.Left{Tokens: 100, USD: 1}, 40, 0.25, budget.Left{Tokens: 60, USD: 0.75}, ""},
		{budget.Left{Tokens: 100}, 100, 9, budget.Left{}, "100 of the 100 tokens that were left"},
		{budget.Left{USD: 1}, 9, 1.5, budget.Left{USD: -0.5}, "1.50 of the 1.00 USD that were left"},
		{budget.Left{Tokens: 5, Time: time.Minute}, 0, 0, budget.Left{Tokens: 5, Time: time.Minute}, ""},
	} {
		rest, over := c.left.After(c.tokens, c.usd)
		assert.Equal(t, c.want, rest)
		assert.Equal(t, c.over, over)
	}
}

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
		left.Bound(program.Budget{USD: c.bound}, history.Spent{USD: c.spent, Tokens: 100, Minutes: 100})
		assert.Equal(t, budget.Left{Tokens: 7, Time: time.Minute, USD: c.want}, left, "%+v", c)
	}
}
