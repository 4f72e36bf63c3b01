package git_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
)

func newBare(t *testing.T, f *fixture) string {
	t.Helper()
	bare := filepath.Join(t.TempDir(), "remote.git")
	f.Git("clone", "-q", "--bare", ".", bare)
	f.Git("remote", "add", "shared", bare)
	return bare
}

func TestPushIsAtomicWithLeases(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	newBare(t, f)
	first := f.head()
	second := f.commit("b", "2", first)
	third := f.commit("c", "3", second)
	const memory, x, one = "refs/heads/memory/autoloop", "refs/heads/autoloop/x", "refs/heads/any"
	shared := f.repo.Remote("shared")
	push := func(updates ...git.RefUpdate) error { return shared.Push(t.Context(), updates...) }
	require.NoError(t, push(git.RefUpdate{Ref: memory, New: first}, git.RefUpdate{Ref: x, New: first}))
	for name, stale := range map[string]git.RefUpdate{
		"another value":  {Ref: x, New: second, Old: second},
		"exists already": {Ref: x, New: second},
		"does not exist": {Ref: "refs/heads/none", New: second, Old: first},
	} {
		err := push(git.RefUpdate{Ref: memory, New: second, Old: first}, stale)
		require.ErrorIs(t, err, git.ErrStale, name)
		require.ErrorIs(t, err, git.ErrRejected, name)
		there := must(shared.Refs(t.Context(), memory))
		assert.Equal(t, map[string]string{memory: first}, there, name)
	}
	require.NoError(t, push(git.RefUpdate{Ref: memory, New: third, Old: first},
		git.RefUpdate{Ref: one, New: third, Old: git.Any}))
	require.NoError(t, push(git.RefUpdate{Ref: memory, New: first, Old: third}, // back, with lease
		git.RefUpdate{Ref: x, Old: first}, // away
		git.RefUpdate{Ref: one, New: first, Old: git.Any}))
	there := must(shared.Refs(t.Context()))
	assert.Equal(t, map[string]string{"HEAD": first, "refs/heads/main": first, memory: first, one: first}, there)
}

func TestRemoteOutOfReach(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	missing := filepath.Join(t.TempDir(), "none")
	err := f.repo.Remote(missing).Push(t.Context(), git.RefUpdate{Ref: "refs/heads/x", New: f.head()})
	require.Error(t, err)
	require.NotErrorIs(t, err, git.ErrRejected)
	_, err = f.repo.Remote(missing).Refs(t.Context())
	require.Error(t, err)
	require.Error(t, f.repo.Remote(missing).Fetch(t.Context(), "refs/heads/x"))
	require.Error(t, f.repo.Remote("--upload-pack=touch x").Fetch(t.Context(), "refs/heads/x"))
}

func TestFetchTakesNothingMore(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	clone := f.clone()
	f.Git("tag", "v1")
	f.Git("branch", "wanted", f.commit("b", "2", f.head()))
	f.Git("branch", "unwanted", f.commit("c", "3", f.head()))
	clone.Git("config", "fetch.prune", "true")
	clone.Git("update-ref", "refs/remotes/origin/old", "HEAD")
	before := clone.Git("for-each-ref")
	require.NoError(t, clone.repo.Remote("origin").Fetch(t.Context(), "refs/heads/wanted"))
	assert.Equal(t, before, clone.Git("for-each-ref"))
	assert.NoFileExists(t, filepath.Join(clone.repo.GitDir, "FETCH_HEAD"))
	require.NoError(t, clone.repo.Remote("origin").Fetch(t.Context(), "+refs/heads/wanted:refs/remotes/origin/wanted"))
	assert.Equal(t, f.Git("rev-parse", "wanted"), clone.Git("rev-parse", "refs/remotes/origin/wanted"))
	clone.Git("update-ref", "-d", "refs/remotes/origin/wanted")
	assert.Equal(t, before, clone.Git("for-each-ref"))
}

