package evaluation_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/tests/golden"
)

// played is a runner that starts nothing: it says how each command ended.
type played func(spec process.Spec) process.Result

func (f played) Run(_ context.Context, spec process.Spec) (process.Result, error) {
	return f(spec), nil
}

const (
	secret = "hunter2hunter2hunter2"
	env    = "SECRET_TOKEN=" + secret
)

// play evaluates a request whose commands end as the function says.
func play(t *testing.T, request evaluation.Request, ends played) evaluation.Result {
	t.Helper()
	if request.Artifacts == "" {
		request.Artifacts = t.TempDir()
	}
	if request.Script == "" {
		request.Script = "true"
	}
	request.Metric = "m"
	if request.Env == nil {
		request.Env = []string{"PATH=" + os.Getenv("PATH"), env}
	}
	evaluator := evaluation.Evaluator{Runner: ends, Masker: process.NewMasker([]string{env})}
	got, err := evaluator.Run(t.Context(), request)
	require.NoError(t, err)
	return got
}

// prints is a command that prints and exits with 0.
func prints(text string) played {
	return func(process.Spec) process.Result { return process.Result{Stdout: []byte(text)} }
}

// scriptOf is the file that a command runs, resultOf the one for its result.
func scriptOf(spec process.Spec) string { return spec.Args[len(spec.Args)-1] }

func resultOf(spec process.Spec) string { return process.Getenv(spec.Env, "AUTOLOOP_RESULT") }

// TestSetupAndScriptLimits: the setup has the network and the program's time, the script
// what the request says; neither finds what the other left.
func TestSetupAndScriptLimits(t *testing.T) {
	t.Parallel()
	artifacts, dir := t.TempDir(), t.TempDir()
	var ran []process.Spec
	got := play(t, evaluation.Request{
		Script: "echo 1\necho 2", Setup: "make", Dir: dir, Artifacts: artifacts, Timeout: 7 * time.Second,
		ScriptTimeout: 3 * time.Second, Offline: true, Trusted: true, Fixed: []string{"a", "b"},
	}, func(spec process.Spec) process.Result {
		ran = append(ran, spec)
		text, err := os.ReadFile(scriptOf(spec))
		require.NoError(t, err)
		want := []string{"make", "echo 1\necho 2"}[len(ran)-1]
		assert.Equal(t, strings.Count(want, "\n")+1, strings.Count(string(text), "\n"), "its lines keep their numbers")
		require.DirExists(t, filepath.Dir(resultOf(spec)))
		return process.Result{Stdout: []byte(`{"m": 4}`), Duration: time.Duration(len(ran)) * time.Second}
	})
	assert.Equal(t, []any{"4", 2 * time.Second}, []any{got.Measurement.Metric.String(), got.Duration})
	require.Len(t, ran, 2)
	for i, spec := range ran {
		assert.Equal(t, []any{
			i == 1, []time.Duration{7 * time.Second, 3 * time.Second}[i], true, dir,
			[]string{"a", "b"},
		},
			[]any{spec.Offline, spec.Timeout, spec.FillCaches, spec.Dir, spec.Fixed})
		assert.Equal(t, []string{scriptOf(spec)}, spec.Readable)
		assert.Equal(t, []string{filepath.Dir(resultOf(spec))}, spec.Writable, "nothing else of what is kept")
		assert.NoDirExists(t, spec.Writable[0], "it is gone when the command has ended")
	}
	assert.NotEqual(t, ran[0].Writable, ran[1].Writable, "the setup cannot leave a result to the script")
}

// TestSetupOutputIsNoResult: neither in its file nor on its standard output, and
// the script does not run after a setup that failed.
func TestSetupOutputIsNoResult(t *testing.T) {
	t.Parallel()
	for exit, says := range map[int]string{0: "it printed nothing", 2: "exit code 2"} {
		calls := 0
		got := play(t, evaluation.Request{Setup: "make"}, func(spec process.Spec) process.Result {
			if calls++; calls > 1 {
				return process.Result{}
			}
			require.NoError(t, os.WriteFile(resultOf(spec), []byte(`{"m": 9}`), 0o600))
			return process.Result{ExitCode: exit, Stdout: []byte(`{"m": 8}`), Duration: time.Hour}
		})
		assert.Contains(t, got.Problem, says)
		assert.Nil(t, got.Measurement.Metric)
		assert.Zero(t, got.Duration)
		assert.Equal(t, exit == 0, calls == 2)
	}
}

