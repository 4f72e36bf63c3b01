package memory

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/tests/golden"
)

// TestOnlyTheIterationThatChangedIsWritten, and all that lies in the directory is removed
// with the ledger.
func TestOnlyTheIterationThatChangedIsWritten(t *testing.T) {
	t.Parallel()
	started := func(n int) history.Event { return &history.Started{Head: history.Head{Iteration: n}} }
	first, err := Files{}.Log()
	require.NoError(t, err)
	require.NoError(t, first.Append(started(1), started(999), started(1000)))
	before := Files{Ledger: first, iterations: []string{"p.iterations/000/000000.json", "p.iterations/README"}}
	now, err := before.Log()
	require.NoError(t, err)
	assert.Empty(t, changed("p", before, Files{Ledger: now}))
	require.NoError(t, now.Append(&history.Paused{}, started(1001)))
	assert.ElementsMatch(t, []string{"p.iterations/001/001000.json", "p.iterations/001/001001.json"},
		slices.Collect(maps.Keys(changed("p", before, Files{Ledger: now}))))
	assert.Equal(t, map[string]*git.File{"p.iterations/000/000000.json": nil, "p.iterations/README": nil},
		changed("p", before, Files{}))
}

// TestMovedBranchIsRefused: Old is held against where the branch counts as being, but where the caller does not care.
func TestMovedBranchIsRefused(t *testing.T) {
	t.Parallel()
	id := func(letter string) string { return strings.Repeat(strings.Trim(letter, "-"), 20) }
	for _, row := range []string{"a a", "- -", "any c", "any -", "a c", "- c", "a -", "a b"} {
		old, is, _ := strings.Cut(row, " ")
		w := &writing{Update: Update{Branch: &git.RefUpdate{Ref: "refs/heads/autoloop/x", New: id("b"), Old: id(old)}}}
		if old == "any" {
			w.Branch.Old = git.Any
		}
		err := w.checkBranch([]stand{{ref: memoryRef}, {ref: "refs/heads/autoloop/x", head: id(is)}})
		golden.Row(t, "expected at, and at: "+row, err)
		require.Equal(t, err != nil, errors.Is(err, ErrBranchMoved))
	}
	require.NoError(t, (&writing{}).checkBranch([]stand{{ref: memoryRef}}), "no branch")
}

// TestNamesOfPrograms: a name is the beginning of a file's at the root of the
// branch.
func TestNamesOfPrograms(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"p", "a.b", "p.results", "ü", "a b", "-x", "x.."} {
		require.NoError(t, checkName(name), name)
	}
	for _, name := range []string{"", ".", "..", ".p", "a/b", "/", "a\\b", "a\x00b", "a\nb"} {
		assert.ErrorContains(t, checkName(name), "is no name of a program", "%q", name)
	}
}

// TestNamesOfBranches: a branch cannot be where the directories of another are.
func TestNamesOfBranches(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string][]string{
		memoryRef:                  {"refs/heads/memory"},
		"refs/heads/autoloop/a":    {"refs/heads/autoloop"},
		"refs/heads/autoloop/a/b":  {"refs/heads/autoloop/a", "refs/heads/autoloop"},
		"refs/heads/x":             nil,
		"refs/remotes/origin/a/b":  nil,
		"refs/heads/autoloop//a/b": {"refs/heads/autoloop/a", "refs/heads/autoloop"},
	} {
		assert.Equal(t, want, obstacles(ref), ref)
		others := map[string]string{ref: "1", "refs/heads/memories": "1", "refs/heads": "1"}
		require.NoError(t, blocked([]string{ref}, others, ""))
		for _, by := range append(want, ref+"/deeper") {
			var is *git.BlockedError
			require.ErrorAs(t, blocked([]string{ref}, map[string]string{by: "1"}, "origin"), &is)
			assert.Equal(t, git.BlockedError{Ref: ref, By: by, Remote: "origin"}, *is)
		}
	}
}

// TestOnlyFilesOfSomeSizeAreRead: what is no file, or too large to be read, is named with
// what to do about it.
func TestOnlyFilesOfSomeSizeAreRead(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{
		git.ModeFile, git.ModeExecutable, git.ModeSymlink, git.ModeSubmodule, git.ModeDirectory, "100664", "",
	} {
		for name, size := range map[string]int64{"as large as may be": MaxFile, "larger": MaxFile + 1} {
			golden.Row(t, mode+" "+name, checkEntry(git.TreeEntry{Mode: mode, Path: "p.md", Size: size}))
		}
	}
}
