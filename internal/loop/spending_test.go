package loop

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/budget"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/tests/golden"
)

// agentNamed is an agent that is only named.
type agentNamed string

func (n agentNamed) Name() string { return string(n) }

func (agentNamed) Propose(context.Context, agent.Request) (agent.Reply, error) {
	return agent.Reply{}, nil
}

// midday is when these tests look at what was spent.
var midday = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// newSpending is that of a program with this frontmatter, whose run began at midday.
func newSpending(t *testing.T, front string, agents ...string) *spending {
	t.Helper()
	p := program.Parse("p.md", []byte("---\n"+front+"\n---\n## Goal\nx\n"))
	require.NoError(t, p.Err())
	r := &spending{journal: &journal{records: &records{}, session: &session{
		Service: &Service{Program: p, Now: func() time.Time { return midday }},
		course:  course{id: "this"}, begun: midday, since: midday,
	}}}
	for _, name := range agents {
		r.Agents = append(r.Agents, Proposer{Agent: agentNamed(name)})
	}
	return r
}

// spentOn is an iteration that used this much; no tokens and no text are unknown.
func spentOn(iteration int, at time.Time, tokens int64, usd string) history.Attempt {
	spent := history.Spent{Iterations: 1, Minutes: 10, Tokens: tokens}
	if tokens == 0 {
		spent.UnknownTokens = 1
	}
	if usd == "" {
		spent.UnknownUSD = 1
	} else {
		spent.USD = metric.MustValue(usd).Float64()
	}
	return history.Attempt{Spent: spent, Decided: &history.Decided{
		Head: history.Head{Iteration: iteration, Time: at}, Work: history.Work{Agent: "codex"},
	}}
}

// TestWhyNoIterationBegins: a budget that is used up, or a service that asked for a pause
// and whose agent would work again.
func TestWhyNoIterationBegins(t *testing.T) {
	t.Parallel()
	soon, far := midday.Add(time.Hour), midday.Add(budget.LongestWait+time.Second)
	putOff := func(until time.Time) history.Summary { return history.Summary{NotBefore: until, PutOff: "slow"} }
	used := history.Summary{Attempts: []history.Attempt{spentOn(1, midday.Add(-time.Hour), 1000, "0.5")}}
	open := func(run string) history.Summary {
		usd := metric.MustValue("0.5")
		return history.Summary{Open: &history.Started{Head: history.Head{
			Run: run, Time: midday.Add(-time.Hour),
			Iteration: 1,
		}, Reserved: &history.Reserved{CostUSD: &usd}}}
	}
	const day = "budget: {usd: 0.5, per: day}"
	for name, c := range map[string]struct {
		front string
		sum   history.Summary
	}{
		"a budget":                                {day, used},
		"its agent is put off":                    {"", putOff(soon)},
		"a time that no service asks for":         {"", putOff(far)},
		"what a run reserved that is gone counts": {day, open("that")},
		"what this run reserved does not":         {day, open("this")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newSpending(t, c.front, "slow", "second")
			before := len(c.sum.Used)
			golden.Line(t, r.blockedReason(&records{course: r.course, Summary: c.sum}))
			assert.Len(t, c.sum.Used, before, "the records stay as they are")
		})
	}
}

// TestReservedIsWhatIsLeft is what the iteration may use at most: when its run never comes
// back, that counts.
func TestReservedIsWhatIsLeft(t *testing.T) {
	t.Parallel()
	for front, c := range map[string]struct {
		budgetUSD float64
		tokens    int64
		usd       string
		minutes   float64
	}{
		"budget: {tokens: 5000, per: day}":                    {0, 4000, "", 0},
		"budget: {usd: 2, per: day}":                          {1.5, 0, "1.5", 0},
		"budget: {minutes: 30, per: day}":                     {0, 0, "", 20},
		"timeout-minutes: 5\nbudget: {minutes: 30, per: day}": {0, 0, "", 5},
		"budget: {usd: 0.250001, per: day}":                   {0, 0, "0.0001", 0},
	} {
		r := newSpending(t, front)
		r.BudgetUSD = c.budgetUSD
		b := &records{Summary: history.Summary{Attempts: []history.Attempt{spentOn(1, midday.Add(-time.Hour), 1000,
			"0.25")}}}
		require.Empty(t, r.blockedReason(b))
		got := r.reserved(b.left)
		require.NotNil(t, got, front)
		usd := ""
		if got.CostUSD != nil {
			usd = got.CostUSD.String()
		}
		assert.Equal(t, []any{c.tokens, c.usd}, []any{got.Tokens, usd}, front)
		assert.InDelta(t, c.minutes, got.Minutes, 1e-9, front)
	}
	r := newSpending(t, "")
	b := &records{}
	require.Empty(t, r.blockedReason(b))
	assert.Nil(t, r.reserved(b.left))
}

// TestBudgetOfProcess counts what was used since it began, and an amount that nobody
// said only where the program asks for that.
func TestBudgetOfProcess(t *testing.T) {
	t.Parallel()
	before, after := midday.Add(-time.Second), midday
	for name, c := range map[string]struct {
		front  string
		budget float64
		spent  []history.Attempt
	}{
		"all of it": {
			"", 1,
			[]history.Attempt{spentOn(1, after, 1, "0.5"), spentOn(2, after, 1, "0.5")},
		},
		"of another run": {"", 1, []history.Attempt{spentOn(1, before, 1, "9")}},
		"unknown, and asked for": {
			"unknown-cost: pause", 1,
			[]history.Attempt{spentOn(1, after, 1, "")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newSpending(t, c.front)
			r.BudgetUSD = c.budget
			r.records.Attempts = c.spent
			golden.Line(t, r.overspent())
			r.records = nil
			assert.Empty(t, r.overspent(), "nothing was read yet")
		})
	}
}

