package git_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/tests/long"
)

// TestTreesAreTheIndexs: a tree that is made here is the one that git's own index
// makes of the same files, and git finds nothing wrong with it.
func TestTreesAreTheIndexs(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	for _, flags := range [][]string{nil, {"--object-format=sha256"}} {
		f := newFixture(t, flags...)
		base := ""
		rng := rand.New(rand.NewPCG(1, 2))
		names := []string{"a", "a-b", "a.b", "a/b", "a/b/c", "a/d", "dir/x", "dir/y/z", "z", "dir-x", "0"}
		big := make([]byte, 70_000)
		for range 60 {
			files := map[string]*git.File{}
			for range 1 + rng.IntN(4) {
				name := names[rng.IntN(len(names))]
				files[name] = nil
				if rng.IntN(3) > 0 {
					files[name] = &git.File{Data: append(fmt.Append(nil, rng.IntN(9)), big[:rng.IntN(len(big))]...)}
				}
			}
			want, err := git.WriteThroughIndex(f.repo, t.Context(), base, files)
			if err != nil {
				continue
			}
			got, err := f.repo.WriteFiles(t.Context(), base, files)
			require.NoError(t, err)
			if conflicts(files) {
				continue // Which of a file and a directory of one name wins is git's to say.
			}
			require.Equal(t, want, got, "%v", files)
			base = got
		}
		f.user("fsck", "--strict", "--no-dangling")
		entries, err := f.repo.LsTree(t.Context(), base)
		require.NoError(t, err)
		var listed string
		for _, e := range entries {
			listed += fmt.Sprintf("%s %s %s\t%s\n", e.Mode, e.Type, e.ID, e.Path)
		}
		assert.Equal(t, f.user("ls-tree", "-r", base)+"\n", listed)
	}
}

func conflicts(files map[string]*git.File) bool {
	for a, file := range files {
		for b, other := range files {
			if file != nil && other != nil && len(b) > len(a) && b[:len(a)+1] == a+"/" {
				return true
			}
		}
	}
	return false
}

// TestCommitsReadTheSame: one commit is what the log says of it.
func TestCommitsReadTheSame(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.commit("a.txt", "1\n")
	second := f.commit("a.txt", "2\n", first)
	f.user("-c", "i18n.commitEncoding=ISO-8859-1", "commit", "--quiet", "--allow-empty", "--message", "\xe4")
	for _, rev := range []string{first, second, f.head()} {
		one, err := f.repo.ReadCommit(t.Context(), rev)
		require.NoError(t, err)
		logged, err := f.repo.Log(t.Context(), 1, rev)
		require.NoError(t, err)
		assert.Equal(t, logged[0], one)
	}
	_, err := f.repo.ReadCommit(t.Context(), "none")
	require.Error(t, err)
}

// TestTheProcessThatReadsObjectsDies: it is started again, for many who ask at the
// same time, and new objects and refs are seen.
func TestTheProcessThatReadsObjectsDies(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	at := f.commit("a.txt", "1\n")
	for range 3 {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				objects, err := f.repo.Cat(t.Context(), at+":a.txt", at+":none", at+":line\nbreak")
				if assert.NoError(t, err) {
					assert.Equal(t, "1\n", string(objects[0].Data))
					assert.True(t, objects[1].Missing() && objects[2].Missing())
				}
			})
		}
		all.Wait()
		require.True(t, git.KillBatch(f.repo))
	}
	f.write("a.txt", "new\n")
	f.user("add", "a.txt")
	f.user("commit", "--quiet", "--message", "new")
	objects, err := f.repo.Cat(t.Context(), "HEAD:a.txt")
	require.NoError(t, err)
	assert.Equal(t, "new\n", string(objects[0].Data))
	f.user("gc", "--quiet", "--prune=now")
	head, found, err := f.repo.Resolve(t.Context(), "HEAD")
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, f.head(), head)

	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = f.repo.Cat(over, "HEAD:a.txt")
	require.ErrorIs(t, err, context.Canceled)
}
