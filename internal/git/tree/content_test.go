//go:build unix

package tree

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
)

// TestCopyOfWhatWasSwapped: between the look at a path and the copy of its
// content something else may have come into its place.
func TestCopyOfWhatWasSwapped(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(outside, "secret"), []byte("s"), 0o600),
		os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o600),
		os.WriteFile(filepath.Join(dir, "big"), make([]byte, maxFile+1), 0o600),
		os.Mkdir(filepath.Join(dir, "sub"), 0o700),
		os.Symlink("file", filepath.Join(dir, "inner")),
		os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "link")),
		os.Symlink(outside, filepath.Join(dir, "up")),
		syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600),
	} {
		require.NoError(t, err)
	}
	root := must(os.OpenRoot(dir))
	defer func() { _ = root.Close() }()
	for _, name := range []string{"sub", "inner", "link", "up/secret", "pipe", "big", "gone"} {
		target := filepath.Join(t.TempDir(), "copy")
		require.Error(t, copyChanged(root, decision.Change{Path: name, NewMode: git.ModeFile}, target), name)
		if data, err := os.ReadFile(target); err == nil {
			assert.NotContains(t, string(data), "s", name)
		}
	}
	target := filepath.Join(t.TempDir(), "deep", "copy")
	require.NoError(t, copyChanged(root, decision.Change{Path: "file", NewMode: git.ModeExecutable}, target))
	info := must(os.Stat(target))
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	require.Error(t, copyChanged(root, decision.Change{Path: "file"}, target), "a copy is made once")
}

// must is the value of a call that may not fail.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
