package memory_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// recordsOnce is a variable with a directory in which a process records one iteration.
const recordsOnce = "AUTOLOOP_TEST_RECORDS"

// TestKilledAtEveryCallOfRecording kills a process that records an iteration right
// before each of its changing calls, and goes on: nothing is lost, and nothing is
// there twice.
func TestKilledAtEveryCallOfRecording(t *testing.T) {
	if dir := os.Getenv(recordsOnce); dir != "" {
		c := &checkout{t: t, env: userEnv(t), dir: dir}
		c.openMemory("")
		c.iterate(4)
		return
	}
	long.Only(t, long.Kills)
	t.Parallel()
	whole := lived(t, 3)
	temporary := t.TempDir()
	for k := 1; ; k++ {
		c := &checkout{t: t, env: userEnv(t), dir: filepath.Join(t.TempDir(), "copy")}
		require.NoError(t, os.CopyFS(c.dir, os.DirFS(whole.dir)))
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$") //nolint:noctx // it is killed
		cmd.Env = append(os.Environ(), recordsOnce+"="+c.dir, "TMPDIR="+temporary)
		call := long.KillAt(t, cmd, k, func(string) bool { return true })
		c.user("fsck", "--strict")
		c.openMemory("")
		decided, summary := c.numbers()
		if call != "" && summary.Iteration < 4 {
			c.iterate(4)
			decided, _ = c.numbers()
		}
		require.Equal(t, []int{1, 2, 3, 4}, decided, "%d %s", k, call)
		records, err := c.audited()
		require.NoError(t, err)
		require.Empty(t, records.Rewritten, "%d %s", k, call)
		locks, err := filepath.Glob(filepath.Join(c.dir, ".git/*/*.lock"))
		require.NoError(t, err)
		require.Empty(t, locks)
		require.NoError(t, os.RemoveAll(c.dir))
		if call == "" {
			require.Greater(t, k, 10)
			break
		}
	}
}
