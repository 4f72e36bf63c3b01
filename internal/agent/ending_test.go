package agent

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/process"
)

// ended is a Runner whose command has ended like this.
type ended struct{ process.Result }

func (e ended) Run(_ context.Context, spec process.Spec) (process.Result, error) {
	_, _ = spec.Stdout.Write(e.Stdout)
	_, _ = spec.Stderr.Write(e.Stderr)
	return e.Result, nil
}

// TestAnErrorInTheOutputIsAFailure: whatever the exit code is. Nothing but exit
// code 0 without such an error is success.
func TestAnErrorInTheOutputIsAFailure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		agent commandline.Descriptor
		out   string
		want  FailureKind
	}{
		"claude": {
			commandline.Claude(),
			`{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"result":"no such key"}`,
			Authentication,
		},
		"claude's turns": {
			commandline.Claude(),
			`{"type":"result","subtype":"error_max_turns","errors":["too many turns"]}`, Budget,
		},
		"codex": {
			commandline.Codex(),
			`{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized"}}`, Authentication,
		},
		"copilot": {
			commandline.Copilot(),
			`{"type":"session.error","data":{"errorType":"query","statusCode":429,"message":"slow down"}}`, RateLimit,
		},
		"gemini": {
			commandline.Gemini(),
			`{"type":"result","status":"error","error":{"type":"Error","message":"{\"code\": 403}"}}`, Authentication,
		},
		"opencode": {
			commandline.Opencode(),
			`{"type":"error","error":{"name":"APIError","data":{"message":"out of credits","statusCode":402}}}`, Budget,
		},
		"cursor": {
			commandline.Cursor(),
			`{"type":"result","subtype":"success","is_error":true,"result":"Rate limit reached, try again in 2 hours"}`,
			RateLimit,
		},
		"cursor's subtype": {
			commandline.Cursor(),
			`{"type":"result","subtype":"error","result":"something broke"}`, Crashed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reply, err := headless(t, c.agent, ended{process.Result{Stdout: []byte(c.out + "\n")}}).Propose(t.Context(),
				recordedRequest(t, c.agent.Name, Limit{}))
			require.NoError(t, err)
			require.NotNil(t, reply.Failure, "exit code 0 is not enough")
			assert.Equal(t, c.want, reply.Failure.Kind, reply.Failure.Message)
			assert.Nil(t, reply.Idle)
			assert.Equal(t, c.want == RateLimit && name == "cursor", reply.Failure.RetryAt != nil)
		})
	}
}

func TestEndings(t *testing.T) {
	t.Parallel()
	done := []byte(`{"type":"result","subtype":"success","result":"Done."}` + "\n")
	for name, c := range map[string]struct {
		result  process.Result
		want    FailureKind
		message string
	}{
		"it is gone": {
			process.Result{ExitCode: 127, NotFound: true},
			Unavailable,
			"cursor-agent is not installed: curl https://cursor.com/install -fsS | bash",
		},
		"killed by another": {
			process.Result{ExitCode: -1, Signal: "SIGSEGV", Stderr: []byte("rate limit\n")},
			Crashed,
			"ended by SIGSEGV rate limit",
		},
		"done, but exit 3": {
			process.Result{ExitCode: 3, Stdout: done, Stderr: []byte("it broke\n")},
			Crashed,
			"exit code 3 it broke",
		},
		"not a word": {process.Result{ExitCode: 1}, Crashed, "exit code 1"},
	} {
		agent := headless(t, commandline.Cursor(), ended{c.result})
		agent.linger = time.Hour // its process ends by itself, however busy the machine is
		reply, err := agent.Propose(t.Context(), recordedRequest(t, "cursor", Limit{}))
		require.NoError(t, err)
		require.NotNil(t, reply.Failure, name)
		assert.Equal(t, c.want, reply.Failure.Kind, name)
		assert.Equal(t, c.message, reply.Failure.Message, name)
	}
}
