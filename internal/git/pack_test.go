package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
)

// grow adds a commit to a branch that no checkout has, and returns it.
func (f *fixture) grow(head, text string) string {
	f.t.Helper()
	tree, err := f.repo.WriteFiles(f.t.Context(), head, map[string]*git.File{"record": {Data: []byte(strings.Repeat(text+"\n", 200))}})
	require.NoError(f.t, err)
	var parents []string
	if head != "" {
		parents = []string{head}
	}
	commit, err := f.repo.CommitTree(f.t.Context(), tree, parents, text, fixed)
	require.NoError(f.t, err)
	f.user("update-ref", "refs/heads/records", commit)
	return commit
}

func (f *fixture) packFiles(pattern string) []string {
	f.t.Helper()
	found, err := filepath.Glob(filepath.Join(f.dir, ".git/objects/pack", pattern))
	require.NoError(f.t, err)
	return found
}

func TestPackTouchesNothingElse(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		f := newFixture(t, "--object-format="+format)
		f.user("repack", "-q", "-a", "-d")
		users := f.packFiles("pack-*")
		f.write("b", "loose\n")
		f.user("add", "b")
		f.user("commit", "-q", "-m", "second")
		blob, second := f.user("rev-parse", "HEAD:b"), f.head()
		unreachable := f.user("commit-tree", "-m", "nobody's", "HEAD^{tree}")

		head, packed := "", ""
		for i := range 30 {
			head = f.grow(head, fmt.Sprintf("%s %d", format, i))
			_, err := f.repo.ReadCommit(t.Context(), head) // the reader is open while packs come and go
			require.NoError(t, err)
			var known []string
			if packed != "" {
				known = []string{packed}
			}
			require.NoError(t, f.repo.Pack(t.Context(), []string{head}, known))
			packed = head
			require.NoFileExists(t, f.repo.LooseFile(head))
			require.LessOrEqual(t, len(f.packFiles("autoloop-*.pack")), 12)
		}
		for _, ours := range strings.Fields(f.user("rev-list", "--objects", "--no-object-names", head)) {
			assert.NoFileExists(t, f.repo.LooseFile(ours))
			objects, err := f.repo.Cat(t.Context(), ours)
			require.NoError(t, err)
			assert.False(t, objects[0].Missing())
		}
		for _, others := range []string{blob, second, unreachable} {
			assert.FileExists(t, f.repo.LooseFile(others))
		}
		assert.Equal(t, users, f.packFiles("pack-*"))
		f.user("fsck", "--strict")
		f.user("gc", "-q")
		f.user("fsck", "--strict")
		require.NoError(t, f.repo.Pack(t.Context(), []string{head}, nil), "nothing is left to pack")
		assert.Len(t, strings.Fields(f.user("rev-list", head)), 30)
	}
}

// TestPackAfterAKill: what a killed process left is as good as before.
func TestPackAfterAKill(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	head := f.grow(f.grow("", "one"), "two")
	pack := filepath.Join(f.dir, ".git/objects/pack/autoloop-1234.pack")
	require.NoError(t, os.WriteFile(pack, []byte("half"), 0o600)) // it has no index yet
	loose, err := os.ReadFile(f.repo.LooseFile(head))
	require.NoError(t, err)
	require.NoError(t, f.repo.Pack(t.Context(), []string{head}, nil))
	require.NoError(t, os.MkdirAll(filepath.Dir(f.repo.LooseFile(head)), 0o755))
	require.NoError(t, os.WriteFile(f.repo.LooseFile(head), loose, 0o444)) // it was killed before it removed this one
	third := f.grow(head, "three")
	require.NoError(t, f.repo.Pack(t.Context(), []string{third}, []string{head}))
	f.user("fsck", "--strict")
	assert.Len(t, strings.Fields(f.user("rev-list", third)), 3)
	assert.FileExists(t, pack, "its process may still be at work")
}
