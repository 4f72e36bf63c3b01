package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
)

func TestCommitsAreSigned(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		if os.Getenv("AUTOLOOP_TEST_REAL") != "" {
			require.NoError(t, err, "install openssh-client")
		}
		t.Skip("ssh-keygen is not installed")
	}
	f := newFixture(t)
	key := filepath.Join(t.TempDir(), "key")
	made, err := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput()
	require.NoError(t, err, string(made))
	public, err := os.ReadFile(key + ".pub")
	require.NoError(t, err)
	allowed := filepath.Join(t.TempDir(), "allowed")
	require.NoError(t, os.WriteFile(allowed, append([]byte("autoloop@localhost "), public...), 0o600))
	f.user("config", "gpg.ssh.allowedSignersFile", allowed)

	signer, err := git.Open(t.Context(), f.dir, f.env, git.WithSigning(git.SSH))
	require.NoError(t, err)
	tree := f.user("rev-parse", "HEAD^{tree}")
	_, err = signer.CommitTree(t.Context(), tree, nil, "no key\n", fixed)
	require.ErrorContains(t, err, "signingkey")

	f.user("config", "user.signingKey", key)
	for repo, want := range map[*git.Repo]string{signer: "G", f.repo: "N"} {
		commit, err := repo.CommitTree(t.Context(), tree, nil, "message\n", fixed)
		require.NoError(t, err)
		assert.Equal(t, want, f.user("log", "-1", "--format=%G?", commit))
	}
}
