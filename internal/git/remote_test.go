package git_test

import (
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
	f.user("clone", "-q", "--bare", ".", bare)
	f.user("remote", "add", "shared", bare)
	return bare
}

func TestPushIsAtomicWithLeases(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	newBare(t, f)
	ctx, first := t.Context(), f.head()
	second := f.commit("b", "2", first)
	third := f.commit("c", "3", second)
	require.NoError(t, f.repo.Remote("shared").Push(ctx, git.RefUpdate{Ref: "refs/heads/memory/autoloop", New: first},
		git.RefUpdate{Ref: "refs/heads/autoloop/x", New: first}))

	for name, stale := range map[string]git.RefUpdate{
		"another value":  {Ref: "refs/heads/autoloop/x", New: second, Old: second},
		"exists already": {Ref: "refs/heads/autoloop/x", New: second},
		"does not exist": {Ref: "refs/heads/none", New: second, Old: first},
	} {
		err := f.repo.Remote("shared").Push(ctx,
			git.RefUpdate{Ref: "refs/heads/memory/autoloop", New: second, Old: first}, stale)
		require.ErrorIs(t, err, git.ErrStale, name)
		require.ErrorIs(t, err, git.ErrRejected, name)
		there, err := f.repo.Remote("shared").Refs(ctx, "refs/heads/memory/autoloop")
		require.NoError(t, err)
		assert.Equal(t, map[string]string{"refs/heads/memory/autoloop": first}, there, name)
	}
	require.NoError(t, f.repo.Remote("shared").Push(ctx,
		git.RefUpdate{Ref: "refs/heads/memory/autoloop", New: third, Old: first},
		git.RefUpdate{Ref: "refs/heads/any", New: third, Old: git.Any}))
	require.NoError(t, f.repo.Remote("shared").Push(ctx,
		git.RefUpdate{Ref: "refs/heads/memory/autoloop", New: first, Old: third}, // back, with lease
		git.RefUpdate{Ref: "refs/heads/autoloop/x", Old: first},                  // away
		git.RefUpdate{Ref: "refs/heads/any", New: first, Old: git.Any}))
	there, err := f.repo.Remote("shared").Refs(ctx)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{
		"HEAD": first, "refs/heads/main": first, "refs/heads/memory/autoloop": first,
		"refs/heads/any": first,
	}, there)
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
	f.user("tag", "v1")
	f.user("branch", "wanted", f.commit("b", "2", f.head()))
	f.user("branch", "unwanted", f.commit("c", "3", f.head()))
	clone.user("config", "fetch.prune", "true")
	clone.user("update-ref", "refs/remotes/origin/old", "HEAD")
	before := clone.user("for-each-ref")
	require.NoError(t, clone.repo.Remote("origin").Fetch(t.Context(), "refs/heads/wanted"))
	assert.Equal(t, before, clone.user("for-each-ref"))
	assert.NoFileExists(t, filepath.Join(clone.repo.GitDir, "FETCH_HEAD"))
	require.NoError(t, clone.repo.Remote("origin").Fetch(t.Context(), "+refs/heads/wanted:refs/remotes/origin/wanted"))
	assert.Equal(t, f.user("rev-parse", "wanted"), clone.user("rev-parse", "refs/remotes/origin/wanted"))
	clone.user("update-ref", "-d", "refs/remotes/origin/wanted")
	assert.Equal(t, before, clone.user("for-each-ref"))
}

