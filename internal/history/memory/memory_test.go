package memory_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history/memory"
)

func TestMemoryBeginsEmpty(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	files, head, err := c.Read(t.Context(), "x")
	require.NoError(t, err)
	assert.Empty(t, head)
	assert.Equal(t, memory.Files{}, files)
	states, err := c.States(t.Context())
	require.NoError(t, err)
	assert.Empty(t, states)
}

func TestUpdateWritesOneCommit(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	first := c.add("x", "one")
	second := c.add("x", "two")
	c.add("y", "three")
	assert.Equal(t, []string{"one", "two"}, c.ledger("x"))
	assert.Equal(t, []string{"three"}, c.ledger("y"))
	assert.Equal(t, first, c.user("rev-parse", second+"^"))
	assert.Equal(t, "3", c.user("rev-list", "--count", memoryRef), "an orphan, one commit an update")
	assert.Equal(t, "two", c.user("log", "-1", "--format=%s", second))
	assert.Equal(t, "Autoloop", c.user("log", "-1", "--format=%cn", second))
	assert.Equal(t, "x.iterations/000/000000.json\nx.md\ny.iterations/000/000000.json\ny.md",
		c.user("ls-tree", "-r", "--name-only", memoryRef))
	states, err := c.States(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string][]byte{"x": []byte("state after two\n"), "y": []byte("state after three\n")}, states)
}

// TestTableIsThatOfTheCommit: the table that was read last is kept, and another is never
// taken for it, whoever wrote it.
func TestTableIsThatOfTheCommit(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	other := *c
	other.openMemory("")
	put := func(c *checkout, program, table string) (commit string) {
		apply := func(current memory.Files) (memory.Files, error) {
			current.Results = []byte(table)
			return current, nil
		}
		commit, err := c.Update(t.Context(), memory.Update{Program: program, Message: "m", Apply: apply})
		require.NoError(t, err)
		return commit
	}
	first := put(c, "x", "one\n")
	put(c, "y", "two\n")
	for _, want := range []string{"one\n", "three\n"} {
		for program, want := range map[string]string{"x": want, "y": "two\n"} {
			for range 2 {
				files, _, err := c.Read(t.Context(), program)
				require.NoError(t, err)
				assert.Equal(t, want, string(files.Results))
			}
		}
		put(&other, "x", "three\n")
	}
	files, err := c.At(t.Context(), first, "x")
	require.NoError(t, err)
	assert.Equal(t, "one\n", string(files.Results))
}

func TestUpdateLeavesTheCheckoutAlone(t *testing.T) {
	t.Parallel()
	_, clone := newShared(t)
	for _, c := range []*checkout{newCheckout(t), clone(), clone("--depth=1"), clone("--sparse")} {
		c.write("a", "changed\n")
		c.user("add", "a")
		c.write("a", "changed again\n")
		c.write("untracked", "x")
		before := c.checkoutState()
		head := c.user("rev-parse", "HEAD")
		branch := &git.RefUpdate{Ref: "refs/heads/autoloop/x", New: head}
		commit, err := c.Update(t.Context(),
			memory.Update{Program: "x", Message: "m", Apply: adding("1"), Branch: branch})
		if errors.Is(err, memory.ErrBranchMoved) { // an earlier clone made it
			branch.Old = head
			commit, err = c.Update(t.Context(),
				memory.Update{Program: "x", Message: "m", Apply: adding("1"), Branch: branch})
		}
		require.NoError(t, err)
		assert.Equal(t, commit, c.has(memoryRef))
		c.add("x", "2")
		_, err = c.States(t.Context())
		require.NoError(t, err)
		assert.Equal(t, before, c.checkoutState())
	}
}

