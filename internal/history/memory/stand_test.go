package memory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
)

// lines are commits whose names say what leads to them: b goes on from a, c from b, and x
// from a another way.
func (c *checkout) lines() map[string]string {
	c.t.Helper()
	commits := map[string]string{"": ""}
	for _, one := range []struct{ name, parent string }{{"a", ""}, {"b", "a"}, {"c", "b"}, {"x", "a"}, {"other", ""}} {
		var parents []string
		if one.parent != "" {
			parents = []string{commits[one.parent]}
		}
		tree, err := c.Repo.WriteFiles(c.t.Context(), "", map[string]*git.File{"p.md": {Data: []byte(one.name)}})
		require.NoError(c.t, err)
		commits[one.name], err = c.Repo.CommitTree(c.t.Context(), tree, parents, one.name+"\n", c.Now())
		require.NoError(c.t, err)
	}
	return commits
}

// TestWithoutARemoteWhatWasFetchedCounts when nothing here would be lost by it.
func TestWithoutARemoteWhatWasFetchedCounts(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	commits := c.lines()
	for _, ref := range []string{memoryRef, branchRef} {
		for _, row := range strings.Split("- - -, a - a, - a a, a a a, a b b, a c c, "+
			"b a b, b x b, x b x, a other a, other c other", ", ") { // here, fetched, and what counts
			test := strings.Split(strings.ReplaceAll(row, "-", ""), " ")
			fetched := "refs/remotes/origin/" + strings.TrimPrefix(ref, "refs/heads/")
			at(t, c.user, map[string]string{ref: commits[test[0]], fetched: commits[test[1]]})
			head, err := c.HeadOf(t.Context(), ref)
			require.NoError(t, err)
			assert.Equal(t, commits[test[2]], head, "%s: %s", ref, row)
			if ref == memoryRef {
				files, at, err := c.Read(t.Context(), "p")
				require.NoError(t, err)
				assert.Equal(t, head, at)
				assert.Equal(t, test[2], string(files.State))
			}
			assert.Equal(t, commits[test[0]], c.has(ref), "reading moves nothing")
		}
		at(t, c.user, map[string]string{ref: ""})
	}
}

// TestWithARemoteItsBranchCounts unless the one here goes on from it with what the remote
// never had. What the remote had and took back is not pushed again; records are never given
// up because a branch was deleted.
func TestWithARemoteItsBranchCounts(t *testing.T) {
	t.Parallel()
	bare, clone := newShared(t)
	c := clone()
	commits := c.lines()
	for _, commit := range []string{"c", "x", "other"} {
		c.Git("push", "-q", "origin", commits[commit]+":refs/heads/keep-"+commit)
	}
	// Seen is what we last saw there, fetched what git did.
	for _, row := range []string{ // here, there, seen, fetched; of the records and of the branch
		"- - - - - -",
		"- b - - b b",
		"b b - - b b",
		"a b - - b b",
		"b - - - b b",
		"b a - - b b",
		"c a a a c c",
		"b a b - a a",
		"b a - b a a",
		"b a c - a a",
		"b x b - x x",
		"b - b - b -",
		"b - - c b -",
		"c - b a c c",
		"b x - - ! !",
		"b x a x ! !",
		"other b - - ! !",
		"b other a - ! !",
	} {
		test := strings.Split(strings.ReplaceAll(row, "-", ""), " ")
		here, there := map[string]string{}, map[string]string{}
		for _, ref := range []string{memoryRef, branchRef} {
			name := strings.TrimPrefix(ref, "refs/heads/")
			here[ref], there[ref] = commits[test[0]], commits[test[1]]
			here["refs/autoloop/seen/origin/"+name], here["refs/remotes/origin/"+name] = commits[test[2]],
				commits[test[3]]
		}
		at(t, c.user, here)
		at(t, bare, there)
		head, err := c.Head(t.Context())
		if test[4] == "!" {
			require.ErrorContains(t, err, fmt.Sprintf("is at %.12s here and at %.12s on origin, and each has commits",
				commits[test[0]], commits[test[1]]), row)
			continue
		}
		require.NoError(t, err, row)
		assert.Equal(t, commits[test[4]], head, row)
		head, err = c.HeadOf(t.Context(), branchRef)
		require.NoError(t, err, row)
		assert.Equal(t, commits[test[5]], head, row)
		for ref, commit := range here {
			assert.Equal(t, commit, c.has(ref), "reading moves nothing")
		}
	}
}
