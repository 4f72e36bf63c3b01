//go:build unix

package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
)

// The names and scripts of these tests do not exist on Windows.

// Not beside others: a process that another test starts while the script is written has
// it open, and then it cannot be run.
func TestOpenRefusesAnOldGit(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho git version 2.37.9.windows.1\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755))
	_, err := git.Open(t.Context(), t.TempDir(), []string{"PATH=" + dir})
	require.ErrorContains(t, err, "too old")
	assert.Contains(t, err.Error(), "2.37.9")
	assert.Contains(t, err.Error(), git.MinimumVersion)
}

func TestCheckedOutBranches(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	linked := filepath.Join(t.TempDir(), "linked\nbranch refs/heads/fake")
	f.Git("worktree", "add", "-q", "-b", "autoloop/x", linked)
	gone := filepath.Join(t.TempDir(), "gone")
	f.Git("worktree", "add", "-q", "-b", "gone", gone)
	require.NoError(t, os.RemoveAll(gone))
	f.Git("worktree", "add", "-q", "--detach", filepath.Join(t.TempDir(), "detached"))
	at := map[string]string{}
	for _, ref := range must(f.repo.ListRefs(t.Context())) {
		at[ref.Name] = ref.WorkTree
	}
	assert.Equal(t, map[string]string{
		"refs/heads/main":       f.repo.Root,
		"refs/heads/autoloop/x": real(t, linked),
		"refs/heads/gone":       "",
	}, at)
}
