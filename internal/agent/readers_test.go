package agent

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// readAll is what a tool's reader makes of lines of standard output.
func readAll(tool tool, lines ...string) *report {
	r := tool.read()
	for _, line := range lines {
		r.out([]byte(line))
	}
	return r.soFar()
}

// TestACostOfNothingIsUnknown: OpenCode says 0 for a model whose price it does
// not know.
func TestACostOfNothingIsUnknown(t *testing.T) {
	t.Parallel()
	const step = `{"type":"step_finish","part":{"reason":"stop","tokens":{"input":1000,"output":100,"reasoning":10,"cache":{"read":20,"write":3}},"cost":`
	got := readAll(opencode(), step+`0}}`)
	assert.Nil(t, got.usage.CostUSD)
	assert.Equal(t, []int64{1023, 20, 110}, []int64{*got.usage.InputTokens, *got.usage.CachedTokens, *got.usage.OutputTokens})
	got = readAll(opencode(), step+`0.25}}`, step+`0.5}}`)
	assert.Equal(t, "0.75", got.usage.CostUSD.String())
	got = readAll(opencode(), `{"type":"error","error":{"data":{"statusCode":429,"message":"slow down","responseHeaders":{"retry-after":"90"}}}}`)
	require.NotNil(t, got.problem)
	assert.Equal(t, RateLimit, got.problem.kind)
	assert.InDelta(t, 90, got.problem.after.Seconds(), 0)
}

// TestRefusedToolsAreKnown: each agent that says that it was refused a tool is
// understood, and other failures of tools are no refusals.
func TestRefusedToolsAreKnown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tool tool
		line string
		want bool
	}{
		"claude":         {claude(), `{"type":"result","subtype":"success","permission_denials":[{"tool_name":"WebFetch"}]}`, true},
		"claude, none":   {claude(), `{"type":"result","subtype":"success","permission_denials":[]}`, false},
		"codex":          {codex(), `{"type":"item.completed","item":{"type":"command_execution","status":"declined"}}`, true},
		"codex, failed":  {codex(), `{"type":"item.completed","item":{"type":"command_execution","status":"failed"}}`, false},
		"copilot":        {copilot(), `{"type":"tool.execution_complete","data":{"error":{"code":"denied","message":"no"}}}`, true},
		"copilot, other": {copilot(), `{"type":"tool.execution_complete","data":{"error":{"code":"failure","message":"no such file"}}}`, false},
		"gemini":         {gemini(), `{"type":"tool_result","status":"error","error":{"type":"policy_violation","message":"Tool execution denied by policy."}}`, true},
		"gemini, other":  {gemini(), `{"type":"tool_result","status":"error","error":{"type":"not_found","message":"no such file"}}`, false},
		"opencode":       {opencode(), `{"type":"tool_use","part":{"tool":"bash","state":{"status":"error","error":"The user rejected permission to use this specific tool call."}}}`, true},
		"opencode, ran":  {opencode(), `{"type":"tool_use","part":{"tool":"bash","state":{"status":"completed","error":"permission"}}}`, false},
	} {
		idle := readAll(c.tool, c.line).idle()
		require.NotNil(t, idle, name)
		assert.Equal(t, c.want, idle.Kind == Denied, name)
		assert.Equal(t, !c.want, idle.Kind == NothingChanged, name)
	}
}

// TestTokensOfNoAnswerAreUnknown: Gemini lists a model that never answered with
// zeros.
func TestTokensOfNoAnswerAreUnknown(t *testing.T) {
	t.Parallel()
	got := readAll(gemini(), `{"type":"result","status":"error","error":{"message":"{\"code\": 500, \"message\": \"broken\"}"},"stats":{"tool_calls":0,"models":{"m":{"input_tokens":0,"output_tokens":0}}}}`)
	assert.Equal(t, Usage{}, got.usage)
	assert.Equal(t, Crashed, got.problem.kind)
	assert.Equal(t, "broken", got.problem.message)
}
