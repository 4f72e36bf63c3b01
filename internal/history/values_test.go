package history_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// TestMeasurementNamesExecutor: whatever of it changes is named; what an
// earlier version of this program did not record is not taken for a change.
func TestMeasurementNamesExecutor(t *testing.T) {
	t.Parallel()
	was := history.Executor{
		Agent: "claude", Version: "2.1.0", Model: "m", Command: "sh x", CommandSHA256: "1", Judge: "claude with m",
		JudgeVersion: "2.1.0", Server: "serve",
	}
	for change, want := range map[string]string{
		`{}`: "", `{"agent":"codex"}`: "the executor changed", `{"version":"2.2.0"}`: "its version changed",
		`{"model":""}`: "the model changed", `{"command":"sh y"}`: "its command changed",
		`{"command_sha256":"2"}`: "what its command names changed", `{"server":""}`: "the server's commands changed",
		`{"judge":"an API","judge_version":""}`: "the judge changed",
		`{"judge_version":"2.2.0"}`:             "the judge's version changed",
		`{"model":"n","judge":"codex"}`:         "the model, the judge changed",
	} {
		now := was
		require.NoError(t, json.Unmarshal([]byte(change), &now))
		assert.Equal(t, want, was.Changed(&now))
	}
	earlier := was
	earlier.JudgeVersion = ""
	assert.Empty(t, earlier.Changed(&was), "an earlier version did not record it")
	assert.Empty(t, was.Changed(&earlier), "the program did not say it this time")
	assert.Empty(t, (*history.Executor)(nil).Changed(&was))
	assert.Equal(t, "who executed before is not known", (&history.Executor{}).Changed(&was))
}

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
