package evaluation_test

import (
	"context"
	"os"
	"testing"
	"time"

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
