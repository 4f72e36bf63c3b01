package skill

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/testdir"
)

func scanned(t testing.TB, dir string) Tree {
	t.Helper()
	found, err := Scan(t.Context(), dir)
	require.NoError(t, err)
	return found.Tree
}

func taken(t testing.TB, src, snapshot string) Taken {
	t.Helper()
	done, err := TakeSnapshot(t.Context(), src, snapshot)
	require.NoError(t, err)
	return done
}

// newWorkspace makes the workspace base/ws of the skill base/s.
func newWorkspace(t *testing.T, skill paths) (w *Workspace, base string) {
	t.Helper()
	base = testdir.New(t, nil)
	testdir.Put(t, filepath.Join(base, "s"), skill)
	w, err := CreateWorkspace(t.Context(), filepath.Join(base, "ws"), filepath.Join(base, "s"))
	require.NoError(t, err)
	return w, base
}

// writable lets a test change a snapshot.
func writableSnapshot(t *testing.T, snapshot string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(snapshot, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.Type()&os.ModeSymlink != 0 {
			return err
		}
		return os.Chmod(name, 0o755) //nolint:gosec // a directory of the test's
	}))
	require.NoError(t, os.Chmod(ManifestFile(snapshot), 0o644))
}

// assertHas finds nothing in a directory but these, separated by blanks; prefix, "" for all, is
// what the names begin with, after a dot or not.
func assertHas(t *testing.T, dir, prefix, names string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	found := []string{}
	for _, e := range entries {
		if strings.HasPrefix(strings.TrimPrefix(e.Name(), "."), prefix) {
			found = append(found, e.Name())
		}
	}
	assert.ElementsMatch(t, strings.Fields(names), found)
}
