package files

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// opened is a directory below a new root, with the path that it has on disk.
func opened(t *testing.T) (folder *Folder, dir string) {
	t.Helper()
	top := t.TempDir()
	dir = filepath.Join(top, "deep", "er")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	root, err := os.OpenRoot(top)
	require.NoError(t, err)
	t.Cleanup(func() { _ = root.Close() })
	folder, err = OpenFolder(root, "deep/er")
	require.NoError(t, err)
	t.Cleanup(func() { _ = folder.Close() })
	return folder, dir
}

func TestCopier(t *testing.T) {
	t.Parallel()
	from, source := opened(t)
	into, target := opened(t)
	copier := NewCopier()
	for name, c := range map[string]struct {
		data []byte
		mode fs.FileMode
		sync bool
	}{
		"empty":                          {nil, 0o644, false},
		"small":                          {[]byte("a skill\n"), 0o444, true},
		"as large as the buffer":         {bytes.Repeat([]byte("x"), 64<<10), 0o755, false},
		"larger, and a mode of no mask":  {bytes.Repeat([]byte("0123456789"), 20_001), 0o666, false},
		"for its owner alone, and small": {[]byte("x"), 0o400, false},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(source, name), c.data, 0o600), name)
		copied, err := copier.Copy(from, into, name, c.mode, c.sync)
		require.NoError(t, err, name)
		sum := sha256.Sum256(c.data)
		assert.Equal(t, hex.EncodeToString(sum[:]), copied.SHA256, name)
		assert.EqualValues(t, len(c.data), copied.Size, name)
		found, err := os.ReadFile(filepath.Join(target, name))
		require.NoError(t, err, name)
		assert.Equal(t, string(c.data), string(found), name)
		for file, stamp := range map[string]Stamp{filepath.Join(source, name): copied.Source, filepath.Join(target, name): copied.Copy} {
			info, err := os.Lstat(file)
			require.NoError(t, err)
			assert.Equal(t, StampOf(info), stamp, name)
		}
		info, err := os.Lstat(filepath.Join(target, name))
		require.NoError(t, err)
		assert.Equal(t, c.mode, info.Mode().Perm(), name)
		read, err := copier.Read(from, name)
		require.NoError(t, err)
		copied.Copy = Stamp{}
		assert.Equal(t, copied, read, name)
	}
	_, err := copier.Copy(from, into, "small", 0o644, false)
	require.ErrorIs(t, err, fs.ErrExist, "nothing is overwritten")
}

func TestCopierTakesRegularFilesAlone(t *testing.T) {
	t.Parallel()
	from, dir := opened(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o600))
	require.NoError(t, os.Symlink("file", filepath.Join(dir, "link")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	for name, want := range map[string]string{
		"link":   `"deep/er/link" is no regular file any more`,
		"folder": `"deep/er/folder" is no regular file any more`,
		"gone":   "deep/er/gone",
	} {
		_, err := NewCopier().Read(from, name)
		assert.ErrorContains(t, err, want)
	}
}

// TestAFileThatIsWrittenToHasNoStamp: what was read of it is not what it is now.
func TestAFileThatIsWrittenToHasNoStamp(t *testing.T) {
	t.Parallel()
	from, dir := opened(t)
	name := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(name, []byte("first"), 0o600))
	source, before, err := openRegular(from, "file")
	require.NoError(t, err)
	defer func() { _ = source.close() }()
	read, err := NewCopier().read(source, before, func([]byte) error { return os.WriteFile(name, []byte("other, and longer"), 0o600) })
	require.NoError(t, err)
	assert.Zero(t, read.Source)
}
