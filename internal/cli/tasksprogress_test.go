package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/tasks/taskrun"
)

func TestTaskProgress(t *testing.T) {
	t.Parallel()
	half := taskrun.Progress{
		Done: 5, Total: 10, Reused: 2, Task: "fix\x1b[31m", Side: "candidate", Passed: 1, Checks: 3, Failure: "timeout: it\ntook long",
		USD: metric.MustValue("0.12345"), Tokens: 700, Unknown: 1,
	}
	var out bytes.Buffer
	env := Env{Stderr: &out, Now: time.Now, Getenv: func(string) string { return "" }}
	shown := newTaskProgress(env)
	shown.Show(taskrun.Progress{Total: 10})
	shown.Show(half)
	shown.Show(taskrun.Progress{Done: 10, Total: 10, Judged: 1, ToJudge: 4})
	shown.Close()
	assert.Equal(t, "0/10 runs\n"+
		"5/10 runs, 2 kept from before, 0.1235 USD, 700 tokens, 1 runs of unknown cost: fix, candidate: 1 of 3 checks passed (timeout: it took long)\n"+
		"10/10 runs, 1/4 judged\n", out.String())

	out.Reset()
	drawn := make(chan struct{}, 1)
	env.Terminal, env.Stderr = true, writerFunc(func(p []byte) (int, error) {
		select {
		case drawn <- struct{}{}:
		default:
		}
		return out.Write(p)
	})
	live := newTaskProgress(env)
	time.Sleep(3 * beat)
	live.Show(half)
	<-drawn
	live.Close()
	first, _, _ := strings.Cut(strings.TrimPrefix(out.String(), "\r\x1b[K"), "\r")
	assert.Regexp(t, `^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] \(\d+s\) \[██████████░░░░░░░░░░\] 5/10 runs`, first, "nothing is drawn before there is something to say")
	assert.True(t, strings.HasSuffix(out.String(), "\r\x1b[K"))
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
