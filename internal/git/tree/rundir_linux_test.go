package tree_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/tests/long"
)

// anotherNamespace says to the test binary that it is a run in another pid namespace.
const anotherNamespace = "AUTOLOOP_TEST_RUNDIR"

func TestOtherPIDNamespaceKeepsLiveDirectory(t *testing.T) {
	if above := os.Getenv(anotherNamespace); above != "" {
		_, remove, err := tree.NewRunDir(above)
		require.NoError(t, err)
		remove()
		return
	}
	above := t.TempDir()
	live, remove, err := tree.NewRunDir(above)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(live, "work"), nil, 0o600))

	other := exec.CommandContext(t.Context(), "unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc",
		os.Args[0], "-test.run", "^"+t.Name()+"$")
	other.Env = append(os.Environ(), anotherNamespace+"="+above)
	if said, err := other.CombinedOutput(); err != nil {
		if strings.Contains(string(said), "unshare") {
			long.Missing(t, "namespaces: "+string(said))
		}
		require.NoError(t, err, "%s", said)
	}
	assert.FileExists(t, filepath.Join(live, "work"), "the other run sees no process of this number")

	remove()
	assert.NoDirExists(t, live)
}

func TestOnlyDirectoriesThatWeMadeAreRemoved(t *testing.T) {
	t.Parallel()
	above := t.TempDir()
	gone := filepath.Join(above, "autoloop-run-0123456789abcdef")
	require.NoError(t, os.MkdirAll(filepath.Join(gone, "t001"), 0o700))
	kept := []string{"autoloop-run-mine", "autoloop-run-0123456789ABCDEF", "autoloop-run-0123456789abcdef.bak"}
	for _, name := range kept {
		require.NoError(t, os.Mkdir(filepath.Join(above, name), 0o700))
	}
	link := filepath.Join(above, "autoloop-run-fedcba9876543210")
	require.NoError(t, os.Symlink(kept[0], link))

	_, remove, err := tree.NewRunDir(above)
	require.NoError(t, err)
	defer remove()
	assert.NoDirExists(t, gone)
	for _, name := range kept {
		assert.DirExists(t, filepath.Join(above, name))
	}
	_, err = os.Lstat(link)
	assert.NoError(t, err)
}
