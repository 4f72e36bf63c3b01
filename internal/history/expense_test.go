package history_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// TestExpenseKeepsTheUnknownApart: unknown is not 0, what cannot be was not said, and costs are decimals.
func TestExpenseKeepsTheUnknownApart(t *testing.T) {
	t.Parallel()
	text := func(e *history.Expense) string {
		text, err := json.Marshal(e.Given())
		require.NoError(t, err)
		return string(text)
	}
	var e history.Expense
	var none *history.Expense
	assert.Equal(t, []string{"null", "null"}, []string{text(&e), text(none)}, "nobody was asked")
	debt, cost := int64(-100), metric.MustValue("-1")
	e.Add(&debt, &cost)
	assert.Equal(t, `{"tokens":null,"cost_usd":null,"unknown_tokens":1,"unknown_usd":1}`, text(&e))
	tokens, usd := int64(30), metric.MustValue("0.1")
	e.Add(&tokens, nil)
	e.Add(&tokens, &usd)
	sum := e.Plus(&e).Plus(&e)
	assert.Equal(t, `{"tokens":180,"cost_usd":0.3,"unknown_tokens":3,"unknown_usd":6}`, text(sum))
	assert.Equal(t, int64(60), *e.Tokens, "the parts stay")
	assert.Same(t, &e, e.Plus(nil))
	assert.Same(t, &e, none.Plus(&e))
	known, _ := none.Known()
	assert.Zero(t, known)
}
