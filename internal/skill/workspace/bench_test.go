package workspace_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/skill/workspace"
)

// large is a skill of 2,000 files and 17 MB.
func large(b *testing.B, dir string) {
	b.Helper()
	random := rand.NewChaCha8([32]byte{1})
	data := make([]byte, 8500)
	for i := range 2000 {
		name := filepath.Join(dir, fmt.Sprintf("part-%02d", i%40), fmt.Sprintf("file-%04d.md", i))
		require.NoError(b, os.MkdirAll(filepath.Dir(name), 0o755))
		_, err := io.ReadFull(random, data)
		require.NoError(b, err)
		require.NoError(b, os.WriteFile(name, data, 0o644))
	}
}

// BenchmarkSnapshot measures what is done to a skill of 2,000 files beside a
// plain copy of it.
func BenchmarkSnapshot(b *testing.B) {
	base := room(b)
	src, snap := filepath.Join(base, "src"), filepath.Join(base, "v0")
	large(b, src)
	_, err := workspace.Take(b.Context(), src, snap)
	require.NoError(b, err)
	fresh := func(b *testing.B, i int) string {
		return filepath.Join(base, fmt.Sprintf("%s-%d-%d", filepath.Base(b.Name()), b.N, i))
	}
	b.Run("cp -a", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			out, err := exec.CommandContext(b.Context(), "cp", "-a", src, fresh(b, i)).CombinedOutput()
			require.NoError(b, err, string(out))
		}
	})
	b.Run("cp -a and sync", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			out, err := exec.CommandContext(b.Context(), "sh", "-c", `cp -a "$0" "$1" && find "$1" -type f -exec sync {} +`, src, fresh(b, i)).CombinedOutput()
			require.NoError(b, err, string(out))
		}
	})
	b.Run("snapshot fresh", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			_, err := workspace.Take(b.Context(), src, fresh(b, i))
			require.NoError(b, err)
		}
	})
	b.Run("snapshot unchanged", func(b *testing.B) {
		for b.Loop() {
			_, err := workspace.Take(b.Context(), src, snap)
			require.NoError(b, err)
		}
	})
	b.Run("restore fresh", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			_, err := workspace.Restore(b.Context(), snap, fresh(b, i))
			require.NoError(b, err)
		}
	})
	b.Run("restore unchanged", func(b *testing.B) {
		for b.Loop() {
			_, err := workspace.Restore(b.Context(), snap, src)
			require.NoError(b, err)
		}
	})
	b.Run("restore one file", func(b *testing.B) {
		for b.Loop() {
			write(b, src, "part-00/file-0000.md", "changed", 0o644)
			_, err := workspace.Restore(b.Context(), snap, src)
			require.NoError(b, err)
		}
	})
}
