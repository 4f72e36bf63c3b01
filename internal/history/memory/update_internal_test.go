package memory

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
)

// TestOnlyTheIterationThatChangedIsWritten, and all are removed with the ledger.
func TestOnlyTheIterationThatChangedIsWritten(t *testing.T) {
	t.Parallel()
	started := func(n int) history.Event { return &history.Started{Head: history.Head{Iteration: n}} }
	first := Files{}.Ledger.Copy()
	require.NoError(t, first.Append(started(1), started(999), started(1000)))
	before := Files{Ledger: first}
	now := before.Ledger.Copy()
	assert.Empty(t, changed("p", before, Files{Ledger: now}))
	require.NoError(t, now.Append(&history.Paused{}, started(1001)))
	assert.ElementsMatch(t, []string{"p.iterations/001/001000.json", "p.iterations/001/001001.json"},
		slices.Collect(maps.Keys(changed("p", before, Files{Ledger: now}))))
	assert.Equal(t, map[string]*git.File{
		"p.iterations/000/000000.json": nil, "p.iterations/000/000001.json": nil, "p.iterations/000/000999.json": nil,
		"p.iterations/001/001000.json": nil,
	}, changed("p", Files{Ledger: first}, Files{}))
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

// TestOnlyFilesOfSomeSizeAreRead: what is larger is refused before it is read.
func TestOnlyFilesOfSomeSizeAreRead(t *testing.T) {
	t.Parallel()
	for size, may := range map[int64]bool{0: true, maxFile: true, maxFile + 1: false} {
		assert.Equal(t, may, regular(git.TreeEntry{Mode: git.ModeExecutable, Size: size}))
	}
	assert.False(t, regular(git.TreeEntry{Mode: git.ModeSubmodule}))
}
