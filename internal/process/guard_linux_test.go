package process_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/process"
)

// TestTooManyProcesses: a command that has more of them than it may, in one session
// or in many, is ended with all of them. The scripts start a few hundred.
func TestTooManyProcesses(t *testing.T) {
	t.Parallel()
	const bound = 100
	for name, script := range map[string]string{
		"in one session":           `i=0; while [ $i -lt 300 ]; do sleep 60000 & i=$((i+1)); done; wait`,
		"in sessions of their own": `i=0; while [ $i -lt 300 ]; do setsid sleep 60000 & i=$((i+1)); done; wait`,
		"each starts two":          `bomb() { [ "$1" -gt 6 ] && exec sleep 60000; (bomb $(($1+1))) & (bomb $(($1+1))) & wait; }; bomb 0`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mark := marked()
			runner := process.NewRunner()
			runner.Processes = bound
			result, err := runner.Run(context.Background(), process.Spec{Args: []string{"sh", "-c", script}, Dir: t.TempDir(), Env: []string{path, mark}})
			require.NoError(t, err)
			assert.Equal(t, "it had more than 100 processes", result.Exceeded)
			assert.False(t, result.OK())
			assert.Empty(t, living(mark))
		})
	}
}

// TestManyProcessesAreFine: a build on a large machine has hundreds.
func TestManyProcessesAreFine(t *testing.T) {
	t.Parallel()
	result, err := process.NewRunner().Run(context.Background(), process.Spec{
		Args: []string{"sh", "-c", `i=0; while [ $i -lt 200 ]; do sleep 0.3 & i=$((i+1)); done; wait; cat /proc/self/oom_score_adj`}, Dir: t.TempDir(), Env: []string{path},
	})
	require.NoError(t, err)
	assert.Empty(t, result.Exceeded)
	assert.Equal(t, "500\n", string(result.Stdout), "the kernel ends it first")
	own, err := os.ReadFile("/proc/self/oom_score_adj")
	require.NoError(t, err)
	assert.NotEqual(t, "500\n", string(own), "and not us")
}
