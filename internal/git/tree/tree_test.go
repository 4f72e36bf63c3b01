package tree_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git/tree"
)

func TestUntouchedTreeHasNoChanges(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "a\n", "dir/b.txt": "b\n", "sp ace/n\new.txt": "c\n"})
	built := f.build(tree.Options{Head: "HEAD"})
	assert.Empty(t, f.scan(built))
	// Touched and written again with the same bytes: still none.
	f.write(built.Dir, "a.txt", "a\n")
	assert.Empty(t, f.scan(built))
}

func TestChangesBecomeATreeObject(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{
		"a.txt": "a\n", "gone.txt": "g\n", "run.sh": "x\n", "becomes": "file\n",
		".gitignore": "*.log\n",
	})
	built := f.build(tree.Options{Head: "HEAD"})
	f.write(built.Dir, "a.txt", "aa\n")
	require.NoError(t, os.Remove(filepath.Join(built.Dir, "gone.txt")))
	require.NoError(t, os.Chmod(filepath.Join(built.Dir, "run.sh"), 0o755))
	f.write(built.Dir, "new/caf\xe9\n.txt", "new\n")
	f.write(built.Dir, ":(top)odd", "odd\n")
	f.write(built.Dir, "ignored.log", "x\n")
	require.NoError(t, os.Remove(filepath.Join(built.Dir, "becomes")))
	require.NoError(t, os.Symlink("a.txt", filepath.Join(built.Dir, "becomes")))
	changes := f.scan(built)
	kinds := map[string]decision.ChangeKind{}
	for _, c := range changes {
		assert.Empty(t, c.Refused)
		kinds[c.Path] = c.Kind
	}
	assert.Equal(t, map[string]decision.ChangeKind{
		"a.txt": decision.Modified, "gone.txt": decision.Deleted, "run.sh": decision.Mode,
		"new/caf\xe9\n.txt": decision.Added, ":(top)odd": decision.Added, "becomes": decision.Type,
	}, kinds)
	id, err := built.Candidate(t.Context(), changes)
	require.NoError(t, err)
	listed := f.git("-c", "core.quotePath=true", "ls-tree", "-r", id)
	assert.Len(t, strings.Split(listed, "\n"), 6)
	assert.Contains(t, listed, "120000 blob")
	assert.Contains(t, listed, "100755 blob")
	assert.NotContains(t, listed, "ignored.log")
	assert.NotContains(t, listed, "gone.txt")
	// A tree built from it has the changes, and none of its own.
	again, err := (&tree.Builder{Repo: f.repo}).Build(t.Context(), id, filepath.Join(t.TempDir(), "tree"),
		tree.Options{})
	require.NoError(t, err)
	assert.Empty(t, f.scan(again))
}

func TestSameSizeChangeRightAfterBuildIsSeen(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "0\n"})
	for i := range 10 {
		built := f.build(tree.Options{})
		info, err := os.Stat(filepath.Join(built.Dir, "a.txt"))
		require.NoError(t, err)
		f.write(built.Dir, "a.txt", "1\n")
		require.NoError(t, os.Chtimes(filepath.Join(built.Dir, "a.txt"), info.ModTime(), info.ModTime()))
		require.Len(t, f.scan(built), 1, "try %d", i)
	}
}

func TestRacedFileIsReadOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "0\n"})
	built := f.build(tree.Options{})
	f.write(built.Dir, "a.txt", "1\n")
	changes := f.scan(built)
	f.write(built.Dir, "a.txt", "evil\n")
	id, err := built.Candidate(t.Context(), changes)
	require.NoError(t, err)
	assert.Equal(t, "1", f.git("show", id+":a.txt"), "what was scanned is what counts")
}

func TestShare(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "0\n", ".gitignore": "node_modules/\nbuild\n"})
	f.write(f.dir, "node_modules/x/index.js", "x\n")
	built := f.build(tree.Options{Share: []string{"node_modules/"}})
	assert.FileExists(t, filepath.Join(built.Dir, "node_modules/x/index.js"))
	f.write(built.Dir, "node_modules/x/index.js", "changed\n")
	assert.Empty(t, f.scan(built))
	for _, path := range []string{"a.txt", "../x", "build"} {
		_, err := (&tree.Builder{Repo: f.repo}).Build(t.Context(), "HEAD", filepath.Join(t.TempDir(), "tree"),
			tree.Options{Share: []string{path}})
		require.Error(t, err, path)
	}
}

func TestRemoveReadOnly(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"dir/a.txt": "0\n"})
	built := f.build(tree.Options{Head: "HEAD"})
	require.NoError(t, os.Chmod(filepath.Join(built.Dir, "dir"), 0o500))
	require.NoError(t, built.Remove())
	assert.NoDirExists(t, built.Dir)
}

func TestSubmoduleStays(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "0\n"})
	f.git("update-index", "--add", "--cacheinfo", "160000,"+f.git("rev-parse", "HEAD")+",sub")
	f.git("commit", "--quiet", "--message", "sub")
	built := f.build(tree.Options{})
	assert.Empty(t, f.scan(built))
	f.write(built.Dir, "a.txt", "1\n")
	id, err := built.Candidate(t.Context(), f.scan(built))
	require.NoError(t, err)
	assert.Contains(t, f.git("ls-tree", id), "160000 commit")
}

func TestClockThatStandsStill(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "0\n"})
	built := f.build(tree.Options{})
	f.write(built.Dir, "a.txt", "1\n")
	require.NoError(t, tree.SlowClock(built, "a.txt"))
	assert.Len(t, f.scan(built), 1)
}

func TestShareLeavesTrackedFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"cache/a": "tracked\n"})
	f.git("rm", "--quiet", "--cached", "-r", "cache")
	f.write(f.dir, ".gitignore", "cache\n")
	f.git("add", ".gitignore")
	f.git("commit", "--quiet", "--message", "ignored from now on")
	f.write(f.dir, "cache/a", "the user's\n")
	f.write(f.dir, "cache/b", "the user's\n")
	built, err := (&tree.Builder{Repo: f.repo}).Build(t.Context(), "HEAD~1", filepath.Join(t.TempDir(), "tree"),
		tree.Options{Share: []string{"cache"}})
	require.NoError(t, err)
	assert.Equal(t, "tracked\n", f.read(built.Dir, "cache/a"))
	assert.Equal(t, "the user's\n", f.read(built.Dir, "cache/b"))
}
