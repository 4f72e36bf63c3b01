package memory_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/tests/long"
)

// halfMoved is a repository in which a run was killed after the records moved
// and before the branch did; logged says that the branch's log had it already.
func halfMoved(t *testing.T, created, logged bool) (c *checkout, old, next string) {
	t.Helper()
	c = newCheckout(t)
	old = c.has("HEAD")
	next = c.commit("next", old)
	ref := filepath.Join(c.dir, ".git", "refs", "heads", "autoloop", "x")
	log := filepath.Join(c.dir, ".git", "logs", "refs", "heads", "autoloop", "x")
	if created {
		old = ""
	} else {
		c.advance("1", "", old)
	}
	before, err := os.ReadFile(log)
	if !created {
		require.NoError(t, err)
	}
	c.advance("2", old, next)
	if created {
		require.NoError(t, os.Remove(ref))
	} else {
		require.NoError(t, os.WriteFile(ref, []byte(old+"\n"), 0o644))
	}
	if !logged {
		require.NoError(t, os.WriteFile(log, before, 0o644))
	}
	require.Equal(t, old, c.has(branchRef))
	return c, old, next
}

func TestKilledBetweenTheRecordsAndTheBranch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ created, logged bool }{{false, false}, {false, true}, {true, false}, {true, true}} {
		c, _, next := halfMoved(t, test.created, test.logged)
		head, err := c.HeadOf(t.Context(), branchRef)
		require.NoError(t, err)
		assert.Equal(t, next, head, "%+v", test)
		assert.NotEqual(t, next, c.has(branchRef), "reading moves nothing")
		c.add("another", "1")
		assert.Equal(t, next, c.has(branchRef), "%+v", test)
		c.advance("3", next, next)
	}
}

// What a person does to the branch after an update is not undone.
func TestBranchTakenBackByAPerson(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	old := c.has("HEAD")
	next := c.commit("next", old)
	c.advance("1", "", old)
	c.advance("2", old, next)
	c.user("branch", "-f", "autoloop/x", old)
	head, err := c.HeadOf(t.Context(), branchRef)
	require.NoError(t, err)
	assert.Equal(t, old, head)
	c.add("another", "1")
	assert.Equal(t, old, c.has(branchRef))
}

// A trailer that people, or another tool, wrote is held against the facts.
func TestAnnouncedMovesThatCannotBe(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	head := c.has("HEAD")
	for _, trailer := range []string{
		"refs/heads/main none none", "refs/heads/main " + head + " 1111111111111111111111111111111111111111", "refs/heads/x none",
		"refs/heads/x none " + head, "refs/heads/autoloop/y none 1111111111111111111111111111111111111111",
		"refs/heads/autoloop/y none", "refs/heads/autoloop/y none none", "refs/tags/x none " + head, "HEAD none " + head, memoryRef + " none " + head, "refs/heads/x none none", "",
	} {
		parent := []string{}
		if at := c.has(memoryRef); at != "" {
			parent = append(parent, "-p", at)
		}
		c.user("update-ref", memoryRef, c.user(append([]string{"commit-tree", "HEAD^{tree}", "-m", "m", "-m", "Autoloop-Moves: " + trailer}, parent...)...))
		before := c.user("for-each-ref", "refs/heads/main", "refs/heads/x", "refs/heads/autoloop", "refs/tags")
		c.add("x", "1")
		assert.Equal(t, before, c.user("for-each-ref", "refs/heads/main", "refs/heads/x", "refs/heads/autoloop", "refs/tags"), trailer)
	}
}

// A lock that a killed process left on any of our refs keeps nothing back.
func TestKilledWithARefLocked(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	_, clone := newShared(t)
	for _, c := range []*checkout{newCheckout(t), clone()} {
		c.add("x", "1")
		for _, ref := range []string{memoryRef, "refs/remotes/origin/memory/autoloop", "refs/autoloop/seen/origin/memory/autoloop"} {
			lock := filepath.Join(c.dir, ".git", filepath.FromSlash(ref)+".lock")
			if _, err := os.Stat(filepath.Dir(lock)); err == nil && (c.Remote != "" || ref == memoryRef) {
				require.NoError(t, os.WriteFile(lock, nil, 0o644))
			}
		}
		commit, err := c.Update(t.Context(), memory.Update{Program: "x", Message: "m", Apply: adding("2"), Branch: &git.RefUpdate{Ref: branchRef, New: c.has("HEAD")}})
		require.NoError(t, err)
		assert.Equal(t, commit, c.has(memoryRef))
		assert.Equal(t, []string{"1", "2"}, c.ledger("x"))
	}
}
