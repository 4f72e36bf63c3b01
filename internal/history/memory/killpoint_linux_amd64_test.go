package memory_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// sealsOnce is a variable with a directory in which a process records one iteration.
const sealsOnce = "AUTOLOOP_TEST_SEALS"

// TestKilledAtEveryCallOfSealingAndPacking kills a process that seals, forgets and packs
// right before each of its changing calls, and goes on: nothing is lost, and nothing is
// there twice.
func TestKilledAtEveryCallOfSealingAndPacking(t *testing.T) {
	if dir := os.Getenv(sealsOnce); dir != "" {
		c := &checkout{t: t, env: userEnv(t), dir: dir, keepDetails: 10}
		c.openMemory("")
		c.iterate(31)
		return
	}
	long.Only(t, long.Kills)
	t.Parallel()
	c := sealed(t, 30)
	// All in one file, as an older version wrote it: the next run seals several segments.
	c.putWhole()
	before, temporary := c.user("rev-parse", memoryRef), t.TempDir()
	for k := 1; ; k++ {
		c.user("update-ref", memoryRef, before)
		c.due()
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$") //nolint:noctx // it is killed
		cmd.Env = append(os.Environ(), sealsOnce+"="+c.dir, "TMPDIR="+temporary)
		call := long.KillAt(t, cmd, k, func(string) bool { return true })
		decided, summary := c.numbers()
		if call != "" && summary.Iteration < 31 {
			c.iterate(31)
			decided, _ = c.numbers()
		}
		for i, number := range decided {
			require.Equal(t, i+1, number, "%d %s", k, call)
		}
		require.Len(t, decided, 31, "%d %s", k, call)
		require.Greater(t, len(c.names()), 4)
		records, err := c.audited()
		require.NoError(t, err)
		require.Empty(t, records.Broken, "%d %s", k, call)
		require.Empty(t, records.Rewritten, "%d %s", k, call)
		if call == "" {
			require.Greater(t, k, 10)
			break
		}
	}
	c.user("fsck", "--strict")
	locks, err := filepath.Glob(filepath.Join(c.dir, ".git/*/*.lock"))
	require.NoError(t, err)
	assert.Empty(t, locks)
}
