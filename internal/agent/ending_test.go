package agent

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/tests/golden"
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
	golden.Table(t, map[string]string{ // AGENT CODE OUT, and what it said to standard error
		"claude": `claude 0 {"type":"result","subtype":"success","is_error":true,"api_error_status":401,` +
			`"result":"no such key"}`,
		"claude's turns": `claude 0 {"type":"result","subtype":"error_max_turns","errors":["too many turns"]}`,
		"codex":          `codex 0 {"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized"}}`,
		"copilot": `copilot 0 {"type":"session.error","data":{"errorType":"query","statusCode":429,` +
			`"message":"slow down"}}`,
		"gemini": `gemini 0 {"type":"result","status":"error","error":{"type":"Error","message":"{\"code\": 403}"}}`,
		"opencode": `opencode 0 {"type":"error","error":{"name":"APIError","data":{"message":"out of credits",` +
			`"statusCode":402}}}`,
		"cursor": `cursor 0 {"type":"result","subtype":"success","is_error":true,` +
			`"result":"Rate limit reached, try again in 2 hours"}`,
		"cursor's subtype":  `cursor 0 {"type":"result","subtype":"error","result":"something broke"}`,
		"it is gone":        "cursor 127 ",
		"killed by another": "cursor -1 \nrate limit\n",
		"done, but exit 3":  `cursor 3 {"type":"result","subtype":"success","result":"Done."}` + "\nit broke\n",
		"not a word":        "cursor 1 \n",
	}, func(t *testing.T, row string) any {
		part := strings.SplitN(row, " ", 3)
		code := must(strconv.Atoi(part[1]))
		out, errs, _ := strings.Cut(part[2], "\n")
		result := process.Result{ExitCode: code, Stdout: []byte(out + "\n"), Stderr: []byte(errs)}
		result.NotFound, result.Signal = code == 127, map[int]string{-1: "SIGSEGV"}[code]
		agent := headless(t, named(part[0]), ended{result})
		agent.linger = time.Hour // its process ends by itself, however busy the machine is
		reply := must(agent.Propose(t.Context(), recordedRequest(t, part[0], metric.Limit{})))
		require.NotNil(t, reply.Failure)
		assert.Nil(t, reply.Idle)
		return fmt.Sprint(reply.Failure.Kind, ": ", reply.Failure.Message, ", again at ", reply.Failure.RetryAt)
	})
}

// named is the descriptor of an agent.
func named(name string) commandline.Descriptor {
	all := commandline.All()
	return all[slices.IndexFunc(all, func(d commandline.Descriptor) bool { return d.Name == name })]
}

// must is the value of a call that may not fail.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
