//go:build unix

package agent

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/commandline"
)

// TestTelemetryThatIsNoFile: a pipe or a link in place of the telemetry is
// neither waited for nor followed, and of a file spans alone are believed.
func TestTelemetryThatIsNoFile(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(path string) error{
		"pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"link": func(path string) error { return os.Symlink("/dev/zero", path) },
		"events": func(path string) error {
			return os.WriteFile(path, []byte(`{"type":"session.error","data":{"errorType":"rate_limit"}}`), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			require.NoError(t, leave(filepath.Join(home, "telemetry")))
			w := watch{reader: commandline.Copilot().Read()}
			w.finish(home, "telemetry")
			assert.Nil(t, w.reader.SoFar().Usage.InputTokens)
			assert.Nil(t, w.reader.SoFar().Problem)
		})
	}
}

// TestTelemetryOfLongWork: of a file that is too large its beginning is believed, so that
// commands that write there cannot hide what was used before.
func TestTelemetryOfLongWork(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, "telemetry")
	require.NoError(t, os.WriteFile(file, []byte(
		`{"attributes":{"gen_ai.operation.name":"chat","gen_ai.usage.input_tokens":7}}`+"\n"), 0o600))
	require.NoError(t, os.Truncate(file, 5*maxLine))
	w := watch{reader: commandline.Copilot().Read()}
	w.finish(home, "telemetry")
	assert.Equal(t, int64(7), *w.reader.SoFar().Usage.InputTokens)
}
