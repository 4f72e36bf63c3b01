package evaluation_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
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
		"echo '{\"m\": 1}'; echo broken >&2; exit 3": "the evaluation ended with exit code 3: broken",
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

func TestOutputIsKeptWithoutSecrets(t *testing.T) {
	t.Parallel()
	artifacts := t.TempDir()
	got := evaluateScript(t,
		`echo "token $SECRET_TOKEN" >&2; head -c 3000000 /dev/zero | tr '\0' x; echo; echo '{"m": 1}'`,
		func(r *evaluation.Request) { r.Artifacts = artifacts })
	assert.Equal(t, "1", got.Measurement.Metric.String())
	assert.LessOrEqual(t, len(got.Tail), 2100)
	assert.Contains(t, got.Tail, "token ***")
	data, err := os.ReadFile(filepath.Join(artifacts, "evaluation.stderr"))
	require.NoError(t, err)
	assert.Equal(t, "token ***\n", string(data))
	data, err = os.ReadFile(filepath.Join(artifacts, "evaluation.stdout"))
	require.NoError(t, err)
	assert.True(t, strings.HasSuffix(string(data), "x\n{\"m\": 1}\n"))
}
