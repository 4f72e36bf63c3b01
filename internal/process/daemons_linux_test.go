package process_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/process"
)

// TestIsolatedCommandsFindNoSocket: a daemon of the system, which could run
// something later and elsewhere, is not there to be asked.
func TestIsolatedCommandsFindNoSocket(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "s") //nolint:usetesting // the path of a socket is short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "daemon")
	daemon, err := net.Listen("unix", socket) //nolint:noctx // it is closed when the test ends
	require.NoError(t, err)
	t.Cleanup(func() { _ = daemon.Close() })
	isolated(t, `[ -e "$SOCKET" ] && echo "found $SOCKET"; ls -A /run; find /run /tmp /var/tmp /dev/shm -type s `+
		`2>/dev/null; true`, func(t *testing.T, _ place, result process.Result) {
		t.Helper()
		assert.Empty(t, string(result.Stdout))
	}, func(_ place, spec *process.Spec) { spec.Args[2] = "SOCKET=" + socket + "; " + spec.Args[2] })
}
