package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// sharedWorld is a world whose records are on a bare repository of this machine.
func sharedWorld(t *testing.T, tries ...string) (w *world, remote string) {
	t.Helper()
	w = valuesWorld(t, "", "1", tries...)
	remote = filepath.Join(filepath.Dir(w.dir), "remote.git")
	w.run("", "git", "clone", "--quiet", "--bare", w.dir, remote)
	w.git("remote", "add", "origin", remote)
	return w, remote
}

func TestALockLeftOnARemoteIsNamed(t *testing.T) {
	t.Parallel()
	w, remote := sharedWorld(t, "2", "3")
	w.one("--remote", "origin")
	lock := filepath.Join(remote, "refs", "heads", "memory", "autoloop.lock")
	require.NoError(t, os.WriteFile(lock, nil, 0o600))
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(lock, old, old))
	a := w.binary("iterate", "--program", "p", "--remote", "origin")
	assert.Equal(t, 1, a.code, a.stdout)
	assert.Contains(t, a.stderr, "the lock "+lock+" is in the way, for 1h0m")
	assert.Contains(t, a.stderr, "remove it with: rm "+lock)
	assert.NotContains(t, a.stderr, "no turn within", "a lock that old is not waited for")

	require.NoError(t, os.Remove(lock))
	assert.Equal(t, "accepted", w.one("--remote", "origin").Outcome)
}

// refsOf are all refs of a repository, to be put back by restore.
func (w *world) refsOf(dir string) string {
	return w.run(dir, "git", "for-each-ref", "--format=update %(refname) %(objectname)")
}

// restore makes a repository have these refs alone, and no memory of others.
func (w *world) restore(dir, refs string) {
	w.t.Helper()
	for line := range strings.Lines(w.refsOf(dir)) {
		w.run(dir, "git", "update-ref", "-d", strings.Fields(line)[1])
	}
	for line := range strings.Lines(refs) {
		w.run(dir, "git", "update-ref", strings.Fields(line)[1], strings.Fields(line)[2])
	}
	for _, ref := range []string{"autoloop", "remotes"} {
		require.NoError(w.t, os.RemoveAll(filepath.Join(dir, ".git", "logs", "refs", ref)))
	}
}

// TestAHalfMovedRemote: a machine was switched off while git moved the refs of a
// push on a remote of that machine, one after the other.
func TestAHalfMovedRemote(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	kept := func(w *world, remote, commit string) bool {
		return strings.Contains(w.run(remote, "git", "log", "--format=%H", "autoloop/p"), commit)
	}
	t.Run("the records moved, the branch did not", func(t *testing.T) {
		t.Parallel()
		w, remote := sharedWorld(t, "2", "3", "4")
		first := *w.one("--remote", "origin").Commit
		before := w.refsOf(w.dir)
		second := *w.one("--remote", "origin").Commit
		w.run(remote, "git", "update-ref", "refs/heads/autoloop/p", first)
		w.restore(w.dir, before)

		got := w.one("--remote", "origin")
		assert.Equal(t, 3, got.Iteration)
		assert.Equal(t, "accepted", got.Outcome, got.Reasons)
		assert.True(t, kept(w, remote, second), "the push was finished")
		a := w.binary("iterate", "replay", "p", "--remote", "origin")
		assert.Zero(t, a.code, a.stdout)
	})
	t.Run("the branch moved, the records did not", func(t *testing.T) {
		t.Parallel()
		w, remote := sharedWorld(t, "2", "3", "4")
		w.separate = true
		w.one("--remote", "origin")
		before := w.refsOf(w.dir)
		second := *w.one("--remote", "origin").Commit
		w.run(remote, "git", "update-ref", "refs/heads/memory/autoloop", "refs/heads/memory/autoloop^")
		w.restore(w.dir, before)

		got := w.one("--remote", "origin")
		assert.Equal(t, 2, got.Iteration)
		assert.Equal(t, "accepted", got.Outcome, got.Reasons)
		assert.False(t, kept(w, remote, second), "the push was undone")
		assert.Equal(t, 1, w.countOn(remote, "baseline"), "nothing had to be measured anew")
		a := w.binary("iterate", "replay", "p", "--remote", "origin")
		assert.Zero(t, a.code, a.stdout)
	})
	t.Run("what a person took back stays so", func(t *testing.T) {
		t.Parallel()
		w, remote := sharedWorld(t, "2", "3", "4")
		first := *w.one("--remote", "origin").Commit
		second := *w.one("--remote", "origin").Commit
		w.run(remote, "git", "update-ref", "refs/heads/autoloop/p", first)
		w.one("--remote", "origin")
		assert.False(t, kept(w, remote, second))
	})
	t.Run("what a person pushed stays", func(t *testing.T) {
		t.Parallel()
		w, remote := sharedWorld(t, "2", "3", "4")
		first := *w.one("--remote", "origin").Commit
		mine := w.git("commit-tree", "-p", first, "-m", "[Autoloop: p] Iteration 2: mine\n\nAutoloop-Iteration: 2\nAutoloop-Run: nobody", first+"^{tree}")
		w.git("push", "--quiet", "origin", mine+":refs/heads/autoloop/p")
		w.one("--remote", "origin")
		assert.True(t, kept(w, remote, mine))
	})
}

// countOn counts lines of the ledger on a remote that have a word.
func (w *world) countOn(remote, word string) int {
	w.t.Helper()
	return strings.Count(w.run(remote, "git", "show", "memory/autoloop:p.jsonl"), `"role":"`+word+`"`)
}
