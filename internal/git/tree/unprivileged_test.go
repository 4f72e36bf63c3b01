//go:build unix

package tree_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/tests/scratch"
)

func TestUnreadable(t *testing.T) {
	if !scratch.Unprivileged(t) {
		return
	}
	f := newFixture(t, map[string]string{
		"a.txt": "1\n", "b.txt": "1\n", "dir/c.txt": "1\n", "dir/sub/d.txt": "1\n",
		".gitignore": "closed\n",
	})
	built := f.build(tree.Options{Head: "HEAD"})
	e := edit{t, built.Dir}
	e.put("b.txt", "2\n")
	e.put("closed/x", "x")
	require.NoError(t, os.Chmod(e.path("a.txt"), 0))
	require.NoError(t, os.Chmod(e.path("dir"), 0))
	require.NoError(t, os.Chmod(e.path("closed"), 0))
	for i, says := range []string{"a.txt cannot be read: ", "b.txt modified", "dir is a directory that cannot be"} {
		assert.Contains(t, strings.Split(told(f.scan(built)), ", ")[i], says)
	}
	require.NoError(t, os.Chmod(built.Dir, 0))
	changes := f.scan(built)
	require.Len(t, changes, 1)
	assert.Equal(t, "is a directory that cannot be read", changes[0].Refused)
	require.NoError(t, files.RemoveAll(built.Dir))
	assert.NoDirExists(t, built.Dir)
}

func TestRemoveWhatResists(t *testing.T) {
	if !scratch.Unprivileged(t) {
		return
	}
	f := newFixture(t, map[string]string{"dir/a.txt": "1\n"})
	built := f.build(tree.Options{Head: "HEAD"})
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "kept"), nil, 0o400))
	require.NoError(t, os.Chmod(outside, 0o500))
	t.Cleanup(func() { _ = os.Chmod(outside, 0o700) })
	e := edit{t, built.Dir}
	e.put("mod/pkg/x.go", "x")
	e.put("mod/none/x.go", "x")
	e.link(outside, "mod/outside")
	// A path longer than the system takes in one piece.
	e.shell(`n=$(printf '%0250d' 0); i=0; while [ $i -lt 30 ]; do mkdir $n; cd -P $n 2>/dev/null || exit 0; ` +
		`i=$((i+1)); done; touch last; chmod 500 .`)
	require.NoError(t, os.Chmod(e.path("mod/pkg/x.go"), 0))
	require.NoError(t, os.Chmod(e.path("mod/pkg"), 0o500))
	require.NoError(t, os.Chmod(e.path("mod/none"), 0))
	require.NoError(t, os.Chmod(e.path("mod"), 0o500))
	require.NoError(t, os.Chmod(built.Dir, 0o500))
	require.NoError(t, files.RemoveAll(built.Dir))
	assert.NoDirExists(t, built.Dir)
	assert.FileExists(t, filepath.Join(outside, "kept"))
	info := must(os.Stat(outside))
	assert.Equal(t, os.FileMode(0o500), info.Mode().Perm(), "nothing outside is touched")
}
