package evaluation_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/process"
)

func TestMain(m *testing.M) {
	if handled, code := process.Supervise(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func evaluateScript(t *testing.T, script string, change ...func(*evaluation.Request)) evaluation.Result {
	t.Helper()
	request := evaluation.Request{
		Script: script, Dir: t.TempDir(), Artifacts: t.TempDir(), Metric: "m", Timeout: time.Minute,
		Env: []string{"PATH=" + os.Getenv("PATH"), "SECRET_TOKEN=hunter2hunter2"},
	}
	for _, f := range change {
		f(&request)
	}
	evaluator := evaluation.Evaluator{Runner: process.NewRunner(), Masker: process.NewMasker(request.Env)}
	outcome, err := evaluator.Run(context.Background(), request)
	require.NoError(t, err)
	return outcome
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for script, says := range map[string]string{
		"echo '{\"m\": 1}'; echo broken >&2; exit 3": "the evaluation ended with exit code 3:",
		"false\necho '{\"m\": 1}'":                   "exit code 1",
		"true":                                       "printed nothing",
		"echo '{\"m\": NaN}'":                        "NaN",
		"echo '{\"m\": 1e999}'":                      "out of range",
		"kill -9 $$":                                 "SIGKILL",
	} {
		got := evaluateScript(t, script)
		assert.Contains(t, got.Problem, says, script)
		assert.NotContains(t, got.Problem, "\n")
		assert.Nil(t, got.Measurement.Metric)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	got := evaluateScript(t, "echo '{\"m\": 1}'; sleep 600",
		func(r *evaluation.Request) { r.Timeout = 200 * time.Millisecond })
	assert.True(t, got.TimedOut)
	assert.Contains(t, got.Problem, "took longer than 200ms")
}
