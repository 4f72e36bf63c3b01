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
	whole := sealed(t, 12)
	for i := range 11 { // the next pack is the twelfth, and all become one
		whole.due()
		whole.iterate(13 + i)
	}
	// All in one file, as an older version wrote it: the next run seals several segments.
	whole.putWhole()
	whole.due()
	temporary := t.TempDir()
	packs := map[int]bool{}
	for k := 1; ; k++ {
		// Each process finds the repository as it was: what another packed would be packed.
		c := &checkout{t: t, env: userEnv(t), dir: filepath.Join(t.TempDir(), "copy"), keepDetails: 10}
		require.NoError(t, os.CopyFS(c.dir, os.DirFS(whole.dir)))
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$") //nolint:noctx // it is killed
		cmd.Env = append(os.Environ(), sealsOnce+"="+c.dir, "TMPDIR="+temporary)
		call := long.KillAt(t, cmd, k, func(string) bool { return true })
		c.user("fsck", "--strict")
		found, err := filepath.Glob(filepath.Join(c.dir, ".git/objects/pack/autoloop-*.pack"))
		require.NoError(t, err)
		packs[len(found)] = true
		c.openMemory("")
		decided, summary := c.numbers()
		if call != "" && summary.Iteration < 31 {
			c.iterate(31)
			decided, _ = c.numbers()
		}
		require.Len(t, decided, 24, "%d %s", k, call)
		for i, number := range decided[:23] {
			require.Equal(t, i+1, number, "%d %s", k, call)
		}
		require.Equal(t, 31, decided[23], "%d %s", k, call)
		require.Greater(t, len(c.names()), 4)
		records, err := c.audited()
		require.NoError(t, err)
		require.Empty(t, records.Broken, "%d %s", k, call)
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
	for _, n := range []int{1, 11, 12, 13} {
		assert.True(t, packs[n], "%d packs at the moment of a kill: %v", n, packs)
	}
}