func TestUpdateKeepsWhatPeoplePutThere(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	tree, err := c.Repo.WriteFiles(t.Context(), "", map[string]*git.File{
		"README.md": {Data: []byte("ours")}, "notes/deep/x.md": {Data: []byte("n")},
		"run.sh": {Mode: git.ModeExecutable, Data: []byte("x")},
		"link":   {Mode: git.ModeSymlink, Data: []byte("README.md")}, "latin-\xe9": {Data: []byte("l")},
		"x.results.tsv": {Data: []byte("r")},
	})
	require.NoError(t, err)
	c.user("update-ref", memoryRef, c.user("commit-tree", "-m", "people", tree))
	before := c.user("ls-tree", "-r", memoryRef)
	c.add("x", "1")
	after := c.user("ls-tree", "-r", memoryRef)
	for line := range strings.Lines(before) {
		assert.Contains(t, after, strings.TrimSpace(line))
	}
	files, _, err := c.Read(t.Context(), "x")
	require.NoError(t, err)
	assert.Equal(t, "r", string(files.Results))
}

func TestUpdateRemovesAndSkips(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	put := func(change func(memory.Files) memory.Files) string {
		head, err := c.Update(t.Context(), memory.Update{
			Program: "x", Message: "m", Apply: func(f memory.Files) (memory.Files, error) { return change(f), nil },
		})
		require.NoError(t, err)
		return head
	}
	head := c.add("x", "1")
	assert.Equal(t, head, put(func(f memory.Files) memory.Files { return f }), "no change, no commit")
	put(func(f memory.Files) memory.Files { return memory.Files{State: []byte{}, Ledger: f.Ledger} })
	files, _, err := c.Read(t.Context(), "x")
	require.NoError(t, err)
	assert.Equal(t, []byte{}, files.State, "empty is there, nil is not")
	assert.Nil(t, files.Results)
	assert.Equal(t, []string{"1"}, c.ledger("x"))
	put(func(memory.Files) memory.Files { return memory.Files{} })
	assert.Empty(t, c.user("ls-tree", memoryRef))
}

func TestApplysErrorEndsTheUpdate(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	busy := errors.New("busy")
	calls := 0
	_, err := c.Update(t.Context(),
		memory.Update{Program: "x", Message: "m", Apply: func(memory.Files) (memory.Files, error) {
			calls++
			return memory.Files{}, fmt.Errorf("lease: %w", busy)
		}})
	require.ErrorIs(t, err, busy)
	assert.Equal(t, "lease: busy", err.Error())
	assert.Equal(t, 1, calls)
	assert.Empty(t, c.has(memoryRef))
}

func TestUpdateMovesTheBranchToo(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	const ref = "refs/heads/autoloop/x"
	first := c.has("HEAD")
	second := c.commit("better", first)
	move := func(from, to string) error {
		_, err := c.Update(t.Context(),
			memory.Update{
				Program: "x", Message: "m", Apply: adding("1"),
				Branch: &git.RefUpdate{Ref: ref, New: to, Old: from},
			})
		return err
	}
	require.NoError(t, move("", first))
	require.NoError(t, move(first, second))
	assert.Equal(t, second, c.has(ref))
	summary := c.has(memoryRef)
	for _, from := range []string{"", first} {
		err := move(from, first)
		require.ErrorIs(t, err, memory.ErrBranchMoved)
		assert.Contains(t, err.Error(), "autoloop/x is at "+second[:12])
	}
	assert.Equal(t, second, c.has(ref))
	assert.Equal(t, summary, c.has(memoryRef), "neither moves alone")
	require.NoError(t, move(second, first), "back, when asked")
	require.NoError(t, move(first, ""), "and away")
	assert.Empty(t, c.has(ref))
	require.NoError(t, move(git.Any, second))
}

func TestUpdateNamesWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	bare, clone := newShared(t)
	for _, test := range []struct{ there, wanted string }{
		{"refs/heads/memory", memoryRef},
		{"refs/heads/autoloop", "refs/heads/autoloop/x"},
		{memoryRef + "/deep", memoryRef},
		{"refs/heads/autoloop/x/y", "refs/heads/autoloop/x"},
	} {
		for _, c := range []*checkout{newCheckout(t), clone()} {
			c.user("update-ref", test.there, "HEAD")
			for _, update := range []memory.Update{
				{Branch: &git.RefUpdate{Ref: "refs/heads/autoloop/x", New: c.has("HEAD")}},
				{Claims: "refs/heads/autoloop/x"},
			} {
				update.Program, update.Message, update.Apply = "x", "m", adding("1")
				_, err := c.Update(t.Context(), update)
				var blocked *git.BlockedError
				require.ErrorAs(t, err, &blocked)
				assert.Equal(t, test.there, blocked.By)
				assert.Equal(t, test.wanted, blocked.Ref)
			}
		}
	}
	c := clone()
	c.user("--git-dir="+bare, "branch", "memory", "main")
	_, err := c.Update(t.Context(), more("1"))
	var blocked *git.BlockedError
	require.ErrorAs(t, err, &blocked)
	assert.Contains(t, err.Error(), "branch memory on origin is in the way")
}

func TestUpdateRefusesACheckedOutBranch(t *testing.T) {
	t.Parallel()
	_, clone := newShared(t)
	for _, c := range []*checkout{newCheckout(t), clone()} {
		c.add("x", "1")
		before := c.has(memoryRef)
		linked := filepath.Join(t.TempDir(), "linked")
		c.user("worktree", "add", "-q", linked, "memory/autoloop")
		_, err := c.Update(t.Context(), more("2"))
		require.ErrorContains(t, err, "memory/autoloop is checked out in "+linked)
		assert.Equal(t, before, c.has(memoryRef))
		require.NoError(t, os.RemoveAll(linked))
		c.add("x", "2")

		c.user("checkout", "-q", "-b", "autoloop/x")
		head := c.has("HEAD")
		_, err = c.Update(t.Context(),
			memory.Update{
				Program: "x", Message: "m", Apply: adding("3"),
				Branch: &git.RefUpdate{Ref: "refs/heads/autoloop/x", New: head, Old: head},
			})
		require.ErrorContains(t, err, "autoloop/x is checked out in "+c.Repo.Root)
		_, err = c.Update(t.Context(),
			memory.Update{Program: "x", Message: "m", Apply: adding("3"), Claims: "refs/heads/autoloop/x"})
		require.ErrorContains(t, err, "autoloop/x is checked out in "+c.Repo.Root)
		assert.Equal(t, []string{"1", "2"}, c.ledger("x"))
	}
}

// TestStatesThatAreNoFiles are left out of all states, and named where they are asked for.
func TestStatesThatAreNoFiles(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	head := c.begin(map[string]string{
		"a.md": "a\n", "b.md": "-> a.md", "c.md/x": "x", "d.md": "",
		"e.iterations/000/000000.json": iteration(0, "e"), "f.md": "f\n", "f.md.bak": "old",
	})
	states, err := c.States(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string][]byte{"a": []byte("a\n"), "d": {}, "f": []byte("f\n")}, states)
	for name, mode := range map[string]string{"b": "120000", "c": "040000"} {
		says := name + ".md on branch memory/autoloop is no regular file (mode " + mode + ")"
		_, _, err := c.Read(t.Context(), name)
		require.ErrorContains(t, err, says)
		_, err = c.At(t.Context(), head, name)
		require.ErrorContains(t, err, says)
	}
	files, err := c.At(t.Context(), head, "e")
	require.NoError(t, err)
	assert.Nil(t, files.State)
	assert.Len(t, files.Ledger.Events, 1)
	files, err = c.At(t.Context(), head, "gone")
	require.NoError(t, err)
	assert.Equal(t, memory.Files{}, files)
	_, err = c.At(t.Context(), strings.Repeat("1", 40), "a")
	require.ErrorContains(t, err, "read the records of a")
}
