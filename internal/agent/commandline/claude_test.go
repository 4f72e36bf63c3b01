package commandline

import (
	"strings"
	"testing"

	"github.com/org/autoloop/internal/metric"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestClaudeCountsAsItGoes: what it consumed until it was ended is known without
// its result: each message once, also when it comes in parts, and what was read
// from or written into the cache with the input.
func TestClaudeCountsAsItGoes(t *testing.T) {
	t.Parallel()
	const part = `{"type":"assistant","message":{"id":"%","model":"claude-sonnet-4-5","content":[{"type":"tool_use"}],` +
		`"usage":{"input_tokens":10,"output_tokens":5,"cache_creation_input_tokens":200,` +
		`"cache_read_input_tokens":3000}}}`
	r := &claudeReader{seen: map[string]bool{}}
	for _, id := range []string{"a", "a", "b"} {
		r.Out([]byte(strings.Replace(part, "%", id, 1)))
	}
	assert.Equal(t, []int64{6420, 6000, 10},
		[]int64{*r.Usage.InputTokens, *r.Usage.CachedTokens, *r.Usage.OutputTokens})
	assert.EqualValues(t, 2, *r.Usage.Turns)
	assert.EqualValues(t, 3, *r.Usage.ToolCalls)
	assert.Nil(t, r.Usage.CostUSD)
	r.Out([]byte(`{"type":"result","subtype":"success","result":"Done.","num_turns":4,"total_cost_usd":0.5,` +
		`"usage":{"input_tokens":0,"output_tokens":0},` +
		`"modelUsage":{"m":{"inputTokens":1,"outputTokens":2,"cacheReadInputTokens":3,"cacheCreationInputTokens":4}}}`))
	assert.Equal(t, []int64{8, 3, 2}, []int64{*r.Usage.InputTokens, *r.Usage.CachedTokens, *r.Usage.OutputTokens},
		"its totals stand for what was counted")
	assert.EqualValues(t, 4, *r.Usage.Turns)
	assert.Equal(t, "0.5", r.Usage.CostUSD.String())
}

// TestClaudeResultThatKnowsNothing: a result without totals leaves what was
// counted, and makes no zero of what is unknown.
func TestClaudeResultThatKnowsNothing(t *testing.T) {
	t.Parallel()
	r := &claudeReader{seen: map[string]bool{}}
	r.Out([]byte(`{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":1,` +
		`"total_cost_usd":0,"usage":{"input_tokens":0,"output_tokens":0},"modelUsage":{}}`))
	assert.Equal(t, metric.Usage{}, r.Usage)
	require.NotNil(t, r.Problem)
	assert.Equal(t, Crashed, r.Problem.Kind)
}