// TestAFetchThatWasKilledIsDoneAgain: git unpacks commits before trees and files, so a
// fetch that is killed leaves a commit without what belongs to it.
func TestAFetchThatWasKilledIsDoneAgain(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]int{
		"nothing": 0, "a commit": 1, "its tree too": 2, "everything": 3,
		"a commit, by its id": 1,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			byID := strings.HasSuffix(name, "by its id")
			f := newFixture(t)
			clone := f.clone()
			id := f.commit("b", "2", f.head())
			f.user("branch", "wanted", id)
			copyLoose(t, f, clone, []string{id, id + "^{tree}", id + ":b"}[:left]...)
			remote := clone.repo.Remote("origin")
			if left == 3 {
				f.user("branch", "-D", "wanted") // what is whole is not fetched
			}
			ref := "refs/heads/wanted"
			if byID {
				ref = id
			}
			require.NoError(t, remote.Obtain(t.Context(), id, ref))
			assert.Equal(t, "2", clone.user("cat-file", "blob", id+":b"))
			clone.user("update-ref", "refs/heads/here", id)
			clone.user("fsck", "--strict")
			before := clone.user("for-each-ref")
			require.NoError(t, clone.repo.Remote("elsewhere").Obtain(t.Context(), id, "refs/heads/wanted"),
				"a ref reaches it")
			assert.Equal(t, before, clone.user("for-each-ref"))
		})
	}
	t.Run("a partial clone", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.user("config", "uploadpack.allowFilter", "true")
		clone := f.clone("--filter=blob:none", "--no-checkout")
		id := f.commit("b", "2", f.head())
		f.user("branch", "wanted", id)
		clone.user("fetch", "-q", "--refmap=", "origin", "wanted")
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

// copyLoose gives another repository some objects that have files of their own.
func copyLoose(t *testing.T, from, to *fixture, names ...string) {
	t.Helper()
	for _, name := range names {
		id := from.user("rev-parse", name)
		object := filepath.Join("objects", id[:2], id[2:])
		text, err := os.ReadFile(filepath.Join(from.repo.CommonDir, object))
		require.NoError(t, err)
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
		f.user("add", "-A")
		f.user("commit", "-q", "-m", name)
	}
	first := f.user("rev-parse", "HEAD~2")
	f.user("branch", "memory/autoloop", f.commit("y", "2", f.commit("x", "1")))
	clone := f.clone("--depth=1")
	ctx := t.Context()
	shallow, err := clone.repo.IsShallow()
	require.NoError(t, err)
	require.True(t, shallow)
	_, _, err = clone.repo.AheadBehind(ctx, "HEAD", "HEAD")
	require.ErrorIs(t, err, git.ErrShallow)

	require.NoError(t, clone.repo.Remote("origin").Fetch(ctx,
		"+refs/heads/memory/autoloop:refs/remotes/origin/memory/autoloop"))
	commits, err := clone.repo.Log(ctx, 0, "refs/remotes/origin/memory/autoloop")
	require.NoError(t, err)
	assert.Len(t, commits, 2, "what is fetched is whole")

	require.NoError(t, clone.repo.Remote("origin").Unshallow(ctx))
	ahead, behind, err := clone.repo.AheadBehind(ctx, "HEAD", first)
	require.NoError(t, err)
	assert.Equal(t, []int{2, 0}, []int{ahead, behind})
	require.NoError(t, clone.repo.Remote("origin").Unshallow(ctx), "again is nothing")
}

func TestDefaultBranch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.user("checkout", "-q", "-b", "odd/trunk%")
	newBare(t, f)
	ref, err := f.repo.Remote("shared").DefaultBranch(t.Context())
	require.NoError(t, err)
	assert.Equal(t, git.Ref{Name: "refs/heads/odd/trunk%", ID: f.head()}, ref)
	url, err := f.repo.Remote("shared").URL(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "remote.git", filepath.Base(url))
}

func TestLsRemoteMatchesWholeNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.user("update-ref", "refs/heads/x/refs/heads/memory", "HEAD")
	there, err := f.repo.Remote(f.dir).Refs(t.Context(), "refs/heads/memory", "refs/heads/main")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"refs/heads/main": f.head()}, there)
}

// Credentials go through the environment of git alone.
func TestSettingsReachGit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	repo, err := git.Open(t.Context(), f.dir, f.env,
		git.WithSettings(git.Setting{Key: "http.https://x/.extraHeader", Value: "secret = \"x\"\n"}))
	require.NoError(t, err)
	out, err := repo.Run(t.Context(), git.Input{Settings: []git.Setting{{Key: "test.a", Value: "b"}}}, "config",
		"--list", "-z")
	require.NoError(t, err)
	assert.Contains(t, string(out), "http.https://x/.extraheader\nsecret = \"x\"\n\x00")
	assert.Contains(t, string(out), "test.a\nb\x00")
}

