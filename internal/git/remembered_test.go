package git_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
)

func TestFilesAreListedOnceByID(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		f := newFixture(t, "--object-format="+format)
		list := func(rev string) []string {
			entries, err := f.repo.LsTree(t.Context(), rev)
			require.NoError(t, err)
			var paths []string
			for i, e := range entries {
				paths = append(paths, e.Path)
				entries[i].Path = "changed by the caller"
			}
			return paths
		}
		commit := f.user("rev-parse", "HEAD")
		assert.Equal(t, []string{"a"}, list(commit))
		assert.Equal(t, []string{"a"}, list(commit))
		assert.Equal(t, []string{"a"}, list("main"))
		f.write("b", "two\n")
		f.user("add", "-A")
		f.user("commit", "-q", "-m", "second")
		assert.Equal(t, []string{"a", "b"}, list("main"), "a name may mean another commit by now")
		assert.Equal(t, []string{"a"}, list(commit))
		for i := range 20 { // more than are remembered
			tree, err := f.repo.WriteFiles(t.Context(), "", map[string]*git.File{fmt.Sprint(i): {Data: []byte("x")}})
			require.NoError(t, err)
			assert.Equal(t, []string{fmt.Sprint(i)}, list(tree))
		}
		assert.Equal(t, []string{"a"}, list(commit))
	}
}
