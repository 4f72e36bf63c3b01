package agent

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/process"
)

// endless is a Runner whose command prints and then never ends by itself.
type endless struct{ out string }

func (e endless) Run(ctx context.Context, spec process.Spec) (process.Result, error) {
	_, _ = io.WriteString(spec.Stdout, e.out)
	select {
	case <-ctx.Done():
		return process.Result{ExitCode: -1, Signal: "SIGTERM", Cancelled: true}, nil
	case <-time.After(spec.Timeout):
		return process.Result{ExitCode: -1, TimedOut: true}, nil
	}
}

// headless is an agent with a key and a program that the runner stands for.
func headless(t *testing.T, tool commandline.Descriptor, runner Runner, caller ...string) *Headless {
	t.Helper()
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, tool.Program), nil, 0o700))
	caller = append(caller, "PATH="+bin, tool.Keys[0]+"="+recordedKey)
	return &Headless{agent: tool, runner: runner, caller: caller, now: recordedTime, linger: 10 * time.Millisecond}
}

// step is what OpenCode prints of a step.
const step = `{"type":"step_finish","part":{"reason":"tool-calls","tokens":{"input":1000,"output":100,` +
	`"cache":{"read":0,"write":0}},"cost":0.003}}` + "\n"

func TestSilentAgentIsEnded(t *testing.T) {
	t.Parallel()
	usd := metric.MustValue("0.005")
	for name, c := range map[string]struct {
		agent commandline.Descriptor
		out   string
		limit metric.Limit
		want  FailureKind // "" is success
	}{
		"finished and does not end": {
			commandline.Cursor(), `{"type":"result","subtype":"success","result":"Done."}`, metric.Limit{}, "",
		},
		"a long rate limit": {
			commandline.Claude(), `{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":3600000,` +
				`"error_status":429}`, metric.Limit{}, RateLimit,
		},
		"the plan's limit": {
			commandline.Claude(), `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected",` +
				`"resetsAt":1767330000}}`, metric.Limit{}, RateLimit,
		},
		"a refused login": {
			commandline.Codex(), `{"type":"error","message":"Reconnecting... 2/5 (unexpected status 401 ` +
				`Unauthorized)"}`, metric.Limit{}, Authentication,
		},
		"the limit in tokens":  {commandline.Opencode(), step + step, metric.Limit{Tokens: 2000}, Budget},
		"the limit in dollars": {commandline.Opencode(), step + step, metric.Limit{CostUSD: &usd}, Budget},
		"its time":             {commandline.Opencode(), step, metric.Limit{Tokens: 2000, CostUSD: &usd}, Timeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := recordedRequest(t, c.agent.Name, c.limit)
			if c.want == Timeout {
				request.Timeout = 50 * time.Millisecond
			}
			reply := must(headless(t, c.agent, endless{out: c.out + "\n"}).Propose(t.Context(), request))
			if c.want == "" {
				assert.Nil(t, reply.Failure)
				assert.Equal(t, "Done.", reply.Summary)
				return
			}
			require.NotNil(t, reply.Failure)
			assert.Equal(t, c.want, reply.Failure.Kind, reply.Failure.Message)
			assert.Equal(t, c.want == RateLimit, reply.Failure.RetryAt != nil)
		})
	}
}

func TestOptionalPartMayFail(t *testing.T) {
	t.Parallel()
	const failed = `level=ERROR message="stream error" small=%v mode=primary ` +
		`error.error="AI_APICallError: Rate limit reached for requests"`
	for name, said := range map[string]recording{
		"a title": {Out: []string{step}, Err: []string{fmt.Sprintf(failed, true)}},
		"after it was done": {
			Out: []string{strings.Replace(step, "tool-calls", "stop", 1)}, Err: []string{fmt.Sprintf(failed, false)},
		},
	} {
		reply := must(headless(t, commandline.Opencode(), &replayer{recording: said}).Propose(t.Context(),
			recordedRequest(t, "opencode", metric.Limit{})))
		assert.Nil(t, reply.Failure, name)
	}
}

func TestCancelledCallIsNoAgentFailure(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := fmt.Errorf("enough")
	cancel(why)
	reply, err := headless(t, commandline.Opencode(), endless{out: step}).Propose(ctx,
		recordedRequest(t, "opencode", metric.Limit{}))
	require.ErrorIs(t, err, why)
	require.NotNil(t, reply.Usage.InputTokens, "what it used until then is paid")
	assert.Equal(t, int64(1000), *reply.Usage.InputTokens)
	assert.Equal(t, "0.003", reply.Usage.CostUSD.String())
}

func TestUnusableAgentsSayWhy(t *testing.T) {
	t.Parallel()
	for _, tool := range commandline.All() {
		bin, home := t.TempDir(), t.TempDir()
		agent := &Headless{agent: tool, caller: []string{"PATH=" + bin, "HOME=" + home}}
		assert.Equal(t, tool.Program+" is not installed: "+tool.Install, agent.Missing(Request{Dir: bin}))
		reply := must(agent.Propose(t.Context(), Request{Dir: bin}))
		assert.Equal(t, Unavailable, reply.Failure.Kind)
		require.NoError(t, os.WriteFile(filepath.Join(bin, tool.Program), nil, 0o700))
		assert.Contains(t, agent.Missing(Request{Dir: bin}), "no key and no login: set "+tool.Keys[0])
		require.NoError(t, files.WritePrivate(filepath.Join(home, filepath.FromSlash(tool.Logins[0].Path)), []byte("{}")))
		assert.Empty(t, agent.Missing(Request{Dir: bin}), "a login is as good as a key")
	}
}

func TestNoOutputShowsALogin(t *testing.T) {
	t.Parallel()
	const token = "an-access-token-of-a-login"
	home := t.TempDir()
	require.NoError(t, files.WritePrivate(filepath.Join(home, ".codex/auth.json"),
		[]byte(`{"tokens":{"access_token":"`+token+`"}}`)))
	said := recording{Out: []string{`{"type":"item.completed","item":{"type":"agent_message","text":"I have ` + token +
		`"}}`}, Err: []string{token}, Code: 3}
	request := recordedRequest(t, "codex", metric.Limit{})
	request.Transcript = filepath.Join(t.TempDir(), "transcript")
	reply := must(headless(t, commandline.Codex(), &replayer{recording: said},
		"HOME="+home).Propose(t.Context(), request))
	assert.Equal(t, "I have ***", reply.Summary)
	assert.Equal(t, "exit code 3 ***", reply.Failure.Message)
	kept := must(os.ReadFile(reply.Transcript))
	assert.NotContains(t, string(kept), token)
	assert.Equal(t, 2, bytes.Count(kept, []byte("***")))
	assert.NoFileExists(t, filepath.Join(request.Home, ".codex/auth.json"))
}

func TestLinesAreWholeAndBounded(t *testing.T) {
	t.Parallel()
	var heard []string
	tail := &lines{hear: func(line []byte) { heard = append(heard, string(line)) }}
	for _, part := range []string{"on", "e\r\n\n  two ", "\nthr", "ee", strings.Repeat("x", maxLine), "\nfour"} {
		n := must(tail.Write([]byte(part)))
		require.Equal(t, len(part), n)
	}
	tail.flush()
	assert.Equal(t, []string{"one", "two", "four"}, heard)
}
