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

// opened is a new root with the directory deep in it.
func opened(t *testing.T) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { _ = root.Close() })
	require.NoError(t, root.Mkdir("deep", 0o700))
	return root
}

func TestCopy(t *testing.T) {
	t.Parallel()
	from, into := opened(t), opened(t)
	for name, c := range map[string]struct {
		data []byte
		mode fs.FileMode
	}{
		"deep/empty":                          {nil, 0o644},
		"deep/small":                          {[]byte("a skill\n"), 0o444},
		"deep/larger, and a mode of no mask":  {bytes.Repeat([]byte("0123456789"), 20_001), 0o666},
		"deep/for its owner alone, and small": {[]byte("x"), 0o400},
	} {
		require.NoError(t, from.WriteFile(name, c.data, 0o600), name)
		copier := &Copier{
			From: from, Into: into, Mode: func(Entry) fs.FileMode { return c.mode },
			Finish: func(Entry, *os.File) error { return nil },
		}
		found, err := (&Scanner{Root: from}).Read(t.Context())
		require.NoError(t, err)
		e, _ := found.Find(name)
		sum := sha256.Sum256(c.data)
		assert.Equal(t, hex.EncodeToString(sum[:]), e.SHA256, name)
		assert.EqualValues(t, len(c.data), e.Size, name)
		require.NoError(t, copier.Entry(e), name)
		require.ErrorIs(t, copier.Entry(e), fs.ErrExist, "nothing is overwritten")
		copied, err := into.ReadFile(name)
		require.NoError(t, err, name)
		assert.Equal(t, string(c.data), string(copied), name)
		info, err := into.Lstat(name)
		require.NoError(t, err)
		assert.Equal(t, c.mode, info.Mode().Perm(), name)
	}
}

func TestRegularFilesAloneAreRead(t *testing.T) {
	t.Parallel()
	from := opened(t)
	require.NoError(t, from.WriteFile("deep/file", []byte("x"), 0o600))
	require.NoError(t, os.Symlink("file", filepath.Join(from.Name(), "deep", "link")))
	require.NoError(t, from.Mkdir("deep/folder", 0o700))
	for name, want := range map[string]string{
		"deep/link":   `"deep/link" is no regular file any more`,
		"deep/folder": `"deep/folder" is no regular file any`, "deep/gone": "deep/gone",
	} {
		_, err := OpenRegular(from, name)
		assert.ErrorContains(t, err, want)
	}
}
