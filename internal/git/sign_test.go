package git_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/tests/long"
)

func TestCommitsAreSigned(t *testing.T) {
	t.Parallel()
	needs(t, "ssh-keygen", "openssh-client")
	f := newFixture(t)
	key := filepath.Join(t.TempDir(), "key")
	made, err := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
		key).CombinedOutput()
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

func TestCommitsAreSignedWithOpenPGP(t *testing.T) {
	t.Parallel()
	needs(t, "gpg", "gnupg")
	f := newFixture(t)
	home := t.TempDir()
	require.NoError(t, os.Chmod(home, 0o700)) //nolint:gosec // A directory is entered.
	f.env = append(f.env, "GNUPGHOME="+home)
	gpg := func(ctx context.Context, program string, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Env = f.env
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	t.Cleanup(func() { _, _ = gpg(context.WithoutCancel(t.Context()), "gpgconf", "--kill", "gpg-agent") })
	made, err := gpg(t.Context(), "gpg", "--batch", "--passphrase", "", "--quick-generate-key",
		"Robot <robot@example.com>", "ed25519", "sign", "never")
	require.NoError(t, err, made)

	signer, err := git.Open(t.Context(), f.dir, f.env, git.WithSigning(git.OpenPGP))
	require.NoError(t, err)
	tree := f.user("rev-parse", "HEAD^{tree}")
	_, err = signer.CommitTree(t.Context(), tree, nil, "no key\n", fixed)
	require.ErrorContains(t, err, "gpg failed to sign", "nobody has a key for autoloop@localhost")

	f.user("config", "user.signingKey", "robot@example.com")
	f.user("config", "gpg.format", "ssh") // what is asked for goes before
	commit, err := signer.CommitTree(t.Context(), tree, nil, "message\n", fixed)
	require.NoError(t, err)
	f.user("config", "gpg.format", "openpgp")
	assert.Equal(t, "G", f.user("log", "-1", "--format=%G?", commit))
	assert.Contains(t, f.user("cat-file", "commit", commit), "-----BEGIN PGP SIGNATURE-----")
}

// needs skips a test that needs a program, or fails it where all must run.
func needs(t *testing.T, program, from string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		long.Missing(t, program+" of "+from)
	}
}
