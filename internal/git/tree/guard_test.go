package tree_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/tests/golden"
)

// TestHowMuchACandidateMayChange: all its files count together, also those that are alike.
func TestHowMuchACandidateMayChange(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "a\n"})
	ids := must(f.repo.HashObjects(t.Context(), make([]byte, 10<<20), []byte("small")))
	changes := func(copies int, id string) []decision.Change {
		files := map[string]*git.File{}
		for i := range copies {
			files[fmt.Sprintf("f%05d", i)] = &git.File{ID: id}
		}
		after := must(f.repo.WriteFiles(t.Context(), "HEAD", files))
		found := must(tree.Changes(t.Context(), f.repo, "HEAD", after))
		return found
	}
	most := changes(10, ids[0])
	require.Len(t, most, 10)
	for _, c := range most {
		assert.Empty(t, c.Refused)
		assert.EqualValues(t, 10<<20, c.Size)
	}
	golden.Row(t, "brings the changed files", changes(11, ids[0])[10].Refused)
	many := changes(50_001, ids[1])
	require.Len(t, many, 1)
	assert.Equal(t, "is one of more than 50000 changed paths", many[0].Refused)
	assert.Empty(t, changes(0, ""))
}
