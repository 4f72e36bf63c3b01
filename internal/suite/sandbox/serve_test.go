package sandbox_test

import (
	"context"
	"errors"
	"net"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite/sandbox"
	"github.com/org/autoloop/tests/golden"
)

// TestServers: one that listens is at its address until it is closed; of another it is said
// why it does not.
func TestServers(t *testing.T) {
	t.Parallel()
	waits := func(ctx context.Context, _ string) process.Result {
		<-ctx.Done()
		return process.Result{Cancelled: true}
	}
	answers := func(ctx context.Context, port string) process.Result {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:"+port)
		if err != nil {
			return process.Result{ExitCode: 1, Stderr: []byte(err.Error())}
		}
		<-ctx.Done()
		_ = listener.Close()
		return process.Result{Cancelled: true}
	}
	ending := func(result process.Result) func(context.Context, string) process.Result {
		return func(context.Context, string) process.Result { return result }
	}
	const secret = "sk-very-secret-key"
	for name, c := range map[string]struct {
		serve func(ctx context.Context, port string) process.Result
		limit time.Duration
	}{
		"it listens":   {answers, time.Minute},
		"it ends well": {ending(process.Result{Stdout: []byte("bye\n")}), time.Minute},
		"it crashes": {
			ending(process.Result{ExitCode: 1, Stderr: []byte("one\nno module " + secret + "\n")}), time.Minute,
		},
		"it listens to nobody": {waits, 60 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var serving atomic.Int32
			runner := &ends{}
			runner.each = func(ctx context.Context, spec process.Spec) (process.Result, error) {
				_, port, _ := strings.Cut(strings.Join(spec.Env, " "), " PORT=")
				serving.Add(1)
				defer serving.Add(-1)
				return c.serve(ctx, port), nil
			}
			box := openBy(t, runner, func(m *sandbox.Maker) { m.Offline = true })
			box.Masker = process.NewMasker(nil, secret)
			url, end, err := box.Serve(t.Context(), "", "serve it", c.limit)
			why := ""
			if err != nil {
				var fault *misuse.Error
				require.ErrorAs(t, err, &fault)
				why = err.Error()
			}
			runner.mu.Lock()
			defer runner.mu.Unlock()
			last := runner.specs[len(runner.specs)-1].Env
			port := strings.TrimPrefix(last[len(last)-1], "PORT=")
			golden.Line(t, strings.Replace(why, "127.0.0.1:"+port, "127.0.0.1:PORT", 1))
			require.Len(t, runner.specs, 1)
			spec := runner.specs[0]
			assert.Contains(t, spec.Env, "HOME="+box.Base+"/server", "none of the agent's")
			assert.Equal(t, box.Dir, spec.Dir)
			assert.False(t, spec.Offline, "the cases ask it over the network")
			assert.True(t, strings.HasSuffix(spec.Args[2], "serve it"))
			assert.Zero(t, spec.Timeout, "it runs as long as it is needed")
			if why != "" {
				assert.Nil(t, end)
				return
			}
			require.Equal(t, "http://127.0.0.1:"+port, url)
			connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", "127.0.0.1:"+port)
			require.NoError(t, err)
			_ = connection.Close()
			end()
			assert.Zero(t, serving.Load(), "nothing of it is left; its port may be another's by now")
		})
	}
}

// TestServerIsNotStartedAfterAFailedSetup, whose own -e counts.
func TestServerIsNotStartedAfterAFailedSetup(t *testing.T) {
	t.Parallel()
	box := openBy(t, &ends{each: func(ctx context.Context, spec process.Spec) (process.Result, error) {
		cmd := exec.CommandContext(ctx, spec.Args[0], spec.Args[1:]...)
		out, _ := cmd.CombinedOutput()
		return process.Result{ExitCode: cmd.ProcessState.ExitCode(), Stdout: out}, nil
	}}, nil)
	_, _, err := box.Serve(t.Context(), "set -e\necho 'it is' set up\n(exit 3)\necho went on", "echo served", time.Minute)
	golden.Line(t, err)
}

// unannounced is a context of which the end is not announced yet.
type unannounced struct {
	context.Context

	err error
}

func (unannounced) Done() <-chan struct{} { return nil }

func (e unannounced) Err() error { return e.err }

// TestServersThatCannotBeStarted are errors, not faults of the skill.
func TestServersThatCannotBeStarted(t *testing.T) {
	t.Parallel()
	broken, stopped := errors.New("broken"), errors.New("stopped")
	for _, setup := range []string{"", "make"} {
		for _, want := range []error{broken, stopped} {
			ctx, stop := context.WithCancelCause(t.Context())
			box := openBy(t, &ends{each: func(running context.Context, _ process.Spec) (process.Result, error) {
				if want == broken { //nolint:errorlint // the row
					return process.Result{}, want
				}
				stop(want)
				<-running.Done()
				return process.Result{ExitCode: -1, Cancelled: true}, nil
			}}, nil)
			_, end, err := box.Serve(ctx, setup, "serve", time.Minute)
			require.ErrorIs(t, err, want)
			var fault *misuse.Error
			assert.NotErrorAs(t, err, &fault)
			assert.Nil(t, end)
			stop(nil)
		}
	}
	// Its end is seen before that of the run.
	box := openBy(t, as(process.Result{ExitCode: -1, Cancelled: true}), nil)
	_, end, err := box.Serve(unannounced{t.Context(), stopped}, "", "serve", time.Minute)
	require.ErrorIs(t, err, stopped)
	assert.Nil(t, end)
}
