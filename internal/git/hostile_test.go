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
		"core.attributesFile": filepath.Join(f.dir, ".gitattributes"),
	} {
		f.user2(t.TempDir(), "config", "--file", filepath.Join(f.repo.CommonDir, "config"), key, value)
	}
}

// exercise calls every operation once.
func exercise(t *testing.T, f *fixture) {
	t.Helper()
	ctx, repo := t.Context(), f.repo
	head, err := repo.Head(ctx)
	require.NoError(t, err)
	ours, theirs := f.commit("a", "ours\n", head), f.commit("a", "theirs\n", head)
	_, conflicts, err := repo.MergeTree(ctx, ours, theirs)
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, conflicts)
	_, err = repo.Diff(ctx, ours, theirs)
	require.NoError(t, err)
	_, err = repo.Changes(ctx, ours, theirs)
	require.NoError(t, err)
	_, err = repo.Log(ctx, 0, "HEAD")
	require.NoError(t, err)
	_, _, err = repo.AheadBehind(ctx, ours, theirs)
	require.NoError(t, err)
	_, err = repo.CheckedOutBranches(ctx)
	require.NoError(t, err)
	_, err = repo.Fingerprint(ctx)
	require.NoError(t, err)
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(t.TempDir(), "index")}
	tree := git.Input{Env: index, WorkTree: t.TempDir()}
	_, err = repo.Run(ctx, tree, "read-tree", "HEAD")
	require.NoError(t, err)
	_, err = repo.Run(ctx, tree, "checkout-index", "--all")
	require.NoError(t, err)
	_, err = repo.Run(ctx, git.Input{Stdin: []byte("x"), Env: index}, "hash-object", "-w", "--stdin", "--path=a")
	require.NoError(t, err)
	require.NoError(t, repo.UpdateRefs(ctx, "test", git.RefUpdate{Ref: "refs/heads/ours", New: ours, Old: git.Any}))
	remote := filepath.Join(t.TempDir(), "remote.git")
	f.user2(t.TempDir(), "init", "-q", "--bare", remote)
	require.NoError(t, repo.Remote(remote).Push(ctx, git.RefUpdate{Ref: "refs/heads/ours", New: ours}))
	require.NoError(t, repo.Remote(remote).Fetch(ctx, "+refs/heads/ours:refs/remotes/x/ours"))
}

func TestNothingConfiguredIsExecuted(t *testing.T) {
	t.Parallel()
	script, mark := trap(t)
	f := newFixture(t)
	f.write(".gitattributes", "* filter=evil diff=evil merge=evil\nb filter=a=b.c\n")
	f.user("add", "-A")
	f.user("commit", "-q", "-m", "attributes")

	setTraps(t, f, script)
	f.repo = f.open(f.dir)
	exercise(t, f)
	assert.NoFileExists(t, mark)
	status := exec.CommandContext(t.Context(), "git", "status")
	status.Dir, status.Env = f.dir, f.env
	_ = status.Run()
	assert.FileExists(t, mark, "the traps do work")
}

// What an agent configures while the repository is open counts as little.
func TestNothingConfiguredLaterIsExecuted(t *testing.T) {
	t.Parallel()
	script, mark := trap(t)
	f := newFixture(t)
	f.write(".gitattributes", "* filter=evil diff=evil merge=evil\n")
	f.user("add", "-A")
	f.user("commit", "-q", "-m", "attributes")
	exercise(t, f)
	setTraps(t, f, script)
	exercise(t, f)
	assert.NoFileExists(t, mark)
}

// Filters that the user has for good reason, as of LFS, leave files as they are.
func TestFiltersAreNeutral(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(".gitattributes", "*.bin filter=lfs\n")
	f.write("x.bin", "version https://git-lfs.github.com/spec/v1\n")
	f.user("add", "-A")
	f.user("commit", "-q", "-m", "pointer")
	for _, key := range []string{"clean", "smudge", "process"} {
		f.user("config", "filter.lfs."+key, "false")
	}
	f.user("config", "filter.lfs.required", "true")
	dir := t.TempDir()
	in := git.Input{Env: []string{"GIT_INDEX_FILE=" + filepath.Join(t.TempDir(), "index")}, WorkTree: dir}
	_, err := f.repo.Run(t.Context(), in, "read-tree", "HEAD")
	require.NoError(t, err)
	_, err = f.repo.Run(t.Context(), in, "checkout-index", "--all")
	require.NoError(t, err)
	data, err := os.ReadFile(filepath.Join(dir, "x.bin"))
	require.NoError(t, err)
	assert.Equal(t, "version https://git-lfs.github.com/spec/v1\n", string(data))
}

// Sparse checkouts, ignored modes and line endings are the user's matter: trees
// are whole and as they are stored.
func TestTreesAreWhole(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("dir/b", "one\ntwo\n")
	f.write(".gitattributes", "* text=auto\n")
	f.user("add", "-A")
	f.user("commit", "-q", "-m", "second")
	f.user("sparse-checkout", "set", "--no-cone", "a")
	for key, value := range map[string]string{
		"core.fileMode": "false", "core.autocrlf": "true", "core.safecrlf": "true", "index.sparse": "true",
		"core.splitIndex": "true", "core.untrackedCache": "true", "feature.manyFiles": "true",
	} {
		f.user("config", key, value)
	}
	require.NoFileExists(t, filepath.Join(f.dir, "dir", "b"))
	f.repo = f.open(f.dir)
	dir := t.TempDir()
	in := git.Input{Env: []string{"GIT_INDEX_FILE=" + filepath.Join(t.TempDir(), "index")}, WorkTree: dir}
	_, err := f.repo.Run(t.Context(), in, "read-tree", "HEAD")
	require.NoError(t, err)
	_, err = f.repo.Run(t.Context(), in, "checkout-index", "--all")
	require.NoError(t, err)
	data, err := os.ReadFile(filepath.Join(dir, "dir", "b"))
	require.NoError(t, err)
	assert.Equal(t, "one\ntwo\n", string(data))

	commit := f.commit("c", "3", f.head())
	entries, err := f.repo.LsTree(t.Context(), commit)
	require.NoError(t, err)
	assert.Len(t, entries, 4)
	shared, err := filepath.Glob(filepath.Join(f.repo.GitDir, "sharedindex.*"))
	require.NoError(t, err)
	assert.Empty(t, shared)
}

func TestErrorIsOneLine(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, err := f.repo.LsTree(t.Context(), "none")
	var failed *git.Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, 128, failed.ExitCode)
	assert.Equal(t, "git ls-tree: exit 128: Not a valid object name none", err.Error())
}

// A broken configuration is said, and nothing is run without knowing it.
func TestUnreadableConfiguration(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(".git/config", "[core\n")
	_, err := f.repo.Head(t.Context())
	require.Error(t, err)
	assert.Contains(t, err.Error(), "bad config line 1")
	_, err = f.repo.Fingerprint(t.Context())
	assert.Error(t, err)
}
