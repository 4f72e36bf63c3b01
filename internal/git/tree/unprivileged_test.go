//go:build unix

package tree_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git/tree"
)

// unprivileged reports whether the test is to go on here. Root may read and
// delete everything, so for root the test runs again as nobody.
func unprivileged(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return true
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("", "nobody-") //nolint:usetesting // nobody cannot enter what t.TempDir makes
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chown(dir, nobody, nobody))
	self, err := os.Executable()
	require.NoError(t, err)
	data, err := os.ReadFile(self)
	require.NoError(t, err)
	binary := filepath.Join(dir, "tests")
	require.NoError(t, os.WriteFile(binary, data, 0o755)) //nolint:gosec // others run it
	cmd := exec.CommandContext(t.Context(), binary, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir, "HOME=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name())
	return false
}

func TestUnreadable(t *testing.T) {
	if !unprivileged(t) {
		return
	}
	f := newFixture(t, map[string]string{"a.txt": "1\n", "b.txt": "1\n", "dir/c.txt": "1\n", "dir/sub/d.txt": "1\n", ".gitignore": "closed\n"})
	built := f.build(tree.Options{Git: true})
	e := edit{t, built.Dir}
	e.put("b.txt", "2\n")
	e.put("closed/x", "x")
	require.NoError(t, os.Chmod(e.path("a.txt"), 0))
	require.NoError(t, os.Chmod(e.path("dir"), 0))
	require.NoError(t, os.Chmod(e.path("closed"), 0))
	assert.Equal(t, map[string]string{
		"a.txt": "cannot be read: permission denied", "b.txt": "modified", "dir": "is a directory that cannot be read",
	}, told(f.scan(built)))
	require.NoError(t, os.Chmod(built.Dir, 0))
	changes := f.scan(built)
	require.Len(t, changes, 1)
	assert.Equal(t, "is a directory that cannot be read", changes[0].Refused)
	require.NoError(t, built.Remove())
	assert.NoDirExists(t, built.Dir)
}

func TestRemoveWhatResists(t *testing.T) {
	if !unprivileged(t) {
		return
	}
	f := newFixture(t, map[string]string{"dir/a.txt": "1\n"})
	built := f.build(tree.Options{Git: true})
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "kept"), nil, 0o400))
	require.NoError(t, os.Chmod(outside, 0o500))
	t.Cleanup(func() { _ = os.Chmod(outside, 0o700) })
	e := edit{t, built.Dir}
	e.put("mod/pkg/x.go", "x")
	e.put("mod/none/x.go", "x")
	e.link(outside, "mod/outside")
	// A path longer than the system takes in one piece.
	e.shell(`n=$(printf '%0250d' 0); i=0; while [ $i -lt 30 ]; do mkdir $n; cd -P $n 2>/dev/null || exit 0; i=$((i+1)); done; touch last; chmod 500 .`)
	require.NoError(t, os.Chmod(e.path("mod/pkg/x.go"), 0))
	require.NoError(t, os.Chmod(e.path("mod/pkg"), 0o500))
	require.NoError(t, os.Chmod(e.path("mod/none"), 0))
	require.NoError(t, os.Chmod(e.path("mod"), 0o500))
	require.NoError(t, os.Chmod(built.Dir, 0o500))
	require.NoError(t, built.Remove())
	assert.NoDirExists(t, built.Dir)
	assert.FileExists(t, filepath.Join(outside, "kept"))
	info, err := os.Stat(outside)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o500), info.Mode().Perm(), "nothing outside is touched")
}
