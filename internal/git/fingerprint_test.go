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

func TestFingerprintDiffIsOrderedAndSafe(t *testing.T) {
	t.Parallel()
	a := git.Fingerprint{"ref z": "1", "ref a\x1b[31m\nx": "1"}
	assert.Equal(t, []string{"hook h was added", "ref a x was removed", "ref z was removed"},
		a.Diff(git.Fingerprint{"hook h": "x"}))
	assert.Nil(t, a.Diff(a))
	assert.Nil(t, git.Fingerprint(nil).Diff(nil))
}

func TestFingerprintSeesWhatAnAgentMayDo(t *testing.T) {
	t.Parallel()
	in := func(f *fixture, path string) string { return filepath.Join(f.repo.CommonDir, path) }
	user := func(args ...string) func(f *fixture) { return func(f *fixture) { f.Git(args...) } }
	write := func(path, text string) func(f *fixture) { return func(f *fixture) { f.write(path, text) } }
	for name, c := range map[string]struct {
		do   func(f *fixture)
		want string // a regular expression of the one line that is told, "" is nothing
	}{
		"a read": {user("log"), ""},
		"a file": {write("new", "x"), ""},
		"a pipe among the hooks": {
			func(f *fixture) { require.NoError(f.t, syscall.Mkfifo(in(f, "hooks/p"), 0o600)) }, "hook .*",
		},
		"configuration": {user("config", "core.fsmonitor", "evil"), "config .*/config was changed"},
		"the user's configuration": {
			user("config", "--global", "core.pager", "evil"), "config .*gitconfig was added",
		},
		"an included file":            {write(".git/extra", "[x]\n\ty = 2\n"), "config .*/extra was changed"},
		"a work tree's configuration": {write(".git/config.worktree", "[a]\n"), "config .*config.worktree was added"},
		"a hook":                      {write(".git/hooks/pre-push", "#!/bin/sh\n"), "hook .*pre-push was added"},
		"a hook's mode": {
			func(f *fixture) { require.NoError(f.t, os.Chmod(in(f, "hooks/old"), 0o755)) },
			"hook .*hooks/old was changed",
		},
		"a hook away": {
			func(f *fixture) { require.NoError(f.t, os.Remove(in(f, "hooks/old"))) }, "hook .*hooks/old was removed",
		},
		"a hook by link": {
			func(f *fixture) { require.NoError(f.t, os.Symlink("/bin/sh", in(f, "hooks/pre-commit"))) },
			"hook .*pre-commit was added",
		},
		"a configured hook": {write(".husky/pre-commit", "evil"), "hook .*.husky/pre-commit was changed"},
		"attributes":        {write(".git/info/attributes", "* filter=x\n"), "info .*attributes was added"},
		"alternates":        {write(".git/objects/info/alternates", "/tmp\n"), "info .*alternates was added"},
		"a branch": {
			func(f *fixture) { f.Git("update-ref", "refs/heads/side", f.commit("b", "b", f.head())) },
			"ref refs/heads/side moved from .*",
		},
		"a new branch":   {user("branch", "x"), "ref refs/heads/x was added"},
		"a branch away":  {user("branch", "-D", "side"), "ref refs/heads/side was removed"},
		"HEAD":           {user("checkout", "-q", "side"), "ref HEAD moved from refs/heads/main to refs/heads/side"},
		"a replacement":  {func(f *fixture) { f.Git("replace", f.head(), f.commit("b", "b")) }, "ref refs/replace/.*"},
		"a symbolic ref": {user("symbolic-ref", "refs/heads/side", "refs/heads/main"), "ref refs/heads/side moved.*"},
	} {
		f := newFixture(t)
		f.Git("branch", "side")
		f.write(".git/hooks/old", "x")
		f.write(".git/extra", "[x]\n\ty = 1\n")
		f.write(".husky/pre-commit", "x")
		f.Git("config", "include.path", "extra")
		f.Git("config", "core.hooksPath", ".husky")
		before := must(f.repo.Fingerprint(t.Context()))
		c.do(f)
		after := must(f.repo.Fingerprint(t.Context()))
		assert.Regexp(t, "^"+c.want+"$", strings.Join(before.Diff(after), "\n"), name)
	}
}
