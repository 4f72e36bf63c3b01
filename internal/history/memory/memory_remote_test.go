package memory_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history/memory"
)

func TestRemoteByURL(t *testing.T) {
	t.Parallel()
	bare, clone := newShared(t)
	c := clone()
	c.Remote = "file://" + bare.Dir
	require.NoError(t, c.advance("1", "", c.has("HEAD")))
	c.add("x", "2")
	assert.Equal(t, has(bare, memoryRef), c.has(memoryRef))
	assert.NotContains(t, c.Git("for-each-ref"), bare.Dir)
}

func TestLocalCommitsArePushedAlong(t *testing.T) {
	t.Parallel()
	bare, clone := newShared(t)
	c := clone()
	base := c.has("HEAD")
	next := c.commit("next", base)
	last := c.commit("last", next)
	c.Remote = ""
	require.NoError(t, c.advance("1", "", base))
	require.NoError(t, c.advance("2", base, next))
	assert.Empty(t, has(bare, memoryRef))
	c.Remote = "origin"
	require.NoError(t, c.advance("3", next, last))
	assert.Equal(t, []string{"1", "2", "3"}, clone().ledger("x"))
	assert.Equal(t, last, has(bare, branchRef))
	c.Remote = ""
	c.add("x", "4")
	c.Remote = "origin"
	c.add("x", "5")
	assert.Equal(t, []string{"1", "2", "3", "4", "5"}, clone().ledger("x"))
}

// TestKilledAfterThePush: a run that was killed between the push and the local update, or
// whose local branches are as old as they like, goes on from the remote.
func TestKilledAfterThePush(t *testing.T) {
	t.Parallel()
	bare, clone := newShared(t)
	c := clone()
	base := c.has("HEAD")
	next := c.commit("next", base)
	require.NoError(t, c.advance("1", "", base))
	old := c.has(memoryRef)
	require.NoError(t, c.advance("2", base, next))
	for _, place := range []string{"heads/", "remotes/origin/", "autoloop/seen/origin/"} {
		at(t, c.user, map[string]string{
			"refs/" + place + "memory/autoloop": old, "refs/" + place + "autoloop/x": base,
		})
	}
	require.NoError(t, c.advance("3", next, next))
	assert.Equal(t, []string{"1", "2", "3"}, c.ledger("x"))
	assert.Equal(t, next, c.has(branchRef))
	assert.Equal(t, next, has(bare, branchRef))
}

// TestRemoteRefuses: one that does so for good is not asked again.
func TestRemoteRefuses(t *testing.T) {
	t.Parallel()
	c, bare := hooked(t, "pre-receive", "echo once >> \"$GIT_DIR/calls\"\necho protected >&2\nexit 1\n")
	_, err := c.Update(t.Context(), more("x", "1"))
	require.ErrorIs(t, err, git.ErrRejected)
	assert.Contains(t, err.Error(), "pre-receive hook declined")
	calls, err := os.ReadFile(filepath.Join(bare.Dir, "calls"))
	require.NoError(t, err)
	assert.Equal(t, "once\n", string(calls))
	assert.Empty(t, c.has(memoryRef))
}

// TestConnectionBreaksForLonger: the remote took the push, the answer got lost and asking
// failed once. The line is not written a second time.
func TestConnectionBreaksForLonger(t *testing.T) {
	t.Parallel()
	c, bare := hooked(t, "post-receive", "touch \"$GIT_DIR/deaf\"\nkill -9 $PPID\n")
	deaf, listen := filepath.Join(bare.Dir, "deaf"), filepath.Join(bare.Dir, "listen")
	script := "#!/bin/sh\nif rm " + deaf + " 2>/dev/null; then exit 1; fi\nexec git-upload-pack \"$@\"\n"
	require.NoError(t, os.WriteFile(listen, []byte(script), 0o755))
	c.Git("config", "remote.origin.uploadpack", listen)
	calls := 0
	update := more("x", "1")
	update.Apply = func(f memory.Files) (memory.Files, error) {
		calls++
		return adding("1")(f)
	}
	commit, err := c.Update(t.Context(), update)
	require.NoError(t, err)
	assert.NoFileExists(t, deaf)
	assert.Equal(t, 1, calls)
	assert.Equal(t, commit, has(bare, memoryRef))
	c.add("x", "2")
	assert.Equal(t, []string{"1", "2"}, c.ledger("x"))
}

func TestRemoteOutOfReach(t *testing.T) {
	t.Parallel()
	bare, clone := newShared(t)
	c := clone()
	require.NoError(t, os.Rename(bare.Dir, bare.Dir+".away"))
	_, err := c.Update(t.Context(), more("x", "1"))
	require.ErrorContains(t, err, "ask remote origin")
	assert.NotContains(t, err.Error(), "\n")
	assert.Empty(t, c.has(memoryRef))
}

func hooked(t *testing.T, hook, script string) (c *checkout, bare *user) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("git's hooks are shell scripts, which Windows does not run by itself")
	}
	bare, clone := newShared(t)
	file := filepath.Join(bare.Dir, "hooks", hook)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"+script), 0o755))
	return clone(), bare
}
