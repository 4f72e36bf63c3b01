package tests

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// TestKilledWhileArchiving kills `scheduler prune --history` right before each of its
// changing calls, and archives again: nothing is lost at any of them, and nothing is
// there twice.
func TestKilledWhileArchiving(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	w := longWorld(t, 120)
	whole := w.git("rev-parse", "memory/autoloop")
	for k := 1; ; k++ {
		w.git("update-ref", "refs/heads/memory/autoloop", whole)
		dir := t.TempDir()
		file := filepath.Join(dir, "old.jsonl")
		args := []string{"prune", "--history", "p", "--keep", "20", "--out", file, "--yes"}
		call := long.KillAt(t, w.command("scheduler", args...), k, func(string) bool { return true })
		if archived := w.git("rev-parse", "memory/autoloop") != whole; !archived {
			a := w.binary("scheduler", args...)
			require.Zero(t, a.code, "%d %s: %s", k, call, a.stderr)
		}
		a := w.binary("iterate", "replay", "p", "--archive", file)
		require.Zero(t, a.code, "%d %s: %s%s", k, call, a.stdout, a.stderr)
		require.Contains(t, a.stdout, "p: 120 iterations", "%d %s", k, call)
		if call == "" {
			require.Greater(t, k, 8)
			break
		}
	}
	entries, err := os.ReadDir(filepath.Join(w.dir, ".git"))
	require.NoError(t, err)
	for _, e := range entries {
		assert.NotContains(t, e.Name(), ".lock")
	}
	w.git("fsck", "--strict")
}
