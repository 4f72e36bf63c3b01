//go:build unix

package git_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/tests/golden"
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
	names := regexp.MustCompile(`\B/\S+/|\b[0-9a-f]{7,}`) // of directories and of commits
	golden.Table(t, map[string]string{
		"a read":                      "git log",
		"a file":                      "echo x > new",
		"a pipe among the hooks":      "mkfifo .git/hooks/p",
		"configuration":               "git config core.fsmonitor evil",
		"the user's configuration":    "git config --global core.pager evil",
		"an included file":            "echo '[x] y = 2' > .git/extra",
		"a work tree's configuration": "echo '[a]' > .git/config.worktree",
		"a hook":                      "echo '#!/bin/sh' > .git/hooks/pre-push",
		"a hook's mode":               "chmod 755 .git/hooks/old",
		"a hook away":                 "rm .git/hooks/old",
		"a hook by link":              "ln -s /bin/sh .git/hooks/pre-commit",
		"a configured hook":           "echo evil > .husky/pre-commit",
		"attributes":                  "mkdir -p .git/info; echo '* filter=x' > .git/info/attributes",
		"alternates":                  "echo /tmp > .git/objects/info/alternates",
		"a branch":                    "git update-ref refs/heads/side other",
		"a new branch":                "git branch x",
		"a branch away":               "git branch -D side",
		"HEAD":                        "git checkout -q side",
		"a replacement":               "git replace main other",
		"a symbolic ref":              "git symbolic-ref refs/heads/side refs/heads/main",
	}, func(t *testing.T, script string) any {
		f := newFixture(t)
		f.Git("branch", "side")
		f.Git("branch", "other", f.commit("b", "b", f.head()))
		f.write(".git/hooks/old", "x")
		f.write(".git/extra", "[x]\n\ty = 1\n")
		f.write(".husky/pre-commit", "x")
		f.Git("config", "include.path", "extra")
		f.Git("config", "core.hooksPath", ".husky")
		before := must(f.repo.Fingerprint(t.Context()))
		change := exec.CommandContext(t.Context(), "sh", "-ec", script)
		change.Dir, change.Env = f.Dir, f.Env
		require.NoError(t, change.Run())
		told := before.Diff(must(f.repo.Fingerprint(t.Context())))
		return names.ReplaceAllString(strings.Join(told, "\n"), "_")
	})
}
