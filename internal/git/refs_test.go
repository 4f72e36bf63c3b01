package git_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for want, revs := range map[string][]string{
		f.head(): {"HEAD", "refs/heads/main", f.head()},
		"": {
			"refs/heads/none", "", "--all", "--version", "HEAD\nHEAD", "HEAD:a", strings.Repeat("1", 40),
		},
	} {
		for _, rev := range revs {
			id, ok, err := f.repo.Resolve(t.Context(), rev)
			require.NoError(t, err, rev)
			assert.Equal(t, want != "", ok, rev)
			assert.Equal(t, want, id, rev)
		}
	}
}

func TestUpdateRefsBlocked(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ there, wanted string }{
		{"refs/heads/memory", "refs/heads/memory/autoloop"},
		{"refs/heads/autoloop", "refs/heads/autoloop/x"},
		{"refs/heads/memory/autoloop/deep", "refs/heads/memory/autoloop"},
	} {
		f := newFixture(t)
		f.Git("update-ref", test.there, "HEAD")
		err := f.repo.UpdateRefs(t.Context(), "test", git.RefUpdate{Ref: test.wanted, New: f.head()})
		var blocked *git.BlockedError
		require.ErrorAs(t, err, &blocked)
		assert.Equal(t, git.BlockedError{Ref: test.wanted, By: test.there}, *blocked)
		assert.Contains(t, err.Error(), "git branch -m "+strings.TrimPrefix(test.there, "refs/heads/"))
	}
}

func TestUpdateRefsIsOneTransaction(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.head()
	second := f.commit("b", "2", first)
	const memory, odd = "refs/heads/memory/autoloop", "refs/heads/ünï#%&'"
	update := func(updates ...git.RefUpdate) error { return f.repo.UpdateRefs(t.Context(), "test", updates...) }
	require.NoError(t, update(git.RefUpdate{Ref: memory, New: first}, git.RefUpdate{Ref: odd, New: first}))
	for name, stale := range map[string]git.RefUpdate{
		"another value":           {Ref: memory, New: second, Old: second},
		"exists already":          {Ref: memory, New: second},
		"does not exist":          {Ref: "refs/heads/none", New: second, Old: first},
		"delete of another value": {Ref: memory, Old: second},
	} {
		err := update(git.RefUpdate{Ref: odd, New: second, Old: first}, stale)
		require.ErrorIs(t, err, git.ErrStale, name)
		assert.NotContains(t, err.Error(), "\n")
		assert.Equal(t, first, f.Git("rev-parse", odd), name)
	}
	f.Git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
	require.NoError(t, update(git.RefUpdate{Ref: memory, New: second, Old: first}, git.RefUpdate{Ref: odd, Old: first},
		git.RefUpdate{Ref: "refs/heads/new", New: second, Old: git.Any}, git.RefUpdate{Ref: "refs/heads/gone"},
		git.RefUpdate{Ref: "refs/heads/away", Old: git.Any},
		git.RefUpdate{Ref: "refs/heads/alias", New: second, Old: git.Any}))
	refs := must(f.repo.ListRefs(t.Context(), memory, "refs/heads/new", odd, "refs/heads/main", "refs/heads/alias"))
	assert.Equal(t, []git.Ref{
		{Name: "refs/heads/alias", ID: second},
		{Name: "refs/heads/main", ID: first, WorkTree: f.repo.Root},
		{Name: memory, ID: second},
		{Name: "refs/heads/new", ID: second},
	}, refs, "a symbolic ref is replaced, and what it stood for is not moved")
	assert.Contains(t, f.Git("reflog", "show", memory), "test")
	for _, ref := range []string{
		"", "main", "HEAD", "refs/heads/a b", "refs/heads/a\nupdate", "refs/heads/..", "refs/heads/x.lock",
		"refs/heads/a\x00b",
	} {
		assert.Error(t, update(git.RefUpdate{Ref: ref, New: first}), "%q", ref)
	}
}

// TestALockOfARef is waited for, as long as the context lasts; one that a killed process
// left is an error that names the file to remove.
func TestALockOfARef(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	lock := filepath.Join(f.repo.GitDir, "refs", "heads", "x.lock")
	require.NoError(t, os.WriteFile(lock, nil, 0o644))
	update := func(ctx context.Context) error {
		return f.repo.UpdateRefs(ctx, "test", git.RefUpdate{Ref: "refs/heads/x", New: f.head()})
	}
	err := update(t.Context())
	require.ErrorIs(t, err, git.ErrLocked)
	require.ErrorContains(t, err, "remove "+lock)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, update(ctx), context.DeadlineExceeded)
	require.FileExists(t, lock)
	time.AfterFunc(200*time.Millisecond, func() { _ = os.Remove(lock) })
	require.NoError(t, update(t.Context()))
	assert.Equal(t, f.head(), f.Git("rev-parse", "refs/heads/x"))
}
