package tests

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// TestKilledFetchIsRepeated: of a fetch that was killed the commits and trees
// are here, and not the files. The next run gets what is missing of the records, the
// program branch and the default branch.
func TestKilledFetchIsRepeated(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	w := valuesProject(t, "", "1", "2", "3", "4")
	origin := w.shared("Share it")
	w.one("--remote", "origin")
	other := *w
	other.dir = filepath.Join(w.side, "other")
	w.run("", "git", "clone", "--quiet", origin, other.dir)
	other.one("--remote", "origin")
	other.write("other.txt", "moved\n")
	other.commit("Move the default branch")
	other.git("push", "--quiet", "origin", "main")
	for _, ref := range []string{"main", "memory/autoloop", "autoloop/p"} {
		w.leftByAFetch(origin, ref)
	}
	assert.Equal(t, "accepted", w.one("--remote", "origin").Outcome)
	a := w.binary("iterate", "replay", "p", "--remote", "origin")
	assert.Zero(t, a.code, a.stdout+a.stderr)
	w.git("fetch", "--quiet", "origin")
	w.git("fsck", "--strict")
}

// leftByAFetch gives the repository the commit of a ref on the remote and its trees,
// without the files that are new.
func (w *project) leftByAFetch(remote, ref string) {
	w.t.Helper()
	names := []string{ref, ref + "^{tree}"}
	for name := range strings.FieldsSeq(w.run("", "git", "--git-dir="+remote, "ls-tree", "-r", "-d", "--object-only",
		ref)) {
		names = append(names, name)
	}
	for _, name := range names {
		kind := w.run("", "git", "--git-dir="+remote, "cat-file", "-t", name)
		object, err := exec.CommandContext(w.t.Context(), "git", "--git-dir="+remote, "cat-file", kind,
			w.run("", "git", "--git-dir="+remote, "rev-parse", name)).Output() //nolint:gosec // git
		require.NoError(w.t, err)
		write := exec.CommandContext(w.t.Context(), "git", "-C", w.dir, "hash-object", "-w", "-t", kind,
			"--stdin") //nolint:gosec // git
		write.Stdin = bytes.NewReader(object)
		require.NoError(w.t, write.Run())
	}
}
