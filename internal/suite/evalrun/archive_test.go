package evalrun

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newArchive(t *testing.T) *Archive {
	t.Helper()
	base := t.TempDir()
	stage := filepath.Join(base, "stage")
	require.NoError(t, os.Mkdir(stage, 0o700))
	return &Archive{Dir: filepath.Join(base, "kept"), Stage: stage}
}

func put(t *testing.T, a *Archive, name, text string) {
	t.Helper()
	dir, err := a.Begin()
	require.NoError(t, err)
	require.NoError(t, a.Keep(dir, name, "result", text))
}

func TestKeptPieceIsThere(t *testing.T) {
	t.Parallel()
	a, read := newArchive(t), ""
	require.False(t, a.Read("a/1", "result", &read))
	for _, text := range []string{"one", "two"} { // the newer one is in its place
		put(t, a, "a/1", text)
		require.True(t, a.Read("a/1", "result", &read))
		assert.Equal(t, text, read)
	}
	assert.False(t, a.Read("a/1", "result", new(int)), "it is no number")
	put(t, a, "a/1", strings.Repeat("x", 4<<20))
	assert.False(t, a.Read("a/1", "result", &read), "it is too much to be read")
}

func TestUnkeptPieceIsNotThere(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	dir, err := a.Begin()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "result"), []byte("half"), 0o600))
	assert.NoDirExists(t, a.Dir)
}

func TestKeepFailsWhole(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	dir, err := a.Begin()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(a.Dir, nil, 0o600), "a file is in the way")
	require.ErrorContains(t, a.Keep(dir, "a/1", "result", "x"), "keep a result as ")
	assert.DirExists(t, dir)
}

func TestForget(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	key := func(digit string) string { return strings.Repeat(digit, 32) }
	old := []string{key("0") + "/1", key("1") + "/1", "judgements/" + key("2")}
	// Somebody gave a directory that has other things, too.
	foreign := []string{"photos/1", key("0") + "/notes", "judgements/drafts", key("A") + "/1", "letters"}
	for _, name := range append(append(foreign, old...), key("1")+"/2", key("3")+"/1") {
		put(t, a, name, "o")
	}
	now := time.Now()
	for _, name := range append(old, foreign...) {
		require.NoError(t, os.Chtimes(a.Path(name), now.Add(-time.Hour), now.Add(-time.Hour)))
	}
	a.Forget(now.Add(-time.Minute))
	for _, name := range old {
		assert.NoDirExists(t, a.Path(name))
	}
	for _, name := range append(foreign, key("1")+"/2", key("3")+"/1") {
		assert.DirExists(t, a.Path(name))
	}
}

func TestRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, Room(dir))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
	require.ErrorContains(t, Room(filepath.Join(dir, "none")), "make room and run it again")
}
