package sandbox_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/org/autoloop/tests/golden"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestChanges(t *testing.T) {
	t.Parallel()
	fixture := newDir(t, map[string]string{
		"a.txt": "one\ntwo\nthree\n", "b.txt": "b\n", "same.txt": "s\n",
		"mode.sh": "m\n", "bin": "\x00a", "d/x": "x\n",
	})
	box, in := open(t, fixture, nil)
	in.put("a.txt", "one\n2\nthree\n", 0o644)
	in.put("mode.sh", "m\n", 0o755)
	in.put("bin", "\x00b", 0o644)
	in.put("new/file.txt", "fresh", 0o644)
	in.put("node_modules/p/index.js", "x", 0o644)
	in.put(".git/config", "ignored", 0o644)
	in.link("/etc/passwd", "out")
	require.NoError(t, os.Remove(in.at("b.txt")))
	require.NoError(t, os.RemoveAll(in.at("d")))
	changes, err := box.Changes(t.Context())
	require.NoError(t, err)
	var paths []string
	for _, c := range changes.List {
		paths = append(paths, c.Path)
	}
	assert.Equal(t, []string{
		"a.txt", "b.txt", "bin", "d/x", "mode.sh", "new/file.txt", "node_modules/p/index.js",
		"out",
	}, paths)
	golden.Equal(t, "changes.diff", changes.Diff)
}

// TestDiffApplies holds the diff against git, which must take it.
func TestDiffApplies(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("line\n", 300)
	fixture := newDir(t, map[string]string{
		"a.txt": long + "x\n" + long, "gone": "g\n", "no newline": "a",
		"mode": "m\n",
	})
	box, in := open(t, fixture, nil)
	in.put("a.txt", "first\n"+long+"y\n"+long, 0o644)
	in.put("no newline", "b", 0o644)
	in.put("mode", "m\n", 0o755)
	in.put("new", "n\n", 0o644)
	require.NoError(t, os.Remove(in.at("gone")))
	changes, err := box.Changes(t.Context())
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "git", "apply", "-")
	cmd.Dir, cmd.Stdin = fixture.path, strings.NewReader(changes.Diff)
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+fixture.path)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", out, changes.Diff)
	assert.Equal(t, in.has(), fixture.has())
}

func TestChangesOfAHostileAgent(t *testing.T) {
	t.Parallel()
	box, in := open(t, newDir(t, map[string]string{"a": "1\n"}), nil)
	require.NoError(t, exec.CommandContext(t.Context(), "mkfifo", in.at("pipe")).Run())
	in.put("name\nwith\x1b[31mcontrol", "x\n", 0o644)
	deep := in.path + strings.Repeat("/d", 200)
	require.NoError(t, os.MkdirAll(deep, 0o755))
	in.put("big", "", 0o644)
	require.NoError(t, os.Truncate(in.at("big"), 3<<30))
	in.put("long.txt", strings.Repeat("x", 3<<20), 0o644)
	changes, err := box.Changes(t.Context())
	require.NoError(t, err)
	assert.Contains(t, changes.Diff, "Binary files /dev/null and b/pipe differ")
	assert.Contains(t, changes.Diff, `"b/name\nwith\x1b[31mcontrol"`)
	assert.Contains(t, changes.Diff, "Binary files /dev/null and b/long.txt differ")
	assert.Contains(t, changes.Diff, "Binary files /dev/null and b/big differ")
}
