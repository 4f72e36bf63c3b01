//go:build unix

package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
)

func TestFingerprintSeesWhatAnAgentMayDo(t *testing.T) {
	t.Parallel()
	in := func(f *fixture, path string) string { return filepath.Join(f.repo.CommonDir, path) }
	for _, test := range []struct {
		name string
		do   func(f *fixture)
		want []string
	}{
		{"nothing", func(*fixture) {}, nil},
		{"a read", func(f *fixture) { f.user("status"); f.user("log") }, nil},
		{"a file", func(f *fixture) { f.write("new", "x") }, nil},
		{
			"configuration", func(f *fixture) { f.user("config", "core.fsmonitor", "evil") },
			[]string{"config", "/config was changed"},
		},
		{
			"the user's configuration", func(f *fixture) { f.user("config", "--global", "core.pager", "evil") },
			[]string{"config", ".gitconfig was added"},
		},
		{
			"an included file", func(f *fixture) { f.write(".git/extra", "[x]\n\ty = 2\n") },
			[]string{"config", "/extra was changed"},
		},
		{
			"a work tree's configuration", func(f *fixture) { f.write(".git/config.worktree", "[a]\n") },
			[]string{"config", "config.worktree was added"},
		},
		{
			"a hook", func(f *fixture) { f.write(".git/hooks/pre-push", "#!/bin/sh\n") },
			[]string{"hook", "pre-push was added"},
		},
		{
			"a hook's mode", func(f *fixture) { require.NoError(f.t, os.Chmod(in(f, "hooks/old"), 0o755)) },
			[]string{"hook", "hooks/old was changed"},
		},
		{
			"a hook away", func(f *fixture) { require.NoError(f.t, os.Remove(in(f, "hooks/old"))) },
			[]string{"hook", "hooks/old was removed"},
		},
		{
			"a hook by link", func(f *fixture) {
				require.NoError(f.t, os.Symlink("/bin/sh", in(f, "hooks/pre-commit")))
			},
			[]string{"hook", "pre-commit was added"},
		},
		{
			"a configured hook", func(f *fixture) { f.write(".husky/pre-commit", "evil") },
			[]string{"hook", ".husky/pre-commit was changed"},
		},
		{
			"attributes", func(f *fixture) { f.write(".git/info/attributes", "* filter=x\n") },
			[]string{"info", "attributes was added"},
		},
		{
			"alternates", func(f *fixture) { f.write(".git/objects/info/alternates", f.t.TempDir()+"\n") },
			[]string{"info", "alternates was added"},
		},
		{
			"a branch", func(f *fixture) { f.user("update-ref", "refs/heads/side", f.commit("b", "b", f.head())) },
			[]string{"ref refs/heads/side moved from "},
		},
		{"a new branch", func(f *fixture) { f.user("branch", "x") }, []string{"ref refs/heads/x was added"}},
		{
			"a branch away", func(f *fixture) { f.user("branch", "-D", "side") },
			[]string{"ref refs/heads/side was removed"},
		},
		{
			"HEAD", func(f *fixture) { f.user("checkout", "-q", "side") },
			[]string{"ref HEAD moved from refs/heads/main to refs/heads/side"},
		},
		{
			"a replacement", func(f *fixture) { f.user("replace", f.head(), f.commit("b", "b")) },
			[]string{"ref refs/replace/"},
		},
		{
			"a symbolic ref", func(f *fixture) { f.user("symbolic-ref", "refs/heads/side", "refs/heads/main") },
			[]string{"ref refs/heads/side moved"},
		},
	} {
		f := newFixture(t)
		f.user("branch", "side")
		f.write(".git/hooks/old", "x")
		f.write(".git/extra", "[x]\n\ty = 1\n")
		f.write(".husky/pre-commit", "x")
		f.user("config", "include.path", "extra")
		f.user("config", "core.hooksPath", ".husky")
		before, err := f.repo.Fingerprint(t.Context())
		require.NoError(t, err)
		test.do(f)
		after, err := f.repo.Fingerprint(t.Context())
		require.NoError(t, err)
		diff := before.Diff(after)
		if test.want == nil {
			assert.Empty(t, diff, test.name)
			continue
		}
		require.Len(t, diff, 1, "%s: %v", test.name, diff)
		assert.True(t, strings.HasPrefix(diff[0], test.want[0]), "%s: %s", test.name, diff[0])
		assert.Contains(t, diff[0], test.want[len(test.want)-1], test.name)
	}
}

func TestFingerprintDiffIsOrderedAndSafe(t *testing.T) {
	t.Parallel()
	a := git.Fingerprint{"ref z": "1", "ref a\x1b[31m\nx": "1"}
	assert.Equal(t, []string{"hook h was added", "ref a x was removed", "ref z was removed"},
		a.Diff(git.Fingerprint{"hook h": "x"}))
	assert.Nil(t, a.Diff(a))
	assert.Nil(t, git.Fingerprint(nil).Diff(nil))
}

func TestFingerprintDoesNotHangOnAPipe(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	require.NoError(t, os.MkdirAll(filepath.Join(f.repo.CommonDir, "hooks"), 0o755))
	require.NoError(t, syscall.Mkfifo(filepath.Join(f.repo.CommonDir, "hooks", "pipe"), 0o600))
	_, err := f.repo.Fingerprint(t.Context())
	require.NoError(t, err)
}