// TestTimeOfIteration is its own, or what a budget leaves of it, and who runs out of
// it is told which.
func TestTimeOfIteration(t *testing.T) {
	t.Parallel()
	for left, want := range map[time.Duration]time.Duration{
		0: 45 * time.Minute, time.Hour: 45 * time.Minute,
		1234567 * time.Millisecond: 1234567 * time.Millisecond,
	} {
		r := newSpending(t, "")
		r.left.Time = left
		assert.Equal(t, want, r.time(), left.String())
		golden.Row(t, left.String(), r.tooLong())
	}
}

// TestPostponedUntilTheFirstAgent: when no agent's service worked, until the first of them may
// work again, within bounds.
func TestPostponedUntilTheFirstAgent(t *testing.T) {
	t.Parallel()
	at := midday.Add(300 * time.Millisecond)
	const other, unnamed = time.Duration(-1), time.Duration(-2)
	for name, c := range map[string]struct {
		asks []time.Duration // of each agent; 0 is one that worked
		want time.Duration   // 0 when it is not put off
	}{
		"one that does not say when": {[]time.Duration{unnamed}, 15 * time.Minute},
		"one that asks for a year":   {[]time.Duration{365 * 24 * time.Hour}, 31 * 24 * time.Hour},
		"the first of several":       {[]time.Duration{3 * time.Hour, time.Hour, 2 * time.Hour}, time.Hour},
		"one of several failed":      {[]time.Duration{time.Hour, other, time.Hour}, 0},
	} {
		r := newSpending(t, "")
		r.Now = func() time.Time { return at }
		var all []*attempt
		for _, asks := range c.asks {
			failure := &agent.Failure{Kind: agent.RateLimit}
			switch until := at.Add(asks); {
			case asks == 0:
				failure = nil
			case asks == other:
				failure.Kind = agent.Crashed
			case asks > 0:
				failure.RetryAt = &until
			}
			all = append(all, &attempt{reply: agent.Reply{Failure: failure}})
		}
		until, put := r.postponedUntil(all)
		assert.Equal(t, c.want > 0, put, name)
		if put {
			assert.Equal(t, at.Add(c.want).Truncate(time.Second), until, "%s: to the second, as it is written", name)
		}
	}
}

// TestUsageCountsAsFarAsKnown: what is not known is passed over.
func TestUsageCountsAsFarAsKnown(t *testing.T) {
	t.Parallel()
	r := newSpending(t, "")
	r.expend(used(10, "0.5"))
	r.expend(&history.Expense{CostUSD: metricOf("0.5")})
	r.expend(&history.Expense{Tokens: new(int64(10))})
	tokens, usd := r.used.Known()
	assert.Equal(t, []any{int64(20), 1.0}, []any{tokens, usd})
}

// used is what was used of both.
func used(tokens int64, usd string) *history.Expense {
	return &history.Expense{Tokens: &tokens, CostUSD: metricOf(usd)}
}

// TestMeasuringWithinBudget: an evaluation that asks models gets what agents left of the
// budgets; what a script uses is not known, and bounds it nowhere.
func TestMeasuringWithinBudget(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		evaluation program.EvaluationKind
		left       budget.Left
		used       *history.Expense
		tokens     int64
		usd        string
	}{
		"a script":       {program.Metric, budget.Left{Tokens: 5, USD: 1}, used(9, "9"), 0, ""},
		"a part":         {program.Skill, budget.Left{Tokens: 50, USD: 1}, used(20, "0.25"), 30, "0.75"},
		"the last of it": {program.Skill, budget.Left{USD: 1}, used(0, "0.99999"), 0, "0.0001"},
		"all of the money": {
			program.Skill,
			budget.Left{USD: 1},
			used(0, "1"),
			0, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newSpending(t, "")
			r.Program.Evaluation, r.left, r.used = c.evaluation, c.left, c.used
			limit, over := r.toMeasure()
			golden.Line(t, over)
			assert.Equal(t, c.tokens, limit.Tokens)
			require.Equal(t, c.usd != "", limit.CostUSD != nil)
			if c.usd != "" {
				assert.Zero(t, metric.MustValue(c.usd).Cmp(*limit.CostUSD), "%s", limit.CostUSD)
			}
		})
	}
}

// TestTimeLimitOfCandidate is ten times that of the unchanged files, at least a minute,
// unless the program says how long.
func TestTimeLimitOfCandidate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		front   string
		seconds float64
		limit   time.Duration
	}{
		"rounded to seconds":     {"", 30.04, 300 * time.Second},
		"a clock that was wrong": {"", -3, 0},
		"the program says more":  {"evaluation-timeout: 2h", 30, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := journalOf(t, c.front)
			j.records.Seconds = c.seconds
			assert.Equal(t, c.limit, j.timeLimit())
		})
	}
}

// TestHangingEvaluation took three times as long as the unchanged files, where that is known.
func TestHangingEvaluation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		seconds float64
		took    time.Duration
		hangs   bool
	}{
		{20, time.Minute, true},
		{20, time.Minute - time.Millisecond, false},
		{20, time.Hour, true},
		{20, 0, false},
		{0, time.Hour, false},
	} {
		j := journalOf(t, "")
		j.records.Seconds = c.seconds
		assert.Equal(t, c.hangs, j.hangs(c.took), "%v", c)
	}
}
