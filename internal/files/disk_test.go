package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/files"
)

func TestWriteFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	require.NoError(t, files.WriteFile(file, []byte("one"), 0o644))
	was, err := os.Stat(file)
	require.NoError(t, err)
	require.NoError(t, files.WriteFile(file, []byte("two"), 0o600))
	now, err := os.Stat(file)
	require.NoError(t, err)
	assert.False(t, os.SameFile(was, now), "it is replaced, not written over")
	assert.Equal(t, os.FileMode(0o600), now.Mode())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "two", string(text))

	require.NoError(t, os.MkdirAll(filepath.Join(dir, "full", "of"), 0o755))
	require.Error(t, files.WriteFile(filepath.Join(dir, "full"), nil, 0o600))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 2, "a failure leaves nothing")
}

func TestExchange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	require.NoError(t, os.MkdirAll(filepath.Join(a, "inside"), 0o755))
	require.NoError(t, os.WriteFile(b, []byte("b"), 0o600))
	err := files.Exchange(a, b)
	if errors.Is(err, errors.ErrUnsupported) {
		assert.DirExists(t, filepath.Join(a, "inside"), "where that cannot be, both stay what they are")
		assert.FileExists(t, b)
		return
	}
	require.NoError(t, err)
	assert.DirExists(t, filepath.Join(b, "inside"))
	assert.FileExists(t, a)
	require.ErrorIs(t, files.Exchange(a, filepath.Join(dir, "none")), os.ErrNotExist)
	assert.FileExists(t, a)
}

// TestRemoveAllBelowWhatNobodyLists: the directories of a run are in one that its owner
// can enter but not list, which root can.
func TestRemoveAllBelowWhatNobodyLists(t *testing.T) {
	t.Parallel()
	closed, kept := filepath.Join(t.TempDir(), "w"), filepath.Join(t.TempDir(), "kept")
	require.NoError(t, os.Mkdir(kept, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(kept, "file"), nil, 0o600))
	dir, other := filepath.Join(closed, "dir"), filepath.Join(closed, "other")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700))
	require.NoError(t, os.Mkdir(other, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "b", "file"), nil, 0o400))
	require.NoError(t, os.Symlink(kept, filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink(kept, filepath.Join(closed, "link")))
	require.NoError(t, os.Chmod(filepath.Join(dir, "a", "b"), 0))
	require.NoError(t, os.Chmod(filepath.Join(dir, "a"), 0o500))
	require.NoError(t, os.Chmod(closed, 0o300))
	t.Cleanup(func() { _ = os.Chmod(closed, 0o700) }) //nolint:gosec // a directory of the test
	require.NoError(t, files.RemoveAll(dir))
	require.NoError(t, files.RemoveAll(filepath.Join(closed, "link")))
	require.NoError(t, files.RemoveAll(filepath.Join(closed, "nothing")))
	assert.NoDirExists(t, dir)
	assert.DirExists(t, other)
	assert.FileExists(t, filepath.Join(kept, "file"))
}

func TestClearWrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{
		".a.json.123", ".a.json.", ".a.json.x1", ".b.json.123", "a.json",
		".a.json.5/inside",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, nil, 0o600))
	}
	require.NoError(t, files.ClearWrites(filepath.Join(dir, "a.json")))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 5, "only what a killed write left goes: %v", entries)
	assert.NoFileExists(t, filepath.Join(dir, ".a.json.123"))
	require.NoError(t, files.ClearWrites(filepath.Join(dir, "none", "a.json")))
}
