//go:build unix

package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/tests/golden"
	"github.com/org/autoloop/tests/testrepo"
)

// trap is a script that leaves a mark, and the mark's path.
func trap(t *testing.T) (script, mark string) {
	t.Helper()
	dir := t.TempDir()
	script, mark = filepath.Join(dir, "trap"), filepath.Join(dir, "mark")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\necho \"$0 $*\" >> "+mark+"\ncat\n"), 0o755))
	return script, mark
}

// setTraps configures everything that makes git run a command.
func setTraps(t *testing.T, f *fixture, script string) {
	t.Helper()
	hooks := filepath.Join(f.repo.CommonDir, "hooks")
	require.NoError(t, os.MkdirAll(hooks, 0o755))
	for _, hook := range []string{
		"reference-transaction", "pre-push", "pre-commit", "post-checkout", "post-index-change", "post-update",
		"commit-msg", "prepare-commit-msg", "post-commit", "post-merge", "pre-auto-gc", "fsmonitor-watchman",
	} {
		require.NoError(t, os.Symlink(script, filepath.Join(hooks, hook)))
	}
	for key, value := range map[string]string{
		"core.fsmonitor": script, "core.hooksPath": hooks, "core.pager": script, "core.editor": script,
		"core.askPass":  script,
		"diff.external": script, "diff.evil.textconv": script, "diff.evil.command": script,
		"merge.evil.driver": script + " %O %A %B",
		"filter.evil.clean": script, "filter.evil.smudge": script, "filter.evil.process": script,
		"filter.evil.required": "true",
		"filter.a=b.c.clean":   script, "filter.a=b.c.required": "true",
		"alias.cat-file": "!" + script, "alias.log": "!" + script, "gpg.program": script, "commit.gpgSign": "true",
		"log.showSignature": "true", "pager.log": script, "pager.diff-tree": script, "interactive.diffFilter": script,
		"core.alternateRefsCommand": script, "merge.default": "evil", "gc.auto": "1",
		"maintenance.strategy": "incremental",
		"push.gpgSign":         "if-asked", "sequence.editor": script, "trailer.x.command": script,
		"core.attributesFile": filepath.Join(f.Dir, ".gitattributes"),
	} {
		testrepo.At(t, t.TempDir(), f.Env).
			Git("config", "--file", filepath.Join(f.repo.CommonDir, "config"), key, value)
	}
}

// exercise calls every operation once.
func exercise(t *testing.T, f *fixture) {
	t.Helper()
	ctx, repo := t.Context(), f.repo
	head := must(repo.Head(ctx))
	ours, theirs := f.commit("a", "ours\n", head), f.commit("a", "theirs\n", head)
	_, conflicts, err := repo.MergeTree(ctx, ours, theirs)
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, conflicts)
	_, err = repo.Diff(ctx, ours, theirs)
	require.NoError(t, err)
	_, err = repo.Changes(ctx, ours, theirs)
	require.NoError(t, err)
	_, err = repo.Log(ctx, "HEAD")
	require.NoError(t, err)
	_, _, err = repo.AheadBehind(ctx, ours, theirs)
	require.NoError(t, err)
	_, err = repo.ListRefs(ctx)
	require.NoError(t, err)
	_, err = repo.Fingerprint(ctx)
	require.NoError(t, err)
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(t.TempDir(), "index")}
	tree := git.Input{Env: index, WorkTree: t.TempDir()}
	_, err = repo.RunWith(ctx, tree, "read-tree", "HEAD")
	require.NoError(t, err)
	_, err = repo.RunWith(ctx, tree, "checkout-index", "--all")
	require.NoError(t, err)
	_, err = repo.RunWith(ctx, git.Input{Stdin: []byte("x"), Env: index}, "hash-object", "-w", "--stdin", "--path=a")
	require.NoError(t, err)
	require.NoError(t, repo.UpdateRefs(ctx, "test", git.RefUpdate{Ref: "refs/heads/ours", New: ours, Old: git.Any}))
	remote := filepath.Join(t.TempDir(), "remote.git")
	testrepo.At(t, t.TempDir(), f.Env).Git("init", "-q", "--bare", remote)
	require.NoError(t, repo.Remote(remote).Push(ctx, git.RefUpdate{Ref: "refs/heads/ours", New: ours}))
	require.NoError(t, repo.Remote(remote).Fetch(ctx, "+refs/heads/ours:refs/remotes/x/ours"))
}

// TestConfigurationExecutesNothing, neither what was there when the repository was opened
// nor what an agent configures later.
func TestConfigurationExecutesNothing(t *testing.T) {
	t.Parallel()
	for _, later := range []bool{false, true} {
		script, mark := trap(t)
		f := newFixture(t)
		f.write(".gitattributes", "* filter=evil diff=evil merge=evil\nb filter=a=b.c\n")
		f.Commit("attributes")
		if later {
			exercise(t, f)
		}
		setTraps(t, f, script)
		if !later {
			f.repo = f.open(f.Dir)
		}
		exercise(t, f)
		assert.NoFileExists(t, mark)
		status := exec.CommandContext(t.Context(), "git", "status")
		status.Dir, status.Env = f.Dir, f.Env
		_ = status.Run()
		assert.FileExists(t, mark, "the traps do work")
	}
}

// TestErrorIsOneLine: a broken configuration is said, and nothing is run without knowing it.
func TestErrorIsOneLine(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, err := f.repo.LsTree(t.Context(), "none")
	var failed *git.Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, 128, failed.ExitCode)
	golden.Row(t, "git ls-tree: exit 128:", err.Error())
	f.write(".git/config", "[core\n")
	_, err = f.repo.Head(t.Context())
	require.ErrorContains(t, err, "bad config line 1")
	_, err = f.repo.Fingerprint(t.Context())
	require.Error(t, err)
}
