package memory_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history/memory"
)

// manyPrograms is a repository whose memory branch has that many programs.
func manyPrograms(b *testing.B, count int) *checkout {
	b.Helper()
	c := newCheckout(b)
	var stream strings.Builder
	fmt.Fprintf(&stream, "commit %s\ncommitter A <a@b> 1700000000 +0000\ndata 1\nm", memoryRef)
	for i := range count {
		for _, suffix := range []string{".md", ".results.tsv", ".iterations/000/000000.json"} {
			text := strings.Repeat(fmt.Sprintf("line %d of %s\n", i, suffix), 200)
			if strings.HasSuffix(suffix, ".json") {
				text = iteration(0, strings.Repeat("x", 3000))
			}
			fmt.Fprintf(&stream, "\nM 100644 inline p%d%s\ndata %d\n%s", i, suffix, len(text), text)
		}
	}
	stream.WriteString("\ndone\n")
	file := filepath.Join(b.TempDir(), "stream")
	require.NoError(b, os.WriteFile(file, []byte(stream.String()), 0o600))
	_, err := c.Repo.Run(b.Context(), git.Input{Stdin: []byte(stream.String())}, "fast-import", "--quiet", "--done")
	require.NoError(b, err)
	return c
}

// BenchmarkUpdate is one update of the records of one program among 100; the
// second line is the same by the bare git commands that it needs.
func BenchmarkUpdate(b *testing.B) {
	b.Run("update", func(b *testing.B) {
		c := manyPrograms(b, 100)
		for i := 0; b.Loop(); i++ {
			_, err := c.Update(b.Context(), memory.Update{Program: "p7", Message: "m", Apply: adding(fmt.Sprint(i))})
			require.NoError(b, err)
		}
	})
	b.Run("bare", func(b *testing.B) {
		c := manyPrograms(b, 100)
		c.env = append(c.env, "GIT_INDEX_FILE="+filepath.Join(b.TempDir(), "index"))
		file := filepath.Join(b.TempDir(), "file")
		for i := 0; b.Loop(); i++ {
			require.NoError(b, os.WriteFile(file, fmt.Append(nil, i), 0o600))
			old := c.user("rev-parse", memoryRef)
			c.user("worktree", "list", "--porcelain")
			c.user("cat-file", "-p", memoryRef+":p7.md")
			c.user("cat-file", "-p", memoryRef+":p7.iterations/000/000000.json")
			id := c.user("hash-object", "-w", file)
			c.user("read-tree", memoryRef)
			c.user("update-index", "--add", "--cacheinfo", "100644,"+id+",p7.md")
			commit := c.user("commit-tree", "-m", "m", "-p", old, c.user("write-tree"))
			c.user("update-ref", memoryRef, commit, old)
		}
	})
}

// BenchmarkStates reads the states of all programs from the memory branch.
func BenchmarkStates(b *testing.B) {
	for _, count := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			c := manyPrograms(b, count)
			for b.Loop() {
				states, err := c.States(b.Context())
				require.NoError(b, err)
				require.Len(b, states, count)
			}
		})
	}
}
