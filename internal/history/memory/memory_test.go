package memory_test

import (
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

// put changes the files of program x.
func (c *checkout) put(change func(f *memory.Files)) string {
	c.t.Helper()
	commit, err := c.Update(c.t.Context(), memory.Update{
		Program: "x", Message: "m", Apply: func(f memory.Files) (memory.Files, error) {
			change(&f)
			return f, nil
		},
	})
	require.NoError(c.t, err)
	return commit
}

func TestUpdateWritesOneCommit(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	files, head, err := c.Read(t.Context(), "x")
	require.NoError(t, err)
	assert.Empty(t, head)
	assert.Equal(t, memory.Files{}, files)
	first := c.add("x", "one")
	second := c.add("x", "two")
	c.add("y", "three")
	assert.Equal(t, []string{"one", "two"}, c.ledger("x"))
	assert.Equal(t, []string{"three"}, c.ledger("y"))
	assert.Equal(t, "3", c.Git("rev-list", "--count", memoryRef), "an orphan, one commit an update")
	assert.Equal(t, first+" two Autoloop", c.Git("log", "-1", "--format=%P %s %cn", second))
	assert.Equal(t, "x.iterations/000/000000.json\nx.md\ny.iterations/000/000000.json\ny.md",
		c.Git("ls-tree", "-r", "--name-only", memoryRef))
	states, err := c.States(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string][]byte{"x": []byte("state after two\n"), "y": []byte("state after three\n")}, states)
}

// TestTableIsThatOfTheCommit: the table that was read last is kept, and another is never
// taken for it, whoever wrote it.
func TestTableIsThatOfTheCommit(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	other := open(t, c.user, "")
	first := c.put(func(f *memory.Files) { f.Results = []byte("one\n") })
	c.add("y", "two")
	for _, want := range []string{"one\n", "three\n"} {
		for range 2 {
			for program, want := range map[string]string{"x": want, "y": ""} {
				files, _, err := c.Read(t.Context(), program)
				require.NoError(t, err)
				assert.Equal(t, want, string(files.Results))
			}
		}
		other.put(func(f *memory.Files) { f.Results = []byte("three\n") })
	}
	files, err := c.At(t.Context(), first, "x")
	require.NoError(t, err)
	assert.Equal(t, "one\n", string(files.Results))
}

func TestUpdateLeavesTheCheckoutAlone(t *testing.T) {
	t.Parallel()
	_, clone := newShared(t)
	for i, c := range []*checkout{newCheckout(t), clone(), clone("--depth=1"), clone("--sparse")} {
		c.Write(map[string]string{"a": "changed\n"})
		c.Git("add", "a")
		c.Write(map[string]string{"a": "changed again\n", "untracked": "x"})
		state := func() string {
			text := c.Git("status", "--porcelain=v2", "--branch")
			for _, file := range strings.Fields(
				"HEAD index logs/HEAD logs/refs/heads/main config FETCH_HEAD ORIG_HEAD ../a",
			) {
				data, err := os.ReadFile(filepath.Join(c.Dir, ".git", file))
				text += fmt.Sprintf("\n%s %q %t", file, data, err == nil)
			}
			return text
		}
		before, head, old := state(), c.has("HEAD"), ""
		if i > 1 { // an earlier clone made it
			old = head
		}
		require.NoError(t, c.advance("1", old, head))
		assert.NotEmpty(t, c.has(memoryRef))
		c.add("x", "2")
		_, err := c.States(t.Context())
		require.NoError(t, err)
		assert.Equal(t, before, state())
	}
}

func TestUpdateKeepsWhatPeoplePutThere(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	c.atop(map[string]*git.File{
		"README.md": file(
			"ours",
		),
		"notes/deep/x.md": file("n"),
		"run.sh":          {Mode: git.ModeExecutable, Data: []byte("x")},
		"link":            file("-> README.md"),
		"latin-\xe9":      file("l"),
		"x.results.tsv":   file("r"),
	})
	before := c.Git("ls-tree", "-r", memoryRef)
	c.add("x", "1")
	assert.Subset(t, strings.Split(c.Git("ls-tree", "-r", memoryRef), "\n"), strings.Split(before, "\n"))
	files, _, err := c.Read(t.Context(), "x")
	require.NoError(t, err)
	assert.Equal(t, "r", string(files.Results))
}

func TestUpdateRemovesAndSkips(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	head := c.add("x", "1")
	assert.Equal(t, head, c.put(func(*memory.Files) {}), "no change, no commit")
	c.put(func(f *memory.Files) { f.State, f.Results = []byte{}, nil })
	files, _, err := c.Read(t.Context(), "x")
	require.NoError(t, err)
	assert.Equal(t, []byte{}, files.State, "empty is there, nil is not")
	assert.Nil(t, files.Results)
	assert.Equal(t, []string{"1"}, c.ledger("x"))
	c.put(func(f *memory.Files) { *f = memory.Files{} })
	assert.Empty(t, c.Git("ls-tree", memoryRef))
}

func TestApplysErrorEndsTheUpdate(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	calls := 0
	update := more("x", "1")
	update.Apply = func(memory.Files) (memory.Files, error) {
		calls++
		return memory.Files{}, fmt.Errorf("lease: %w", assert.AnError)
	}
	_, err := c.Update(t.Context(), update)
	require.ErrorIs(t, err, assert.AnError)
	assert.Equal(t, "lease: "+assert.AnError.Error(), err.Error())
	assert.Equal(t, 1, calls)
	assert.Empty(t, c.has(memoryRef))
}