// TestHowACommandEnds: any end but a good one is a problem, in one line, whatever it
// printed.
func TestHowACommandEnds(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]process.Result{
		"well":            {},
		"with words":      {ExitCode: 3, Stderr: []byte("oh\n")},
		"by a signal":     {ExitCode: -1, Signal: "SIGSEGV", Stderr: []byte("oh\n")},
		"for its time":    {ExitCode: -1, Signal: "SIGKILL", TimedOut: true},
		"for its memory":  {ExitCode: -1, Signal: "SIGKILL", Exceeded: "more than 1 GiB"},
		"before it began": {ExitCode: 127, NotFound: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ends.Stdout = []byte(`{"m": 1}`)
			got := play(t, evaluation.Request{Timeout: time.Minute},
				func(process.Spec) process.Result { return ends })
			golden.Line(t, got.Problem)
			assert.Equal(t, ends.TimedOut, got.TimedOut)
			assert.Equal(t, got.Problem == "", got.Measurement.Metric != nil)
		})
	}
}

// broken is a runner that cannot run anything.
type broken struct{ err error }

func (b broken) Run(context.Context, process.Spec) (process.Result, error) {
	return process.Result{}, b.err
}

// TestOurOwnFailuresAreErrors: what was not run is no fault of what was measured.
func TestOurOwnFailuresAreErrors(t *testing.T) {
	t.Parallel()
	failed := errors.New("no processes left")
	for _, setup := range []string{"", "make"} {
		e := evaluation.Evaluator{Runner: broken{failed}}
		_, err := e.Run(t.Context(), evaluation.Request{Setup: setup, Artifacts: t.TempDir()})
		require.ErrorIs(t, err, failed)
		assert.Contains(t, err.Error(), map[string]string{"": "run the evaluation: ", "make": "run the setup: "}[setup])
	}
	gone := filepath.Join(t.TempDir(), "gone")
	e := evaluation.Evaluator{Runner: prints(`{"m": 1}`)}
	_, err := e.Run(t.Context(), evaluation.Request{Artifacts: gone})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = e.Run(t.Context(), evaluation.Request{Artifacts: t.TempDir(), Keep: filepath.Join(gone, "kept.txt")})
	require.ErrorIs(t, err, os.ErrNotExist)

	why := errors.New("the iteration's time is up")
	ctx, cancel := context.WithCancelCause(t.Context())
	e.Runner = played(func(process.Spec) process.Result {
		cancel(why)
		return process.Result{Cancelled: true, ExitCode: -1, Signal: "SIGKILL"}
	})
	_, err = e.Run(ctx, evaluation.Request{Artifacts: t.TempDir()})
	assert.Equal(t, why, err, "as its cause says, and not as a failure of the script")
}

// TestCutOffResult: of an output that is too long to be kept, a number counts only
// when it is no part of an object that began before.
func TestCutOffResult(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end, metric string
		says        string
	}{
		"an object of its own":    {"of 3}\n{\"m\": 5}\n", "5", ""},
		"and words with brackets": {"x\n{\"m\": 5}\n[ok] {1} done}\n", "5", ""},
		"a part of an object":     {`, "last": {"m": 5}}`, "", "the beginning of its last JSON object"},
		"a part before others": {
			`, "a": {"m": 5} , "z": [1, "]}`, "",
			"the beginning of its last JSON object",
		},
		"the same before it": {"{\"m\": 5}}\n{\"m\": 5}\n", "5", ""},
		"cut off at its end": {"x\n{\"m\": 5", "", "its last JSON object is cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := play(t, evaluation.Request{}, prints(c.end))
			got := play(t, evaluation.Request{}, func(process.Spec) process.Result {
				return process.Result{Stdout: []byte(c.end), StdoutTruncated: true}
			})
			assert.Contains(t, got.Problem, c.says)
			assert.Equal(t, c.metric == "", got.Problem != "", got.Problem)
			if c.metric != "" {
				assert.Equal(t, c.metric, got.Measurement.Metric.String())
				assert.Equal(t, whole.Measurement, got.Measurement)
			}
			given := play(t, evaluation.Request{}, func(spec process.Spec) process.Result {
				require.NoError(t, os.WriteFile(resultOf(spec), []byte(`{"m": 7}`), 0o600))
				return process.Result{Stdout: []byte(c.end), StdoutTruncated: true}
			})
			assert.Equal(t, "7", given.Measurement.Metric.String(), "its file is not cut")
		})
	}
}
