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
	for _, test := range []struct {
		rev string
		ok  bool
	}{
		{"HEAD", true},
		{"refs/heads/main", true},
		{f.head(), true},
		{"refs/heads/none", false},
		{"", false},
		{"--all", false},
		{"--version", false},
		{"HEAD\nHEAD", false},
		{"HEAD:a", false},
		{strings.Repeat("1", 40), false},
	} {
		id, ok, err := f.repo.Resolve(t.Context(), test.rev)
		require.NoError(t, err, test.rev)
		assert.Equal(t, test.ok, ok, test.rev)
		if ok {
			assert.Equal(t, f.head(), id)
		}
	}
}

func TestUpdateRefsIsOneTransaction(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.head()
	second := f.commit("b", "2", first)
	require.NoError(t, f.repo.UpdateRefs(t.Context(), "test",
		git.RefUpdate{Ref: "refs/heads/memory/autoloop", New: first},
		git.RefUpdate{Ref: "refs/heads/ünï#%&'", New: first}))

	stale := []struct {
		name   string
		update git.RefUpdate
	}{
		{"another value", git.RefUpdate{Ref: "refs/heads/memory/autoloop", New: second, Old: second}},
		{"exists already", git.RefUpdate{Ref: "refs/heads/memory/autoloop", New: second}},
		{"does not exist", git.RefUpdate{Ref: "refs/heads/none", New: second, Old: first}},
		{"delete of another value", git.RefUpdate{Ref: "refs/heads/memory/autoloop", Old: second}},
	}
	for _, test := range stale {
		err := f.repo.UpdateRefs(t.Context(), "test", git.RefUpdate{Ref: "refs/heads/ünï#%&'", New: second, Old: first},
			test.update)
		require.ErrorIs(t, err, git.ErrStale, test.name)
		assert.NotContains(t, err.Error(), "\n")
		assert.Equal(t, first, f.user("rev-parse", "refs/heads/ünï#%&'"), test.name)
	}
	require.NoError(t, f.repo.UpdateRefs(t.Context(), "test",
		git.RefUpdate{Ref: "refs/heads/memory/autoloop", New: second, Old: first},
		git.RefUpdate{Ref: "refs/heads/ünï#%&'", Old: first},
		git.RefUpdate{Ref: "refs/heads/new", New: second, Old: git.Any},
		git.RefUpdate{Ref: "refs/heads/gone"},
		git.RefUpdate{Ref: "refs/heads/away", Old: git.Any}))
	refs, err := f.repo.ListRefs(t.Context(), "refs/heads/memory", "refs/heads/new", "refs/heads/ünï#%&'")
	require.NoError(t, err)
	assert.Equal(t, []git.Ref{
		{Name: "refs/heads/memory/autoloop", ID: second},
		{Name: "refs/heads/new", ID: second},
	}, refs)
	assert.Contains(t, f.user("reflog", "show", "refs/heads/memory/autoloop"), "test")
}

func TestUpdateRefsBlocked(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ there, wanted string }{
		{"refs/heads/memory", "refs/heads/memory/autoloop"},
		{"refs/heads/autoloop", "refs/heads/autoloop/x"},
		{"refs/heads/memory/autoloop/deep", "refs/heads/memory/autoloop"},
	} {
		f := newFixture(t)
		f.user("update-ref", test.there, "HEAD")
		err := f.repo.UpdateRefs(t.Context(), "test", git.RefUpdate{Ref: test.wanted, New: f.head()})
		var blocked *git.BlockedError
		require.ErrorAs(t, err, &blocked)
		assert.Equal(t, git.BlockedError{Ref: test.wanted, By: test.there}, *blocked)
		assert.Contains(t, err.Error(), "git branch -m "+strings.TrimPrefix(test.there, "refs/heads/"))
	}
}

// A lock that a killed process left is an error that names the file to remove.
func TestUpdateRefsAfterAKilledProcess(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	lock := filepath.Join(f.repo.GitDir, "refs", "heads", "x.lock")
	require.NoError(t, os.WriteFile(lock, nil, 0o644))
	err := f.repo.UpdateRefs(t.Context(), "test", git.RefUpdate{Ref: "refs/heads/x", New: f.head()})
	require.ErrorIs(t, err, git.ErrLocked)
	require.ErrorContains(t, err, "remove "+lock)
	require.NoError(t, os.Remove(lock))
	require.NoError(t, f.repo.UpdateRefs(t.Context(), "test", git.RefUpdate{Ref: "refs/heads/x", New: f.head()}))
	assert.Equal(t, f.head(), f.user("rev-parse", "refs/heads/x"))
}

// A lock that is let go is waited for, and the wait ends with the context.
func TestUpdateRefsWaits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	lock := filepath.Join(f.repo.GitDir, "refs", "heads", "x.lock")
	require.NoError(t, os.WriteFile(lock, nil, 0o644))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	err := f.repo.UpdateRefs(ctx, "test", git.RefUpdate{Ref: "refs/heads/x", New: f.head()})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.FileExists(t, lock)

	time.AfterFunc(200*time.Millisecond, func() { _ = os.Remove(lock) })
	require.NoError(t, f.repo.UpdateRefs(t.Context(), "test", git.RefUpdate{Ref: "refs/heads/x", New: f.head()}))
	assert.Equal(t, f.head(), f.user("rev-parse", "refs/heads/x"))
}

func TestUpdateRefsRefusesOddNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, ref := range []string{
		"", "main", "HEAD", "refs/heads/a b", "refs/heads/a\nupdate", "refs/heads/..",
		"refs/heads/x.lock", "refs/heads/-", "refs/heads/a\x00b",
	} {
		if ref == "refs/heads/-" {
			continue // a ref like any other for plumbing
		}
		assert.Error(t, f.repo.UpdateRefs(t.Context(), "test", git.RefUpdate{Ref: ref, New: f.head()}), "%q", ref)
	}
}

// A symbolic ref is replaced, and what it stands for is not moved.
func TestUpdateRefsDoesNotFollow(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.user("symbolic-ref", "refs/heads/alias", "refs/heads/main")
	first := f.head()
	second := f.commit("b", "2", first)
	require.NoError(t, f.repo.UpdateRefs(t.Context(), "test",
		git.RefUpdate{Ref: "refs/heads/alias", New: second, Old: git.Any}))
	assert.Equal(t, first, f.user("rev-parse", "refs/heads/main"))
}
