package git_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
)

func TestFiltersAreThoseOfTheTree(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	tree, err := f.repo.WriteFiles(t.Context(), "HEAD", map[string]*git.File{
		".gitattributes":   {Data: []byte("*.bin filter=lfs\nplain.bin -filter\n")},
		"d/.gitattributes": {Data: []byte("x filter=other\n")},
	})
	require.NoError(t, err)
	filters, err := f.repo.Filters(t.Context(), tree, "a.bin", "plain.bin", "d/x", "x", "d/with\nbreak.bin")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"a.bin": "lfs", "d/x": "other", "d/with\nbreak.bin": "lfs"}, filters)
	filters, err = f.repo.Filters(t.Context(), "HEAD", "a.bin")
	require.NoError(t, err)
	assert.Empty(t, filters)
	assert.Empty(t, f.user("status", "--porcelain"))
}
