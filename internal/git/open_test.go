package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/tests/long"
	"github.com/org/autoloop/tests/testrepo"
)

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	bare := filepath.Join(t.TempDir(), "bare.git")
	f.Git("clone", "-q", "--bare", ".", bare)
	for _, test := range []struct {
		name, dir string
		env       []string
		want      string
	}{
		{"no repository", t.TempDir(), f.Env, git.ErrNotRepository.Error()},
		{"bare", bare, f.Env, "bare repository"},
		{"inside .git", f.repo.GitDir, f.Env, "inside a .git directory"},
		{"no git", f.Dir, []string{"PATH=" + t.TempDir()}, git.ErrNoGit.Error()},
	} {
		_, err := git.Open(t.Context(), test.dir, test.env)
		require.ErrorContains(t, err, test.want, test.name)
		assert.NotContains(t, err.Error(), "\n", test.name)
	}
	broken := filepath.Join(t.TempDir(), "a\nb")
	f.Git("init", "-q", broken)
	_, err := git.Open(t.Context(), broken, f.Env)
	require.ErrorContains(t, err, "line break")
}

func TestOpenNamesTheCureForAnotherOwner(t *testing.T) {
	t.Parallel()
	long.Root(t, "giving a directory to another user")
	f := newFixture(t)
	require.NoError(t, filepath.WalkDir(f.Dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, 12345, 12345)
	}))
	f.write("sub/x", "")
	_, err := git.Open(t.Context(), filepath.Join(f.Dir, "sub"), f.Env)
	require.ErrorContains(t, err, "dubious ownership")
	assert.True(t, strings.HasSuffix(err.Error(), " --add safe.directory "+real(t, f.Dir)))

	_, cure, _ := strings.Cut(err.Error(), "run: git ")
	testrepo.At(t, t.TempDir(), f.Env).Git(strings.Fields(cure)...)
	_, err = git.Open(t.Context(), f.Dir, f.Env)
	assert.NoError(t, err, "the cure works")
}

// real is the path as git says it.
func real(t *testing.T, path string) string {
	t.Helper()
	path = must(filepath.EvalSymlinks(path))
	return path
}

func TestOpenFindsTheRepository(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("sub/dir/file", "x")
	linked := filepath.Join(t.TempDir(), "linked")
	f.Git("worktree", "add", "-q", "-b", "other", linked)
	for dir, want := range map[string]struct{ root, gitDir, branch string }{
		filepath.Join(f.Dir, "sub", "dir"): {f.Dir, f.repo.CommonDir, "refs/heads/main"},
		linked: {
			linked, filepath.Join(f.repo.CommonDir, "worktrees", "linked"), "refs/heads/other",
		},
	} {
		repo := f.open(dir)
		assert.Equal(t, real(t, want.root), repo.Root)
		assert.Equal(t, want.gitDir, repo.GitDir)
		assert.Equal(t, real(t, filepath.Join(f.Dir, ".git")), repo.CommonDir)
		branch := must(repo.CurrentBranch(t.Context()))
		assert.Equal(t, want.branch, branch)
	}
	f.Git("checkout", "-q", "--detach")
	branch := must(f.repo.CurrentBranch(t.Context()))
	assert.Empty(t, branch)
	head := must(f.repo.Head(t.Context()))
	assert.Equal(t, f.head(), head)
}

// TestEmptyRepository in directories of odd names.
func TestEmptyRepository(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"with space", `quo"te'`, "-dash", "ünï", "semi;$(x)"} {
		env, dir := testrepo.Environ(t.TempDir()), filepath.Join(t.TempDir(), name)
		testrepo.At(t, filepath.Dir(dir), env).Git("init", "-q", "-b", "main", "--", dir)
		repo := must(git.Open(t.Context(), dir, env))
		assert.Equal(t, real(t, dir), repo.Root)
		_, err := repo.Head(t.Context())
		require.ErrorContains(t, err, "no commit yet")
		branch := must(repo.CurrentBranch(t.Context()))
		assert.Equal(t, "refs/heads/main", branch)
		refs := must(repo.ListRefs(t.Context()))
		assert.Empty(t, refs)
		_, err = repo.Fingerprint(t.Context())
		require.NoError(t, err)
		_, err = repo.WriteFiles(t.Context(), "", map[string]*git.File{"a": {Data: []byte("1")}, "b": {}})
		require.NoError(t, err)
	}
}
