package git_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/tests/golden"
)

func TestHistory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx, base := t.Context(), f.head()
	left := f.commit("c", "c", f.commit("b", "b", base))
	right := f.commit("d", "d", base)
	alone, elsewhere := f.commit("e", "e"), strings.Repeat("4e", 20)
	ahead, behind, err := f.repo.AheadBehind(ctx, left, right)
	require.NoError(t, err)
	assert.Equal(t, []int{2, 1}, []int{ahead, behind})
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{base, left, true},
		{left, base, false},
		{left, left, true},
		{alone, left, false},
		{elsewhere, left, false},
		{left, elsewhere, false},
	} {
		is := must(f.repo.IsAncestor(ctx, test.a, test.b))
		assert.Equal(t, test.want, is)
	}
	_, err = f.repo.IsAncestor(ctx, "none", left)
	require.Error(t, err)
	id, ok, err := f.repo.MergeBase(ctx, left, right)
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, base, id)
	_, ok, err = f.repo.MergeBase(ctx, left, alone)
	require.NoError(t, err)
	assert.False(t, ok)
}

func TestMergeTree(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx, base := t.Context(), f.head()
	ours := f.commit("new\nline", "1", f.commit("a", "ours\n", base))
	tree, conflicts, err := f.repo.MergeTree(ctx, ours, f.commit("b", "b", base))
	require.NoError(t, err)
	assert.Empty(t, conflicts)
	entries := must(f.repo.LsTree(ctx, tree))
	assert.Len(t, entries, 3)

	_, conflicts, err = f.repo.MergeTree(ctx, ours, f.commit("new\nline", "2", f.commit("a", "theirs\n", base)))
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "new\nline"}, conflicts)

	_, _, err = f.repo.MergeTree(ctx, ours, "none")
	require.Error(t, err)
	_, _, err = f.repo.MergeTree(ctx, ours, f.commit("x", "x"))
	require.ErrorContains(t, err, "unrelated histories")
}

func TestCommitComesBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo.Identity = git.Identity{Name: "Bot", Email: "bot@example.com"}
	message := "[Autoloop: x] Iteration 3: naïve → better\n\nBody.\n\nAutoloop-Iteration: 3\nAutoloop-Metric: 1.3\n"
	tree := f.Git("rev-parse", "HEAD^{tree}")
	id := must(f.repo.CommitTree(t.Context(), tree, []string{f.head()}, message, fixed))
	again := must(f.repo.CommitTree(t.Context(), tree, []string{f.head()}, message, fixed))
	assert.Equal(t, id, again, "nothing but the arguments goes in")
	commit := must(f.repo.ReadCommit(t.Context(), id))
	assert.Equal(t, git.Commit{ID: id, Parents: []string{f.head()}, Time: fixed, Message: message}, commit)
	for _, who := range []string{"%an %ae", "%cn %ce"} {
		assert.Equal(t, tree+" Bot bot@example.com", f.Git("log", "-1", "--format=%T "+who, id))
	}
	golden.Row(t, "[Autoloop: x] Iteration 3:", commit.Subject())
	assert.Equal(t, map[string]string{"Autoloop-Iteration": "3", "Autoloop-Metric": "1.3"}, commit.Trailers())

	commits := must(f.repo.Log(t.Context(), id))
	assert.Len(t, commits, 2)
	_, err := f.repo.ReadCommit(t.Context(), "none")
	require.Error(t, err)
}

func TestTrailers(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]map[string]string{
		"s\n\nA: 1\nB-c: x: y\n": {"A": "1", "B-c": "x: y"}, "s\r\n\r\nA: 1\r\nB: 2\r\n": {"A": "1", "B": "2"},
		"s\n\nA: 1\n  2\n": {"A": "1 2"}, "s\n\nA: 1\nA: 2": {"A": "2"}, "A: 1": {}, "": {}, "s\n\n: 1": {},
		"s\n\nA: 1\nNote that: this\n": {}, "s\n\nA: 1\n\nmore\n": {},
	} {
		assert.Equal(t, want, git.Commit{Message: message}.Trailers(), message)
	}
}

func FuzzTrailers(f *testing.F) {
	f.Add("s\n\nA: 1\n B\n")
	f.Add("\n\n\t: \n\n")
	f.Fuzz(func(t *testing.T, message string) {
		for key := range (git.Commit{Message: message}).Trailers() {
			if key == "" {
				t.Fatal("a trailer without a key")
			}
		}
	})
}

func TestDiffs(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := t.Context()
	before := f.commit("tab\t\"q", "1\n2\n", f.head())
	tree := must(f.repo.WriteFiles(ctx, before, map[string]*git.File{
		"tab\t\"q": {Data: []byte("1\n3\n4\n"), Mode: git.ModeExecutable}, "a": nil, "b": {Data: []byte("one\n")},
		"bin": {Data: []byte("\x00\x01")},
	}))
	changes := must(f.repo.Changes(ctx, before, tree))
	var seen []string
	for _, c := range changes {
		seen = append(seen, c.Path+" "+c.OldMode+">"+c.NewMode)
		assert.Equal(t, c.OldMode == "", c.OldID == "")
		assert.Equal(t, c.NewMode == "", c.NewID == "")
	}
	assert.Equal(t, []string{"a 100644>", "b >100644", "bin >100644", "tab\t\"q 100644>100755"}, seen,
		"a rename is a delete and an add")
	patch := must(f.repo.Diff(ctx, before, tree))
	assert.Contains(t, string(patch), "GIT binary patch")
	none := must(f.repo.Changes(ctx, before, before))
	assert.Empty(t, none)
}
