//go:build unix

package memory

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSmallFilesAreReadAsTheyAre: as os.ReadFile does up to the limit, and one byte more of
// what is longer. What was read before stays as it is when the buffer is used again.
func TestSmallFilesAreReadAsTheyAre(t *testing.T) {
	t.Parallel()
	const limit = 40_000
	file := filepath.Join(t.TempDir(), "file")
	var buffer []byte
	type read struct{ got, want []byte }
	var all []read
	for i, size := range []int{0, 1, 8<<10 - 1, 8 << 10, 8<<10 + 1, 16 << 10, 32 << 10, limit - 1, limit, limit + 1, limit + 2, 8 << 10, 200_000, 3, 0} {
		text := bytes.Repeat([]byte{byte('a' + i)}, size)
		require.NoError(t, os.WriteFile(file, text, 0o600))
		got, err := readSmall(file, &buffer, limit)
		require.NoError(t, err)
		require.NotNil(t, got, "an empty file is there")
		fresh, err := readSmall(file, new([]byte), limit)
		require.NoError(t, err)
		require.Equal(t, got, fresh, size)
		all = append(all, read{got, text[:min(size, limit+1)]})
	}
	for _, one := range all {
		require.Len(t, one.got, len(one.want))
		require.Equal(t, string(one.want), string(one.got))
	}
}

// TestWhatIsNoFileIsNotWaitedFor: nobody writes to the pipe.
func TestWhatIsNoFileIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	got, err := readSmall(pipe, new([]byte), 10)
	require.NoError(t, err)
	assert.Empty(t, got)
	_, err = readSmall(filepath.Join(dir, "gone"), new([]byte), 10)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "gone")
	_, err = readSmall(dir, new([]byte), 10)
	require.ErrorIs(t, err, syscall.EISDIR)
	got, err = readSmall("/dev/zero", new([]byte), 10)
	require.NoError(t, err)
	assert.Equal(t, make([]byte, 11), got, "a file without an end ends at the limit")
}
