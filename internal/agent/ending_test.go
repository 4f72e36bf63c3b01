package agent

import (
	"context"
	"strings"
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

// TestEndings: nothing but exit code 0 without an error in the output is success.
func TestEndings(t *testing.T) {
	t.Parallel()
	exit := func(code int, out, errs string) process.Result {
		return process.Result{ExitCode: code, Stdout: []byte(out + "\n"), Stderr: []byte(errs)}
	}
	const done = `{"type":"result","subtype":"success","result":"Done."}`
	for name, c := range map[string]struct {
		agent  commandline.Descriptor
		result process.Result
		want   FailureKind
		// message is how the failure begins, "" is in any way.
		message string
	}{
		"claude": {commandline.Claude(), exit(0, `{"type":"result","subtype":"success","is_error":true,`+
			`"api_error_status":401,"result":"no such key"}`, ""), Authentication, ""},
		"claude's turns": {
			commandline.Claude(),
			exit(0, `{"type":"result","subtype":"error_max_turns","errors":["too many turns"]}`, ""), Budget, "",
		},
		"codex": {
			commandline.Codex(),
			exit(0, `{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized"}}`, ""),
			Authentication, "",
		},
		"copilot": {commandline.Copilot(), exit(0, `{"type":"session.error","data":{"errorType":"query",`+
			`"statusCode":429,"message":"slow down"}}`, ""), RateLimit, ""},
		"gemini": {commandline.Gemini(), exit(0, `{"type":"result","status":"error","error":{"type":"Error",`+
			`"message":"{\"code\": 403}"}}`, ""), Authentication, ""},
		"opencode": {commandline.Opencode(), exit(0, `{"type":"error","error":{"name":"APIError","data":`+
			`{"message":"out of credits","statusCode":402}}}`, ""), Budget, ""},
		"cursor": {commandline.Cursor(), exit(0, `{"type":"result","subtype":"success","is_error":true,`+
			`"result":"Rate limit reached, try again in 2 hours"}`, ""), RateLimit, ""},
		"cursor's subtype": {
			commandline.Cursor(), exit(0, `{"type":"result","subtype":"error","result":"something broke"}`, ""),
			Crashed, "something broke",
		},
		"it is gone": {
			commandline.Cursor(),
			process.Result{ExitCode: 127, NotFound: true},
			Unavailable,
			"cursor-agent is not installed: ",
		},
		"killed by another": {
			commandline.Cursor(),
			process.Result{ExitCode: -1, Signal: "SIGSEGV", Stderr: []byte("rate limit\n")},
			Crashed, "ended by SIGSEGV rate limit",
		},
		"done, but exit 3": {commandline.Cursor(), exit(3, done, "it broke\n"), Crashed, "exit code 3 it broke"},
		"not a word":       {commandline.Cursor(), exit(1, "", ""), Crashed, "exit code 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent := headless(t, c.agent, ended{c.result})
			agent.linger = time.Hour // its process ends by itself, however busy the machine is
			reply := must(agent.Propose(t.Context(), recordedRequest(t, c.agent.Name, Limit{})))
			require.NotNil(t, reply.Failure)
			assert.Equal(t, c.want, reply.Failure.Kind, reply.Failure.Message)
			assert.True(t, strings.HasPrefix(reply.Failure.Message, c.message), reply.Failure.Message)
			assert.Nil(t, reply.Idle)
			assert.Equal(t, name == "cursor", reply.Failure.RetryAt != nil)
		})
	}
}

// must is the value of a call that may not fail.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
