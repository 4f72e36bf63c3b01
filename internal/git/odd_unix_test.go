//go:build unix

package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
)

// The names and scripts of these tests do not exist on Windows.

var oddPaths = []string{
	"plain", "with space", "dir/new\nline", `quo"te`, "back\\slash", "tab\tbed", "latin-\xe9", "ünï/cödé", "-dash",
	":(glob)*", "a:b", " lead", "#hash", "~", "nul missing\n",
}

func TestFilesComeBackWhateverTheirName(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		f := newFixture(t, "--object-format="+format)
		assert.Equal(t, format, f.repo.ObjectFormat)
		files := map[string]*git.File{"a": nil, "not/there": nil}
		for i, path := range oddPaths {
			files[path] = &git.File{Data: []byte(strings.Repeat(path+"\r\n\x00", i))}
		}
		files["script"] = &git.File{Mode: git.ModeExecutable, Data: []byte("#!/bin/sh\n")}
		files["link"] = &git.File{Mode: git.ModeSymlink, Data: []byte("script")}
		tree, err := f.repo.WriteFiles(t.Context(), "HEAD", files)
		require.NoError(t, err)

		entries, err := f.repo.LsTree(t.Context(), tree)
		require.NoError(t, err)
		var names []string
		for _, e := range entries {
			names = append(names, tree+":"+e.Path)
			want := files[e.Path].Mode
			if want == "" {
				want = git.ModeFile
			}
			assert.Equal(t, want, e.Mode, "%q", e.Path)
		}
		require.Len(t, entries, len(oddPaths)+2)
		objects, err := f.repo.Cat(t.Context(), names...)
		require.NoError(t, err)
		for i, o := range objects {
			assert.Equal(t, string(files[entries[i].Path].Data), string(o.Data), "%q", entries[i].Path)
			assert.Equal(t, entries[i].ID, o.ID)
		}
		assert.Empty(t, f.user("status", "--porcelain"), "the index was not used")
	}
}

func TestOpenOddDirectoryNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"with space", "new\nline", `quo"te'`, "-dash", "ünï", "semi;$(x)"} {
		env := userEnv(t)
		dir := filepath.Join(t.TempDir(), name)
		user(t, env, filepath.Dir(dir), "init", "-q", "-b", "main", "--", dir)
		repo, err := git.Open(t.Context(), dir, env)
		require.NoError(t, err, "%q", name)
		assert.Equal(t, real(t, dir), repo.Root)
		_, err = repo.WriteFiles(t.Context(), "",
			map[string]*git.File{"a": {Data: []byte("1")}, "b": {Data: []byte("2")}})
		assert.NoError(t, err, "%q", name)
	}
}

// Not beside others: a process that another test starts while the script is written has
// it open, and then it cannot be run.
func TestOpenRefusesAnOldGit(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho git version 2.37.9.windows.1\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755))
	_, err := git.Open(t.Context(), t.TempDir(), []string{"PATH=" + dir})
	require.ErrorIs(t, err, git.ErrTooOld)
	assert.Contains(t, err.Error(), "2.37.9")
	assert.Contains(t, err.Error(), git.MinimumVersion)
}

func TestCheckedOutBranches(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	linked := filepath.Join(t.TempDir(), "linked\nbranch refs/heads/fake")
	f.user("worktree", "add", "-q", "-b", "autoloop/x", linked)
	gone := filepath.Join(t.TempDir(), "gone")
	f.user("worktree", "add", "-q", "-b", "gone", gone)
	require.NoError(t, os.RemoveAll(gone))
	f.user("worktree", "add", "-q", "--detach", filepath.Join(t.TempDir(), "detached"))
	branches, err := f.repo.CheckedOutBranches(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string]string{
		"refs/heads/main":       f.repo.Root,
		"refs/heads/autoloop/x": real(t, linked),
	}, branches)
}

func TestPushRefusedForGood(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	bare := newBare(t, f)
	require.NoError(t, os.MkdirAll(filepath.Join(bare, "hooks"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(bare, "hooks", "pre-receive"),
		[]byte("#!/bin/sh\necho protected >&2\nexit 1\n"), 0o755))
	err := f.repo.Remote("shared").Push(t.Context(), git.RefUpdate{Ref: "refs/heads/x", New: f.head()})
	require.ErrorIs(t, err, git.ErrRejected)
	require.NotErrorIs(t, err, git.ErrStale)
	assert.Equal(t, "remote shared refused the push: x ([remote rejected] (pre-receive hook declined)), which says: "+
		"protected", err.Error())
}