// copyLoose gives another repository some objects that have files of their own.
func copyLoose(t *testing.T, from, to *fixture, names ...string) {
	t.Helper()
	for _, name := range names {
		id := from.Git("rev-parse", name)
		object := filepath.Join("objects", id[:2], id[2:])
		text := must(os.ReadFile(filepath.Join(from.repo.CommonDir, object)))
		file := filepath.Join(to.repo.CommonDir, object)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, text, 0o444))
	}
}

func TestShallowClone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, name := range []string{"b", "c"} {
		f.write(name, name)
		f.Commit(name)
	}
	first := f.Git("rev-parse", "HEAD~2")
	f.Git("branch", "memory/autoloop", f.commit("y", "2", f.commit("x", "1")))
	clone := f.clone("--depth=1")
	ctx := t.Context()
	require.True(t, clone.repo.IsShallow())
	_, _, err := clone.repo.AheadBehind(ctx, "HEAD", "HEAD")
	require.ErrorContains(t, err, "shallow")

	require.NoError(t, clone.repo.Remote("origin").Fetch(ctx,
		"+refs/heads/memory/autoloop:refs/remotes/origin/memory/autoloop"))
	commits := must(clone.repo.Log(ctx, "refs/remotes/origin/memory/autoloop"))
	assert.Len(t, commits, 2, "what is fetched is whole")

	require.NoError(t, clone.repo.Remote("origin").Unshallow(ctx))
	ahead, behind, err := clone.repo.AheadBehind(ctx, "HEAD", first)
	require.NoError(t, err)
	assert.Equal(t, []int{2, 0}, []int{ahead, behind})
	require.NoError(t, clone.repo.Remote("origin").Unshallow(ctx), "again is nothing")
}

// Credentials go through the environment of git alone.
func TestSettingsReachGit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	repo := f.open(f.Dir)
	repo.Settings = []git.Setting{{Key: "http.https://x/.extraHeader", Value: "secret = \"x\"\n"}}
	out := must(repo.RunWith(t.Context(), git.Input{Settings: []git.Setting{{Key: "test.a", Value: "b"}}}, "config",
		"--list", "-z"))
	assert.Contains(t, string(out), "http.https://x/.extraheader\nsecret = \"x\"\n\x00")
	assert.Contains(t, string(out), "test.a\nb\x00")
}

// TestFetchedOnce: whoever only looks at a branch, or loses every race to move
// it, has no ref of it that moves; a fetch still brings only what is new.
func TestFetchedOnce(t *testing.T) {
	t.Parallel()
	for _, byURL := range []bool{false, true} {
		f := newFixture(t)
		f.Git("branch", "grows")
		clone := f.clone()
		remote := clone.repo.Remote("origin")
		if byURL {
			remote = clone.repo.Remote(f.Dir)
		}
		before := clone.Git("for-each-ref", "refs/heads", "refs/remotes", "refs/tags")
		for round := range 4 {
			// As many files as git keeps in a pack, instead of unpacking them.
			for i := range 150 {
				f.write(fmt.Sprintf("%d/%d", round, i), fmt.Sprintf("%d of round %d\n", i, round))
			}
			f.Commit("more")
			f.Git("branch", "-f", "grows")
			require.NoError(t, remote.Obtain(t.Context(), f.head(), "refs/heads/grows"))
		}
		var loose, packed int
		all := strings.Count(f.Git("rev-list", "--all", "--objects"), "\n") + 1
		for line := range strings.Lines(clone.Git("count-objects", "-v")) {
			_, _ = fmt.Sscanf(line, "count: %d", &loose)
			_, _ = fmt.Sscanf(line, "in-pack: %d", &packed)
		}
		assert.Equal(t, all, loose+packed)
		assert.Equal(t, before, clone.Git("for-each-ref", "refs/heads", "refs/remotes", "refs/tags"))
	}
}

