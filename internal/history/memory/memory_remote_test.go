package memory_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history/memory"
)

const branchRef = "refs/heads/autoloop/x"

func (c *checkout) there(bare, ref string) string {
	c.t.Helper()
	out, err := c.run(bare, "rev-parse", "--verify", "--quiet", ref)
	if err != nil {
		return ""
	}
	return out
}

// advance moves the program branch along with a line in the ledger.
func (c *checkout) advance(line, from, to string) {
	c.t.Helper()
	_, err := c.Update(c.t.Context(),
		memory.Update{
			Program: "x", Message: line, Apply: adding(line),
			Branch: &git.RefUpdate{Ref: branchRef, New: to, Old: from},
		})
	require.NoError(c.t, err)
}

func TestRemoteByURL(t *testing.T) {
	t.Parallel()
	bare, clone := newShared(t)
	c := clone()
	c.openMemory("file://" + bare)
	c.advance("1", "", c.has("HEAD"))
	c.add("x", "2")
	assert.Equal(t, c.there(bare, memoryRef), c.has(memoryRef))
	assert.NotContains(t, c.user("for-each-ref"), bare)
}

func TestLocalCommitsArePushedAlong(t *testing.T) {
	t.Parallel()
	bare, clone := newShared(t)
	c := clone()
	base := c.has("HEAD")
	next := c.commit("next", base)
	c.openMemory("")
	c.advance("1", "", base)
	c.advance("2", base, next)
	assert.Empty(t, c.there(bare, memoryRef))

	c.openMemory("origin")
	last := c.commit("last", next)
	c.advance("3", next, last)
	assert.Equal(t, []string{"1", "2", "3"}, clone().ledger("x"))
	assert.Equal(t, last, c.there(bare, branchRef))

	c.openMemory("")
	c.add("x", "4")
	c.openMemory("origin")
	c.add("x", "5")
	assert.Equal(t, []string{"1", "2", "3", "4", "5"}, clone().ledger("x"))
}

func TestDivergedIsSaid(t *testing.T) {
	t.Parallel()
	bare, clone := newShared(t)
	a, b := clone(), clone()
	a.openMemory("")
	mine := a.add("x", "mine")
	a.openMemory("origin")
	theirs := b.add("x", "theirs")
	_, err := a.Update(t.Context(), more("2"))
	var diverged *memory.DivergedError
	require.ErrorAs(t, err, &diverged)
	assert.Equal(t, memory.DivergedError{Ref: memoryRef, Here: mine, There: theirs, Remote: "origin"}, *diverged)
	assert.NotContains(t, err.Error(), "\n")
	assert.Equal(t, mine, a.has(memoryRef))
	assert.Equal(t, theirs, a.there(bare, memoryRef))

	_, cure, _ := strings.Cut(err.Error(), "`git ")
	cure, _, _ = strings.Cut(cure, "`")
	a.user(strings.Fields(cure)...)
	a.add("x", "2")
	assert.Equal(t, []string{"theirs", "2"}, b.ledger("x"), "the cure works")
}

// A run that was killed between the push and the local update, or whose local
// branches are as old as they like, goes on from the remote.
func TestKilledAfterThePush(t *testing.T) {
	t.Parallel()
	bare, clone := newShared(t)
	c := clone()
	base := c.has("HEAD")
	next := c.commit("next", base)
	c.advance("1", "", base)
	old := c.has(memoryRef)
	c.advance("2", base, next)
	for _, ref := range []string{
		memoryRef, "refs/remotes/origin/memory/autoloop",
		"refs/autoloop/seen/origin/memory/autoloop",
	} {
		c.user("update-ref", ref, old)
	}
	for _, ref := range []string{branchRef, "refs/remotes/origin/autoloop/x", "refs/autoloop/seen/origin/autoloop/x"} {
		c.user("update-ref", ref, base)
	}
	c.advance("3", next, next)
	assert.Equal(t, []string{"1", "2", "3"}, c.ledger("x"))
	assert.Equal(t, next, c.has(branchRef))
	assert.Equal(t, next, c.there(bare, branchRef))
}

// A remote that refuses for good is not asked again.
func TestRemoteRefuses(t *testing.T) {
	t.Parallel()
	c, bare := hooked(t, "pre-receive", "echo once >> \"$GIT_DIR/calls\"\necho protected >&2\nexit 1\n")
	_, err := c.Update(t.Context(), more("1"))
	require.ErrorIs(t, err, git.ErrRejected)
	assert.Contains(t, err.Error(), "pre-receive hook declined")
	calls, err := os.ReadFile(filepath.Join(bare, "calls"))
	require.NoError(t, err)
	assert.Equal(t, "once\n", string(calls))
	assert.Empty(t, c.has(memoryRef))
}

// The remote took the push, the answer got lost and asking failed once: the
// line is not written a second time.
func TestConnectionBreaksForLonger(t *testing.T) {
	t.Parallel()
	c, bare := hooked(t, "post-receive", "touch \"$GIT_DIR/deaf\"\nkill -9 $PPID\n")
	script := "#!/bin/sh\nif rm " + bare + "/deaf 2>/dev/null; then exit 1; fi\nexec git-upload-pack \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(bare, "listen"), []byte(script), 0o755))
	c.user("config", "remote.origin.uploadpack", filepath.Join(bare, "listen"))
	calls := 0
	commit, err := c.Update(t.Context(),
		memory.Update{Program: "x", Message: "m", Apply: func(f memory.Files) (memory.Files, error) {
			calls++
			return adding("1")(f)
		}})
	require.NoError(t, err)
	assert.NoFileExists(t, filepath.Join(bare, "deaf"))
	assert.Equal(t, 1, calls)
	assert.Equal(t, commit, c.there(bare, memoryRef))
	c.add("x", "2")
	assert.Equal(t, []string{"1", "2"}, c.ledger("x"))
}

func TestRemoteOutOfReach(t *testing.T) {
	t.Parallel()
	bare, clone := newShared(t)
	c := clone()
	require.NoError(t, os.Rename(bare, bare+".away"))
	_, err := c.Update(t.Context(), more("1"))
	require.ErrorContains(t, err, "ask remote origin")
	assert.NotContains(t, err.Error(), "\n")
	assert.Empty(t, c.has(memoryRef))
}

func hooked(t *testing.T, hook, script string) (c *checkout, bare string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("git's hooks are shell scripts, which Windows does not run by itself")
	}
	bare, clone := newShared(t)
	require.NoError(t, os.MkdirAll(filepath.Join(bare, "hooks"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(bare, "hooks", hook), []byte("#!/bin/sh\n"+script), 0o755))
	return clone(), bare
}
