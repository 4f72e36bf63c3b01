package workspace_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/skill/workspace"
)

// anyDirectory makes a directory of a few names, so that two of them have a file where
// the other has a directory or a link; git says that some have a `.git` in them. It
// returns the paths of these.
func anyDirectory(t *testing.T, random *rand.Rand, dir string, git bool) (gits []string) {
	t.Helper()
	require.NoError(t, os.Mkdir(dir, 0o755))
	dirs := []string{"."}
	names := []string{"a", "b", "c", "a b", "ü"}
	for range 3 + random.IntN(10) {
		at := dirs[random.IntN(len(dirs))]
		name := filepath.Join(at, names[random.IntN(len(names))])
		place := filepath.Join(dir, name)
		if _, err := os.Lstat(place); err == nil {
			continue
		}
		switch random.IntN(4) {
		case 0:
			require.NoError(t, os.Mkdir(place, 0o755))
			dirs = append(dirs, name)
			if git && random.IntN(3) == 0 {
				write(t, place, ".git/HEAD", "of "+name, 0o644)
				gits = append(gits, filepath.Join(name, ".git", "HEAD"))
			}
		case 1:
			require.NoError(t, os.Symlink(names[random.IntN(len(names))]+"-gone", place))
		default:
			write(t, dir, name, fmt.Sprint("text ", random.IntN(3)), []fs.FileMode{0o644, 0o755, 0o600}[random.IntN(3)])
		}
	}
	for _, name := range dirs[1:] {
		require.NoError(t, os.Chmod(filepath.Join(dir, name), []fs.FileMode{0o755, 0o700}[random.IntN(2)]))
	}
	return gits
}

// TestAnyDirectoryBecomesTheSnapshot, whatever it was before: all but the `.git` of
// others in it, and nothing when such a one is where the snapshot has a file.
func TestAnyDirectoryBecomesTheSnapshot(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes and links need another system")
	}
	random := rand.New(rand.NewPCG(20, 21))
	blocked := 0
	for round := range 80 {
		base := writableDir(t)
		src, snap, dir := filepath.Join(base, "src"), filepath.Join(base, "v1"), filepath.Join(base, "dir")
		anyDirectory(t, random, src, false)
		gits := anyDirectory(t, random, dir, round%3 > 0)
		wanted, before := scan(t, src), scan(t, dir)
		taken, err := workspace.Take(t.Context(), src, snap)
		require.NoError(t, err)
		require.Equal(t, wanted.Digest(), taken.Digest)
		restored, err := workspace.Restore(t.Context(), snap, dir)
		if err != nil {
			require.ErrorContains(t, err, "with a .git in it, and the snapshot has")
			require.Equal(t, before, scan(t, dir), "nothing was changed")
			blocked++
			continue
		}
		require.Equal(t, before.Digest() != wanted.Digest(), restored.Changed)
		above := map[string]bool{}
		for _, git := range gits {
			text, err := os.ReadFile(filepath.Join(dir, git))
			require.NoError(t, err, "round %d", round)
			require.Equal(t, "of "+filepath.Dir(filepath.Dir(git)), string(text))
			for name := filepath.Dir(filepath.Dir(git)); name != "."; name = filepath.Dir(name) {
				above[filepath.ToSlash(name)] = true
			}
		}
		for _, d := range files.Compare(wanted, scan(t, dir)) {
			require.True(t, d.Before == nil && above[d.Path], "round %d: %s differs, and is no directory above a .git",
				round, d.Path)
		}
		entries, err := os.ReadDir(base)
		require.NoError(t, err)
		for _, e := range entries {
			require.False(t, strings.HasPrefix(e.Name(), "."), "%s is left", e.Name())
		}
		again, err := workspace.Restore(t.Context(), snap, dir)
		require.NoError(t, err)
		require.Zero(t, again.Written, "what is right is not written again")
		back, err := workspace.Take(t.Context(), src, snap)
		require.NoError(t, err)
		require.False(t, back.Changed)
	}
	require.Positive(t, blocked)
	require.Less(t, blocked, 60)
}
