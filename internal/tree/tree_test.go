package tree_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/gate"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/tree"
)

// fixture is a repository and a place for trees.
type fixture struct {
	t    *testing.T
	dir  string
	repo *git.Repo
}

func newFixture(t *testing.T, files map[string]string, ignored ...string) *fixture {
	t.Helper()
	f := &fixture{t: t, dir: t.TempDir()}
	f.git("init", "--quiet", "--initial-branch=main")
	for name, text := range files {
		f.write(f.dir, name, text)
	}
	f.git("add", "--all")
	for _, name := range ignored {
		f.git("add", "--force", name)
	}
	f.git("commit", "--quiet", "--message", "start")
	repo, err := git.Open(context.Background(), f.dir, os.Environ())
	require.NoError(t, err)
	f.repo = repo
	return f
}

func (f *fixture) git(args ...string) string {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), "git", args...)
	cmd.Dir = f.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + f.dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=U", "GIT_AUTHOR_EMAIL=u@example.com", "GIT_COMMITTER_NAME=U", "GIT_COMMITTER_EMAIL=u@example.com",
	}
	out, err := cmd.CombinedOutput()
	require.NoError(f.t, err, "git %v: %s", args, out)
	return strings.TrimSuffix(string(out), "\n")
}

func (f *fixture) write(dir, name, text string) {
	f.t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(f.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(f.t, os.WriteFile(file, []byte(text), 0o600))
}

func (f *fixture) build(o tree.Options) *tree.Tree {
	f.t.Helper()
	built, err := (&tree.Builder{Repo: f.repo}).Build(f.t.Context(), "HEAD", filepath.Join(f.t.TempDir(), "tree"), o)
	require.NoError(f.t, err)
	return built
}

func (f *fixture) scan(built *tree.Tree) []gate.Change {
	f.t.Helper()
	changes, err := built.Scan(f.t.Context())
	require.NoError(f.t, err)
	return changes
}

func TestUntouchedTreeHasNoChanges(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "a\n", "dir/b.txt": "b\n", "sp ace/n\new.txt": "c\n"})
	built := f.build(tree.Options{Git: true})
	assert.Empty(t, f.scan(built))
	// Touched and written again with the same bytes: still none.
	f.write(built.Dir, "a.txt", "a\n")
	assert.Empty(t, f.scan(built))
}

func TestChangesBecomeATreeObject(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "a\n", "gone.txt": "g\n", "run.sh": "x\n", "becomes": "file\n", ".gitignore": "*.log\n"})
	built := f.build(tree.Options{Git: true})
	f.write(built.Dir, "a.txt", "aa\n")
	require.NoError(t, os.Remove(filepath.Join(built.Dir, "gone.txt")))
	require.NoError(t, os.Chmod(filepath.Join(built.Dir, "run.sh"), 0o755))
	f.write(built.Dir, "new/caf\xe9\n.txt", "new\n")
	f.write(built.Dir, ":(top)odd", "odd\n")
	f.write(built.Dir, "ignored.log", "x\n")
	require.NoError(t, os.Remove(filepath.Join(built.Dir, "becomes")))
	require.NoError(t, os.Symlink("a.txt", filepath.Join(built.Dir, "becomes")))
	changes := f.scan(built)
	kinds := map[string]gate.Kind{}
	for _, c := range changes {
		assert.Empty(t, c.Refused)
		kinds[c.Path] = c.Kind
	}
	assert.Equal(t, map[string]gate.Kind{
		"a.txt": gate.Modified, "gone.txt": gate.Deleted, "run.sh": gate.Mode, "new/caf\xe9\n.txt": gate.Added, ":(top)odd": gate.Added, "becomes": gate.Type,
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
	again, err := (&tree.Builder{Repo: f.repo}).Build(t.Context(), id, filepath.Join(t.TempDir(), "tree"), tree.Options{})
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
		_, err := (&tree.Builder{Repo: f.repo}).Build(t.Context(), "HEAD", filepath.Join(t.TempDir(), "tree"), tree.Options{Share: []string{path}})
		require.Error(t, err, path)
	}
}

func TestRemoveReadOnly(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"dir/a.txt": "0\n"})
	built := f.build(tree.Options{Git: true})
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