func TestUpdateMovesTheBranchToo(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	first := c.has("HEAD")
	second := c.commit("better", first)
	require.NoError(t, c.advance("1", "", first))
	require.NoError(t, c.advance("1", first, second))
	assert.Equal(t, second, c.has(branchRef))
	records := c.has(memoryRef)
	for _, from := range []string{"", first} {
		require.ErrorIs(t, c.advance("1", from, first), memory.ErrBranchMoved)
	}
	assert.Equal(t, second, c.has(branchRef))
	assert.Equal(t, records, c.has(memoryRef), "neither moves alone")
	require.NoError(t, c.advance("1", second, first), "back, when asked")
	require.NoError(t, c.advance("1", first, ""), "and away")
	assert.Empty(t, c.has(branchRef))
	require.NoError(t, c.advance("1", git.Any, second))
}

// claim is an update that moves nothing yet.
func (c *checkout) claim(line string) error {
	update := more("x", line)
	update.Claims = branchRef
	_, err := c.Update(c.t.Context(), update)
	return err
}

func TestUpdateNamesWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	bare, clone := newShared(t)
	for there, wanted := range map[string]string{
		"refs/heads/memory": memoryRef, "refs/heads/autoloop": branchRef, memoryRef + "/deep": memoryRef,
		branchRef + "/y": branchRef,
	} {
		for _, c := range []*checkout{newCheckout(t), clone()} {
			c.Git("update-ref", there, "HEAD")
			for _, err := range []error{c.advance("1", "", c.has("HEAD")), c.claim("1")} {
				var blocked *git.BlockedError
				require.ErrorAs(t, err, &blocked)
				assert.Equal(t, git.BlockedError{Ref: wanted, By: there}, *blocked)
			}
		}
	}
	c := clone()
	bare.Git("branch", "memory", "main")
	_, err := c.Update(t.Context(), more("x", "1"))
	var blocked *git.BlockedError
	require.ErrorAs(t, err, &blocked)
	assert.Equal(t, "origin", blocked.Remote)
}

func TestUpdateRefusesACheckedOutBranch(t *testing.T) {
	t.Parallel()
	_, clone := newShared(t)
	for _, c := range []*checkout{newCheckout(t), clone()} {
		refused := func(err error, ref, where string) {
			var out *memory.CheckedOutError
			require.ErrorAs(t, err, &out)
			assert.Equal(t, memory.CheckedOutError{Ref: ref, Where: where}, *out)
		}
		c.add("x", "1")
		linked := filepath.Join(t.TempDir(), "linked")
		c.Git("worktree", "add", "-q", linked, "memory/autoloop")
		_, err := c.Update(t.Context(), more("x", "never"))
		refused(err, memoryRef, linked)
		require.NoError(t, os.RemoveAll(linked))
		c.add("x", "2")

		c.Git("checkout", "-q", "-b", "autoloop/x")
		head := c.has("HEAD")
		refused(c.advance("never", head, head), branchRef, c.Repo.Root)
		refused(c.claim("never"), branchRef, c.Repo.Root)
		assert.Equal(t, []string{"1", "2"}, c.ledger("x"))
	}
}

// TestStatesThatAreNoFiles are named where they are asked for, and left out of all states.
func TestStatesThatAreNoFiles(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	head := c.begin(map[string]string{
		"a.md": "a\n", "b.md": "-> a.md", "c.md/x": "x", "e.iterations/000/000000.json": iteration(0, "e"),
	})
	states, err := c.States(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string][]byte{"a": []byte("a\n")}, states)
	for name, mode := range map[string]string{"b": "120000", "c": "040000"} {
		_, err := c.At(t.Context(), head, name)
		require.ErrorContains(t, err, " is no regular file (mode "+mode+")")
	}
	files, err := c.At(t.Context(), head, "e")
	require.NoError(t, err)
	assert.Nil(t, files.State)
	assert.Equal(t, []string{"e"}, keys(files.Ledger))
	files, err = c.At(t.Context(), head, "gone")
	require.NoError(t, err)
	assert.Equal(t, memory.Files{}, files)
	_, err = c.At(t.Context(), strings.Repeat("1", 40), "a")
	require.ErrorContains(t, err, "read the records of a")
}

// TestDivergedIsSaid with a cure that works.
func TestDivergedIsSaid(t *testing.T) {
	t.Parallel()
	bare, clone := newShared(t)
	a, b := clone(), clone()
	a.Remote = ""
	mine := a.add("x", "mine")
	a.Remote = "origin"
	theirs := b.add("x", "theirs")
	_, err := a.Update(t.Context(), more("x", "2"))
	require.ErrorContains(t, err, "branch memory/autoloop is at "+mine[:12]+" here and at "+theirs[:12])
	assert.NotContains(t, err.Error(), "\n")
	assert.Equal(t, mine, a.has(memoryRef))
	assert.Equal(t, theirs, has(bare, memoryRef))

	_, cure, _ := strings.Cut(err.Error(), "`git ")
	cure, _, _ = strings.Cut(cure, "`")
	a.Git(strings.Fields(cure)...)
	a.add("x", "2")
	assert.Equal(t, []string{"theirs", "2"}, b.ledger("x"), "the cure works")
}

// TestSameRecords of a program at two commits, whatever others recorded in between.
func TestSameRecords(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	first := c.atop(map[string]*git.File{"p.md": file("one\n")})
	second := c.atop(map[string]*git.File{"p.md": file("one\n"), "q.md": file("two\n")}, first)
	for name, want := range map[string]bool{"p": true, "q": false, "none": true} {
		same, err := c.Same(t.Context(), first, second, name)
		require.NoError(t, err)
		assert.Equal(t, want, same, name)
	}
	assert.Contains(t, (&memory.CheckedOutError{Ref: "refs/heads/autoloop/p", Where: "here"}).Error(),
		"branch autoloop/p is checked out in here")
}