// TestObtain: git unpacks commits before trees and files, so a fetch that was killed leaves a
// commit without what belongs to it. It is done again, whatever the killed one or an agent
// left of refs, which move no other ref.
func TestObtain(t *testing.T) {
	t.Parallel()
	const obtained = git.ObtainedRefs + "origin/heads/"
	for name, c := range map[string]struct {
		left  int // how many of its commit, tree and file are there
		ref   string
		leave func(clone *fixture)
	}{
		"nothing":             {},
		"a commit":            {left: 1},
		"its tree too":        {left: 2},
		"everything":          {left: 3, ref: "refs/heads/gone"}, // what is whole is not fetched
		"a commit, by its id": {left: 1, ref: "ID"},
		"a lock":              {leave: func(c *fixture) { c.write(".git/"+obtained+"wanted.lock", "") }},
		"a ref in the way":    {leave: func(c *fixture) { c.Git("update-ref", obtained+"wanted/more", "HEAD") }},
		"a ref that leads out": {
			leave: func(c *fixture) { c.Git("symbolic-ref", obtained+"wanted", "refs/heads/main") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			clone := f.clone()
			id := f.commit("b", "2", f.head())
			f.Git("branch", "wanted", id)
			copyLoose(t, f, clone, []string{id, id + "^{tree}", id + ":b"}[:c.left]...)
			if c.leave != nil {
				c.leave(clone)
			}
			before := clone.Git("rev-parse", "main")
			ref := strings.Replace(cmp.Or(c.ref, "refs/heads/wanted"), "ID", id, 1)
			require.NoError(t, clone.repo.Remote("origin").Obtain(t.Context(), id, ref))
			assert.Equal(t, "2", clone.Git("cat-file", "blob", id+":b"))
			assert.Equal(t, before, clone.Git("rev-parse", "main"))
			clone.Git("update-ref", "refs/heads/here", id)
			clone.Git("fsck", "--strict")
			elsewhere := clone.repo.Remote("elsewhere")
			require.NoError(t, elsewhere.Obtain(t.Context(), id, "refs/heads/x"), "a ref reaches it")
		})
	}
	t.Run("a partial clone", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Git("config", "uploadpack.allowFilter", "true")
		clone := f.clone("--filter=blob:none", "--no-checkout")
		id := f.commit("b", "2", f.head())
		f.Git("branch", "wanted", id)
		clone.Git("fetch", "-q", "--refmap=", "origin", "wanted")
		require.NoError(t, clone.repo.Remote("elsewhere").Obtain(t.Context(), id, "refs/heads/x"),
			"it can get the file later")
	})
	t.Run("it is nowhere", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		clone := f.clone()
		id := f.commit("b", "2", f.head())
		copyLoose(t, f, clone, id)
		require.Error(t, clone.repo.Remote("origin").Obtain(t.Context(), id, "refs/heads/wanted"))
	})
}

func TestRefsOfARemote(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Git("checkout", "-q", "-b", "odd/trunk%")
	f.Git("update-ref", "refs/heads/x/refs/heads/memory", "HEAD")
	bare := newBare(t, f)
	shared := f.repo.Remote("shared")
	ref := must(shared.DefaultBranch(t.Context()))
	assert.Equal(t, git.Ref{Name: "refs/heads/odd/trunk%", ID: f.head()}, ref)
	url := must(shared.URL(t.Context()))
	assert.Equal(t, "remote.git", filepath.Base(url))
	there := must(shared.Refs(t.Context(), "refs/heads/memory", "refs/heads/main"))
	assert.Equal(t, map[string]string{"refs/heads/main": f.head()}, there, "whole names alone")

	require.NoError(t, os.MkdirAll(filepath.Join(bare, "hooks"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(bare, "hooks", "pre-receive"),
		[]byte("#!/bin/sh\necho protected >&2\nexit 1\n"), 0o755))
	err := shared.Push(t.Context(), git.RefUpdate{Ref: "refs/heads/x2", New: f.head()})
	require.ErrorIs(t, err, git.ErrRejected)
	require.NotErrorIs(t, err, git.ErrStale)
	require.ErrorContains(t, err, "x2 ([remote rejected] (pre-receive hook")
}
