package tests

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// TestForeignDirectoryIsNotUsed is another user of the machine who made the
// directory of autoloop.json first, to choose programs and to read transcripts.
func TestForeignDirectoryIsNotUsed(t *testing.T) {
	t.Parallel()
	long.Root(t, "giving files to another user")
	w := valuesProject(t, "", "1", "2", "3")
	theirs := filepath.Join(filepath.Dir(w.dir), "theirs")
	require.NoError(t, os.MkdirAll(theirs, 0o755))
	plan := filepath.Join(theirs, "autoloop.json")
	require.NoError(t, os.WriteFile(plan, []byte(`{"selected": "p"}`), 0o600))
	require.NoError(t, os.Chown(theirs, 65534, 65534))
	link := filepath.Join(filepath.Dir(w.dir), "link")
	require.NoError(t, os.Symlink(w.side, link))
	require.NoError(t, os.Lchown(link, 65534, 65534))
	for dir, says := range map[string]string{theirs: "belongs to another user", link: "is a link of another user"} {
		for _, command := range [][]string{
			{"iterate"},
			{"iterate", "--program", "p"},
			{"scheduler"},
			{"scheduler", "--compat"},
			{"iterate", "status"},
		} {
			a := w.binary(command[0], append(command[1:], "--dir", dir)...)
			assert.Equal(t, 2, a.code, "%v: %s", command, a.stderr)
			assert.Contains(t, a.stderr, says, "%v", command)
		}
	}
	assert.Empty(t, w.git("branch", "--list", "memory/*"), "nothing ran")
	left, err := os.ReadDir(theirs)
	require.NoError(t, err)
	assert.Len(t, left, 1, "and nothing was written")
}

// transcripts is the directory of the one repository whose program p left transcripts.
func (w *project) transcripts(output string) string {
	w.t.Helper()
	found, err := filepath.Glob(filepath.Join(output, "transcripts", "*", "p"))
	require.NoError(w.t, err)
	require.Len(w.t, found, 1)
	return found[0]
}
