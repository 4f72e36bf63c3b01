package history_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

func TestExpenseKeepsTheUnknownApart(t *testing.T) {
	t.Parallel()
	var e history.Expense
	assert.Nil(t, e.Given(), "nobody was asked")
	e.Add(nil, nil)
	text, err := json.Marshal(e.Given())
	require.NoError(t, err)
	assert.JSONEq(t, `{"tokens": null, "cost_usd": null, "unknown_tokens": 1, "unknown_usd": 1}`, string(text),
		"unknown is not 0")

	tokens, usd := int64(30), metric.MustValue("0.1")
	e.Add(&tokens, nil)
	e.Add(&tokens, &usd)
	sum := e.Plus(&e)
	text, err = json.Marshal(sum)
	require.NoError(t, err)
	assert.JSONEq(t, `{"tokens": 120, "cost_usd": 0.2, "unknown_tokens": 2, "unknown_usd": 4}`, string(text))
	assert.Equal(t, int64(60), *e.Tokens, "the parts stay")
	assert.Same(t, &e, e.Plus(nil))
	var none *history.Expense
	assert.Same(t, &e, none.Plus(&e))
	assert.Nil(t, none.Given())
}

// lines are a ledger of hand-written events, at noon and an hour apart.
func lines(t *testing.T, events ...string) *history.Summary {
	t.Helper()
	var text strings.Builder
	for i, event := range events {
		at := time.Date(2026, 3, 4, i, 0, 0, 0, time.UTC).Format(time.RFC3339)
		text.WriteString(`{"run_id": "r", "time": "` + at + `", ` + event + "}\n")
	}
	log, err := history.Parse([]byte(text.String()))
	require.NoError(t, err)
	summary := history.Replay(log.Events)
	return &summary
}

func TestSpentCountsEvaluations(t *testing.T) {
	t.Parallel()
	const (
		measured = `"event": "measured", "iteration": 0, "role": "baseline", "metric": 1, "evaluation": {"tokens": ` +
			`100, "cost_usd": 0.5}`
		agent = `"agent": "claude", "durations": {"propose": 1}, "usage": {"input_tokens": 7, "output_tokens": 3, ` +
			`"cost_usd": 0.25}`
		decided  = `"event": "decided", "iteration": 1, ` + agent
		judged   = `, "evaluation": {"tokens": 40, "cost_usd": 1}`
		halfway  = `, "evaluation": {"tokens": 40, "cost_usd": null, "unknown_usd": 2}`
		pending  = decided + judged + `, "outcome": "pending-ci", "commit": "c1"`
		accepted = decided + judged + `, "outcome": "accepted", "commit": "c1"`
		repaired = decided + judged + `, "outcome": "pending-ci", "commit": "c2"`
		checked  = `"event": "checked", "iteration": 1` + judged
		began    = `"event": "started", "iteration": 1`
		putOff   = `"event": "finished", "iteration": 1, "not_before": "2026-03-05T00:00:00Z", "agent": "codex"` +
			halfway
	)
	type spent struct {
		tokens          int64
		usd             float64
		measuringTokens int64
		unknown         int
	}
	for name, c := range map[string]struct {
		events []string
		want   spent
	}{
		"of old":                  {[]string{decided}, spent{10, 0.25, 0, 0}},
		"a baseline alone":        {[]string{measured}, spent{100, 0.5, 100, 0}},
		"a trial":                 {[]string{measured, decided + judged}, spent{150, 1.75, 140, 0}},
		"known in part":           {[]string{decided + halfway}, spent{50, 0.25, 40, 1}},
		"decided again by CI":     {[]string{pending, accepted}, spent{50, 1.25, 40, 0}},
		"fixed":                   {[]string{pending, repaired}, spent{100, 2.5, 80, 0}},
		"a fix that was not kept": {[]string{pending, checked, accepted}, spent{90, 2.25, 80, 0}},
		"put off":                 {[]string{began, putOff}, spent{40, 0, 40, 0}},
		"an unknown agent, unmeasured": {[]string{`"event": "decided", "iteration": 1, "agent": "codex", ` +
			`"durations": {"propose": 1}`}, spent{unknown: 1}},
		"the tuner decides, and codex does not say": {[]string{
			`"event": "proposed", "iteration": 1, "proposal": 1, "agent": "codex", "durations": {"propose": 1}`,
			`"event": "proposed", "iteration": 1, "proposal": 2, "agent": "tuner", "durations": {"propose": 1}`,
			`"event": "decided", "iteration": 1, "proposal": 2, "agent": "tuner", "durations": {"propose": 1}`,
		}, spent{unknown: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := lines(t, c.events...).Spent(time.Time{})
			assert.Equal(t, c.want.tokens, s.Tokens)
			assert.InDelta(t, c.want.usd, s.USD, 1e-9)
			assert.Equal(t, c.want.measuringTokens, s.MeasuringTokens)
			assert.Equal(t, c.want.unknown, s.UnknownUSD)
		})
	}
	summary := lines(t, measured, decided+judged)
	assert.Equal(t, int64(50), summary.Spent(time.Date(2026, 3, 4, 1, 0, 0, 0, time.UTC)).Tokens,
		"the baseline was before")
	assert.Equal(t, 1, summary.Spent(time.Time{}).Iterations, "a baseline is no iteration")
}

func TestCostsAreDecimals(t *testing.T) {
	t.Parallel()
	dime := metric.MustValue("0.1")
	var e history.Expense
	for range 3 {
		e.Add(nil, &dime)
	}
	text, err := json.Marshal(e)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"cost_usd":0.3,`, "not 0.30000000000000004")
}

// TestAnExpenseThatCannotBe is a piece of work that did not say what it used.
func TestAnExpenseThatCannotBe(t *testing.T) {
	t.Parallel()
	five, debt, cost := int64(5), int64(-100), metric.MustValue("-1")
	var e history.Expense
	e.Add(&five, nil)
	e.Add(&debt, &cost)
	tokens, usd := e.Known()
	assert.EqualValues(t, 5, tokens)
	assert.Zero(t, usd)
	assert.Equal(t, 1, e.UnknownTokens)
	assert.Equal(t, 2, e.UnknownUSD)
}
