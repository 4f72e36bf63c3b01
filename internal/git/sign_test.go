package git_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/tests/long"
)

func TestCommitsAreSigned(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		format  git.Signing
		program string
		refusal string // without a key
		other   string // the user's format, before which goes what is asked for
		make    func(home string) []string
		key     func(home string) string
	}{
		"SSH": {
			git.SSH, "ssh-keygen of openssh-client", "signingkey", "openpgp",
			func(home string) []string { return []string{"-q", "-t", "ed25519", "-N", "", "-f", home + "/key"} },
			func(home string) string { return home + "/key" },
		},
		"OpenPGP": {
			git.OpenPGP, "gpg of gnupg", "gpg failed to sign", "ssh",
			func(string) []string {
				return []string{"--batch", "--passphrase", "", "--quick-gen-key", "r@example.com", "ed25519", "sign"}
			},
			func(string) string { return "r@example.com" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, _, _ := strings.Cut(c.program, " ")
			if _, err := exec.LookPath(program); err != nil {
				long.Missing(t, c.program)
			}
			f, home := newFixture(t), t.TempDir()
			require.NoError(t, os.Chmod(home, 0o700)) //nolint:gosec // A directory is entered.
			f.Env = append(f.Env, "GNUPGHOME="+home)
			run := func(ctx context.Context, program string, args ...string) (string, error) {
				cmd := exec.CommandContext(ctx, program, args...)
				cmd.Env = f.Env
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			t.Cleanup(func() { _, _ = run(context.WithoutCancel(t.Context()), "gpgconf", "--kill", "gpg-agent") })
			made, err := run(t.Context(), program, c.make(home)...)
			require.NoError(t, err, made)
			public, _ := os.ReadFile(filepath.Join(home, "key.pub"))
			require.NoError(t, os.WriteFile(home+"/allowed", append([]byte("autoloop@localhost "), public...), 0o600))
			f.Git("config", "gpg.ssh.allowedSignersFile", home+"/allowed")
			f.Git("config", "gpg.format", c.other)

			signer := f.open(f.Dir)
			signer.Signing = c.format
			tree := f.Git("rev-parse", "HEAD^{tree}")
			_, err = signer.CommitTree(t.Context(), tree, nil, "no key\n", fixed)
			require.ErrorContains(t, err, c.refusal)
			f.Git("config", "user.signingKey", c.key(home))
			for repo, want := range map[*git.Repo]string{signer: "G", f.repo: "N"} {
				commit := must(repo.CommitTree(t.Context(), tree, nil, "message\n", fixed))
				assert.Equal(t, want, f.Git("log", "-1", "--format=%G?", commit))
			}
		})
	}
}
