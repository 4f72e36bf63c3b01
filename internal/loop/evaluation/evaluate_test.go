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

// TestWholeOutputIsKept: setup and script, their beginning and their end where it
// is long, without secrets, also where one is cut.
func TestWholeOutputIsKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		most   int
		has    []string
	}{
		"short": {
			`echo out; echo err >&2; exit 4`, 200,
			[]string{"== the evaluation: exit code 4 after", "== standard error\nerr\n== standard output\nout\n"},
		},
		"long": {
			`echo begin; head -c 3000000 /dev/zero | tr '\0' x; echo; echo end; exit 4`, 1 << 20,
			[]string{"\nbegin\nxxx", "… (left out)", "xxx\nend\n"},
		},
		"longer than anybody keeps": {
			`(echo "$SECRET_TOKEN"; head -c 11000000 /dev/zero | tr '\0' x; echo; echo end) | tee /dev/stderr`, 1 << 20,
			[]string{"error\n… (left out)\nxxx", "output\n… (left out)\nxxx", "xxx\nend\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "kept.txt")
			evaluateScript(t, c.script, func(r *evaluation.Request) { r.Keep, r.Setup = file, "echo prepared" })
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			kept := string(text)
			assert.Contains(t, kept, "== the setup: exit code 0")
			assert.Contains(t, kept, "prepared\n")
			for _, part := range c.has {
				//nolint:testifylint // A failure would print a megabyte.
				assert.True(t, strings.Contains(kept, part), part)
			}
			assert.LessOrEqual(t, len(kept), c.most+400)
			assert.False(t, strings.Contains(kept, "hunter2")) //nolint:testifylint // As above.
		})
	}
}
