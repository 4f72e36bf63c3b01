package agent_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/tests/golden"
)

func TestMain(m *testing.M) {
	if handled, code := process.Supervise(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func propose(t *testing.T, script string, change func(*agent.Request)) agent.Reply {
	t.Helper()
	request := agent.Request{
		Dir: t.TempDir(), Home: t.TempDir(), Prompt: "make it better\n", Command: script, Model: "big", Iteration: 7,
		Timeout: time.Minute,
		Env:     []string{"PATH=" + os.Getenv("PATH"), "MY_TOKEN=hunter2hunter2"},
	}
	change(&request)
	reply, err := (&agent.Command{
		Runner: process.NewRunner(),
		Masker: process.NewMasker(request.Env),
	}).Propose(context.Background(), request)
	require.NoError(t, err)
	return reply
}

func TestCommandGetsThePrompt(t *testing.T) {
	t.Parallel()
	reply := propose(t, `cat; cat "$AUTOLOOP_PROMPT"; echo "$AUTOLOOP_MODEL $AUTOLOOP_ITERATION" >&2; `+
		`printf 'made it\033[31m better\n\n'`,
		func(r *agent.Request) { r.Transcript = filepath.Join(t.TempDir(), "all") })
	require.Nil(t, reply.Failure)
	assert.Equal(t, "made it better", reply.Summary)
	kept := must(os.ReadFile(reply.Transcript))
	assert.Equal(t, 2, strings.Count(string(kept), "make it better\n"))
	assert.Contains(t, string(kept), "big 7\n")
	assert.Nil(t, reply.Usage.CostUSD, "unknown is not zero")
}

func TestCommandFailures(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"echo no >&2; exit 3", "kill -9 $$", "sleep 600", " "} {
		reply := propose(t, script, func(r *agent.Request) {
			if script == "sleep 600" { // the others may take as long as the machine does
				r.Timeout = 300 * time.Millisecond
			}
		})
		require.NotNil(t, reply.Failure, script)
		golden.Row(t, script, fmt.Sprint(reply.Failure.Kind, ": ", reply.Failure.Message))
	}
	gone := propose(t, "no-such-program-here", func(*agent.Request) {}).Failure // a shell has its own words for it
	require.NotNil(t, gone)
	assert.Equal(t, agent.Crashed, gone.Kind)
	assert.Contains(t, gone.Message, "exit code 127")
}

func TestCommandTranscriptIsMasked(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "transcript")
	reply := propose(t, `echo "my token is $MY_TOKEN"`, func(r *agent.Request) { r.Transcript = file })
	assert.Equal(t, "my token is ***", reply.Summary)
	data := must(os.ReadFile(file))
	assert.Equal(t, "my token is ***\n", string(data))
}

// must is the value of a call that may not fail.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
