package commandline

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/autoloop/internal/metric"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/golden"
)

// readAll is what a tool's reader makes of lines of standard output.
func readAll(d Descriptor, lines ...string) *Report {
	r := d.Read()
	for _, line := range lines {
		r.Out([]byte(line))
	}
	return r.SoFar()
}

// TestZeroCostIsUnknown: OpenCode says 0 for a model whose price it does
// not know.
func TestZeroCostIsUnknown(t *testing.T) {
	t.Parallel()
	const step = `{"type":"step_finish","part":{"reason":"stop","tokens":{"input":1000,"output":100,"reasoning":10,` +
		`"cache":{"read":20,"write":3}},"cost":`
	got := readAll(Opencode(), step+`0}}`)
	assert.Nil(t, got.Usage.CostUSD)
	assert.Equal(t, []int64{1023, 20, 110},
		[]int64{*got.Usage.InputTokens, *got.Usage.CachedTokens, *got.Usage.OutputTokens})
	got = readAll(Opencode(), step+`0.25}}`, step+`0.5}}`)
	assert.Equal(t, "0.75", got.Usage.CostUSD.String())
	got = readAll(Opencode(), `{"type":"error","error":{"data":{"statusCode":429,"message":"slow down",`+
		`"responseHeaders":{"retry-after":"90"}}}}`)
	require.NotNil(t, got.Problem)
	assert.Equal(t, RateLimit, got.Problem.Kind)
	assert.InDelta(t, 90, got.Problem.After.Seconds(), 0)
}

// TestRefusedToolsAreKnown: each agent that says that it was refused a tool is
// understood, and other failures of tools are no refusals.
func TestRefusedToolsAreKnown(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{ // AGENT LINE
		"claude": `claude {"type":"result","subtype":"success",` +
			`"permission_denials":[{"tool_name":"WebFetch"}]} => true`,
		"claude, none": `claude {"type":"result","subtype":"success","permission_denials":[]} => false`,
		"codex": `codex {"type":"item.completed","item":{"type":"command_execution",` +
			`"status":"declined"}} => true`,
		"codex, failed": `codex {"type":"item.completed","item":{"type":"command_execution",` +
			`"status":"failed"}} => false`,
		"copilot": `copilot {"type":"tool.execution_complete","data":{"error":{"code":"denied",` +
			`"message":"no"}}} => true`,
		"copilot, other": `copilot {"type":"tool.execution_complete","data":{"error":{"code":"failure",` +
			`"message":"no such file"}}} => false`,
		"gemini": `gemini {"type":"tool_result","status":"error","error":{"type":"policy_violation",` +
			`"message":"Tool execution denied by policy."}} => true`,
		"gemini, other": `gemini {"type":"tool_result","status":"error","error":{"type":"not_found",` +
			`"message":"no such file"}} => false`,
		"opencode": `opencode {"type":"tool_use","part":{"tool":"bash","state":{"status":"error",` +
			`"error":"The user rejected permission to use this specific tool call."}}} => true`,
		"opencode, ran": `opencode {"type":"tool_use","part":{"tool":"bash","state":{"status":"completed",` +
			`"error":"permission"}}} => false`,
	}, func(_ *testing.T, row string) any {
		name, line, _ := strings.Cut(row, " ")
		all := All()
		agent := slices.IndexFunc(all, func(d Descriptor) bool { return d.Name == name })
		return readAll(all[agent], strings.TrimSpace(line)).Denied != ""
	})
}

// TestTokensOfNoAnswerAreUnknown: Gemini lists a model that never answered with
// zeros.
func TestTokensOfNoAnswerAreUnknown(t *testing.T) {
	t.Parallel()
	got := readAll(Gemini(), `{"type":"result","status":"error","error":{"message":"{\"code\": 500, \"message\": `+
		`\"broken\"}"},"stats":{"tool_calls":0,"models":{"m":{"input_tokens":0,"output_tokens":0}}}}`)
	assert.Equal(t, metric.Usage{}, got.Usage)
	assert.Equal(t, Crashed, got.Problem.Kind)
	assert.Equal(t, "broken", got.Problem.Message)
}

// TestLastNamedWaitCounts: Codex may name one when it gives up, or before.
func TestLastNamedWaitCounts(t *testing.T) {
	t.Parallel()
	const again = `{"type":"error","message":"Reconnecting... 1/5 (Rate limit reached: try again in 7s)"}`
	got := readAll(Codex(), again, `{"type":"turn.failed","error":{"message":"Rate limit reached: try again in 90s"}}`)
	assert.Equal(t, 90*time.Second, got.Problem.After)
	got = readAll(Codex(), again, `{"type":"turn.failed","error":{"message":"Rate limit reached"}}`)
	assert.Equal(t, 7*time.Second, got.Problem.After)
}
