package workspace_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

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

// BenchmarkSnapshot measures what is done to a skill of 2,000 files, as a ratio to
// the plain way: `cp -a` and one sync for what writes, reading and hashing both
// sides for what only looks.
func BenchmarkSnapshot(b *testing.B) {
	base := room(b)
	src, snap := filepath.Join(base, "src"), filepath.Join(base, "v0")
	large(b, src)
	_, err := workspace.Take(b.Context(), src, snap)
	require.NoError(b, err)
	count := 0
	fresh := func() string {
		count++
		return filepath.Join(base, fmt.Sprint("copy-", count))
	}
	run := func(script string, args ...string) {
		out, err := exec.CommandContext(b.Context(), "sh", append([]string{"-c", script}, args...)...).CombinedOutput()
		require.NoError(b, err, string(out))
	}
	copied := func() { run(`cp -a "$0" "$1" && sync -f "$1"`, src, fresh()) }
	hashed := func() {
		for _, dir := range []string{src, snap} {
			_, err := workspace.Scan(b.Context(), dir)
			require.NoError(b, err)
		}
	}
	take := func(dst string) {
		_, err := workspace.Take(b.Context(), src, dst)
		require.NoError(b, err)
	}
	restore := func(dir string) {
		_, err := workspace.Restore(b.Context(), snap, dir)
		require.NoError(b, err)
	}
	for _, c := range []struct {
		name        string
		plain, ours func()
	}{
		{"fresh", copied, func() { take(fresh()) }},
		{"unchanged", hashed, func() { take(snap) }},
		{"restore fresh", copied, func() { restore(fresh()) }},
		{"restore nothing", hashed, func() { restore(src) }},
		{"restore dirty", copied, func() {
			write(b, src, "part-00/file-0000.md", "changed", 0o644)
			restore(src)
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var plain time.Duration
			for b.Loop() {
				b.StopTimer()
				begun := time.Now()
				c.plain()
				plain += time.Since(begun)
				b.StartTimer()
				c.ours()
			}
			b.ReportMetric(plain.Seconds()/float64(b.N), "s-plain")
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s-ours")
			b.ReportMetric(b.Elapsed().Seconds()/plain.Seconds(), "x-plain")
			b.ReportMetric(0, "ns/op")
		})
	}
}