// TestNothingIsFetchedTwice: whoever only looks at a branch, or loses every race to move
// it, has no ref of it that moves; a fetch still brings only what is new.
func TestNothingIsFetchedTwice(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"origin", "a URL"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.user("branch", "grows")
			clone := f.clone()
			remote := clone.repo.Remote("origin")
			if name != "origin" {
				remote = clone.repo.Remote(f.dir)
			}
			before := clone.user("for-each-ref", "refs/heads", "refs/remotes", "refs/tags")
			for round := range 4 {
				// As many files as git keeps in a pack, instead of unpacking them.
				for i := range 150 {
					f.write(fmt.Sprintf("%d/%d", round, i), fmt.Sprintf("%d of round %d\n", i, round))
				}
				f.user("add", "-A")
				f.user("commit", "-q", "-m", "more")
				f.user("branch", "-f", "grows")
				require.NoError(t, remote.Obtain(t.Context(), f.head(), "refs/heads/grows"))
			}
			all := strings.Count(f.user("rev-list", "--all", "--objects"), "\n") + 1
			assert.Equal(t, all, objectsOnDisk(clone))
			assert.Equal(t, before, clone.user("for-each-ref", "refs/heads", "refs/remotes", "refs/tags"))
		})
	}
	t.Run("a branch that takes in the default branch", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.user("branch", "grows")
		clone := f.clone()
		clone.user("config", "fetch.unpackLimit", "1") // every object that comes is in a pack
		remote := clone.repo.Remote("origin")
		when := fixed.Unix()
		later := func(args ...string) { // git looks at newer commits first
			when++
			f.env = append(f.env, fmt.Sprintf("GIT_COMMITTER_DATE=%d +0000", when))
			f.user(args...)
		}
		for round := range 6 {
			f.user("checkout", "-q", "grows")
			for i := range 100 {
				f.write(fmt.Sprintf("g/%d/%d", round, i), fmt.Sprintf("%d of round %d\n", i, round))
			}
			f.user("add", "-A")
			later("commit", "-q", "-m", "more")
			f.user("checkout", "-q", "main")
			for range 40 { // more than git asks for at once
				later("commit", "-q", "--allow-empty", "-m", "the default branch")
			}
			require.NoError(t, remote.Obtain(t.Context(), f.head(), "refs/heads/main"))
			f.user("checkout", "-q", "grows")
			later("merge", "-q", "-m", "Merge main", "main")
			require.NoError(t, remote.Obtain(t.Context(), f.head(), "refs/heads/grows"))
		}
		all := strings.Count(f.user("rev-list", "--all", "--objects"), "\n") + 1
		const again = 6 * (40 + 1) // the commits of the default branch, and the base of a delta
		assert.LessOrEqual(t, objectsOnDisk(clone), all+again)
	})
	for name, blocks := range map[string]string{
		"a lock that a killed fetch left": "grows.lock",
		"a ref whose name is in the way":  "grows/more",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			clone := f.clone()
			id := f.commit("b", "2", f.head())
			f.user("branch", "grows", id)
			obtained := git.ObtainedRefs + "origin/heads/"
			file := filepath.Join(clone.repo.GitDir, filepath.FromSlash(obtained+blocks))
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			if strings.HasSuffix(blocks, ".lock") {
				require.NoError(t, os.WriteFile(file, nil, 0o644))
			} else {
				clone.user("update-ref", obtained+blocks, "HEAD")
			}
			require.NoError(t, clone.repo.Remote("origin").Obtain(t.Context(), id, "refs/heads/grows"))
			assert.Equal(t, "2", clone.user("cat-file", "blob", id+":b"))
		})
	}
}

// TestObtainMovesNoOtherRef: an agent may make a symbolic ref below ObtainedRefs, which is
// not watched, and a fetch into it would move the ref that it names.
func TestObtainMovesNoOtherRef(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	clone := f.clone()
	id := f.commit("b", "2", f.head())
	f.user("branch", "grows", id)
	obtained := git.ObtainedRefs + "origin/heads/grows"
	clone.user("symbolic-ref", obtained, "refs/heads/users")
	clone.user("branch", "users")
	before := clone.user("rev-parse", "users")
	require.NoError(t, clone.repo.Remote("origin").Obtain(t.Context(), id, "refs/heads/grows"))
	assert.Equal(t, before, clone.user("rev-parse", "users"))
	assert.Equal(t, id, clone.user("for-each-ref", "--format=%(objectname)%(symref)", obtained))
}

// objectsOnDisk counts objects, one that is there twice as two.
func objectsOnDisk(f *fixture) int {
	sum := 0
	for line := range strings.Lines(f.user("count-objects", "-v")) {
		var n int
		if _, err := fmt.Sscanf(line, "count: %d", &n); err == nil {
			sum += n
		}
		if _, err := fmt.Sscanf(line, "in-pack: %d", &n); err == nil {
			sum += n
		}
	}
	return sum
}
