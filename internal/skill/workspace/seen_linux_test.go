package workspace

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/files"
)

// settled waits until files that are written from now on have other times.
func settled(t *testing.T, file string) {
	t.Helper()
	require.Eventually(t, func() bool {
		probe := file + ".probe"
		require.NoError(t, os.WriteFile(probe, nil, 0o600))
		defer func() { _ = os.Remove(probe) }()
		written, err := os.Lstat(probe)
		require.NoError(t, err)
		was, err := os.Lstat(file)
		require.NoError(t, err)
		return changed(written)-changed(was) > int64(30*time.Millisecond)
	}, time.Minute, time.Millisecond)
}

func changed(info os.FileInfo) int64 {
	stat, _ := info.Sys().(*syscall.Stat_t)
	return stat.Ctim.Nano()
}

// unread counts what a listing that knows a place has to read.
func unread(t *testing.T, snapshot, dir string) int {
	t.Helper()
	tree, why := readTree(ManifestFile(snapshot))
	require.Empty(t, why)
	l, err := list(t.Context(), dir)
	require.NoError(t, err)
	defer func() { _ = l.root.Close() }()
	l.know(readSeen(snapshot, tree.Digest()), dir, tree)
	require.NoError(t, l.hash(t.Context()))
	return l.read
}

// TestOnlyWhatMayHaveChangedIsRead has a skill of two files.
func TestOnlyWhatMayHaveChangedIsRead(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	src, snapshot, dir := filepath.Join(base, "src"), filepath.Join(base, "v0"), filepath.Join(base, "dir")
	t.Cleanup(func() { _ = Discard(snapshot) })
	one, two := filepath.Join(src, "one"), filepath.Join(src, "two")
	require.NoError(t, os.Mkdir(src, 0o755))
	require.NoError(t, os.WriteFile(one, []byte("one"), 0o600))
	require.NoError(t, os.WriteFile(two, []byte("two"), 0o600))
	settled(t, two)
	_, err = Take(t.Context(), src, snapshot)
	require.NoError(t, err)
	require.Zero(t, unread(t, snapshot, src))

	past, err := os.Lstat(one)
	require.NoError(t, err)
	for name, change := range map[string]func(){
		"the same size and time": func() {
			require.NoError(t, os.WriteFile(one, []byte("eno"), 0o600))
			require.NoError(t, os.Chtimes(one, past.ModTime(), past.ModTime()))
		},
		"another file in its place": func() {
			require.NoError(t, os.WriteFile(one+"-new", []byte("neo"), 0o600))
			require.NoError(t, os.Chtimes(one+"-new", past.ModTime(), past.ModTime()))
			require.NoError(t, os.Rename(one+"-new", one))
		},
	} {
		settled(t, one)
		settled(t, two)
		_, err = Restore(t.Context(), snapshot, src)
		require.NoError(t, err)
		change()
		assert.Equal(t, 1, unread(t, snapshot, src), name)
		restored, err := Restore(t.Context(), snapshot, src)
		require.NoError(t, err)
		assert.True(t, restored.Changed, name)
		text, err := os.ReadFile(one)
		require.NoError(t, err)
		assert.Equal(t, "one", string(text), name)
	}

	_, err = Restore(t.Context(), snapshot, dir)
	require.NoError(t, err)
	settled(t, filepath.Join(dir, "two"))
	again, err := Restore(t.Context(), snapshot, dir)
	require.NoError(t, err)
	assert.False(t, again.Changed)
	assert.Zero(t, unread(t, snapshot, dir), "what was read because it was written just now is not read again")

	require.NoError(t, Forget(snapshot))
	assert.Equal(t, 2, unread(t, snapshot, dir))
	_, err = Restore(t.Context(), snapshot, dir)
	require.NoError(t, err)
	assert.Zero(t, unread(t, snapshot, dir))
}

// TestWhatChangedJustNowIsReadAgain: a later change may have the same time.
func TestWhatChangedJustNowIsReadAgain(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	src, snapshot := filepath.Join(base, "src"), filepath.Join(base, "v0")
	t.Cleanup(func() { _ = Discard(snapshot) })
	require.NoError(t, os.Mkdir(src, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(src, "one"), []byte("one"), 0o600))
	_, err = Take(t.Context(), src, snapshot)
	require.NoError(t, err)
	tree, _ := readTree(ManifestFile(snapshot))
	l, err := list(t.Context(), src)
	require.NoError(t, err)
	defer func() { _ = l.root.Close() }()
	for name, c := range map[string]struct {
		after time.Duration
		whole bool
		reads bool
	}{
		"at once":                      {0, false, true},
		"a moment later":               {time.Second, false, false},
		"where time has no fraction":   {time.Second, true, true},
		"and three seconds later":      {3 * time.Second, true, false},
		"by a clock that is put back":  {-time.Hour, false, true},
		"within the step of the clock": {5 * time.Millisecond, false, true},
	} {
		stamp := l.stamps["one"]
		if c.whole {
			stamp.Changed -= stamp.Changed % int64(time.Second)
		}
		record := &seen{Schema: Schema, Digest: tree.Digest()}
		record.place(src, tree, map[string]files.Stamp{"one": stamp}, time.Unix(0, stamp.Changed).Add(c.after))
		assert.Equal(t, c.reads, record.Places[0].Files[0] == [4]int64{}, name)
	}
}
