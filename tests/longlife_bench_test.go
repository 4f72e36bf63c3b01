package tests

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkLongLife runs iterations of programs that have so many behind them, which are
// made and not run, with an agent and an evaluation that take no time, beside the git
// commands that an iteration cannot do without. `git` is how many git processes an
// iteration starts.
func BenchmarkLongLife(b *testing.B) {
	for _, l := range lives() {
		for _, behind := range []int{10, 100, 1_000, 10_000} {
			b.Run(l.name+"/"+strconv.Itoa(behind), func(b *testing.B) { benchmarkLongLife(b, l, behind) })
		}
	}
}

func benchmarkLongLife(b *testing.B, l life, behind int) {
	lived := l.lived(b, behind)
	lived.iterate() // the baseline
	var bare, whole time.Duration
	var each []time.Duration
	var processes, objects, written int64
	for b.Loop() {
		begun := time.Now()
		bareIteration(b, lived.dir, os.Environ())
		bare += time.Since(begun)
		lived.forget()
		count, size := objectFiles(b, lived.dir)
		begun = time.Now()
		lived.iterate()
		each = append(each, time.Since(begun))
		whole += each[len(each)-1]
		processes += lived.processes()
		countNow, sizeNow := objectFiles(b, lived.dir)
		objects, written = objects+countNow-count, written+sizeNow-size
	}
	n := float64(b.N)
	b.ReportMetric(float64(bare.Milliseconds())/n, "ms-git")
	b.ReportMetric(float64(whole.Milliseconds())/n, "ms-iteration")
	slices.Sort(each)
	b.ReportMetric(each[len(each)/2].Seconds()*1000, "ms-median")
	b.ReportMetric(float64(processes)/n, "git")
	b.ReportMetric(float64(objects)/n, "objects")
	b.ReportMetric(float64(written)/n, "bytes")
}

// objectFiles is how many loose objects there are, and their size.
func objectFiles(b *testing.B, dir string) (count, size int64) {
	b.Helper()
	require.NoError(b, filepath.WalkDir(filepath.Join(dir, ".git", "objects"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			count, size = count+1, size+info.Size()
		}
		return err
	}))
	return count, size
}

func smallRepository(b testing.TB, dir string) {
	b.Helper()
	repo := func(args ...string) {
		cmd := exec.CommandContext(b.Context(), "git", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(b, err, "%s", out)
	}
	repo("init", "--quiet", "--initial-branch=main")
	for i := range 20 {
		file := filepath.Join(dir, "d00", fmt.Sprintf("f%03d.txt", i))
		require.NoError(b, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(b, os.WriteFile(file, []byte(strings.Repeat("some content\n", 20)), 0o600))
	}
	tuned := filepath.Join(dir, "d00", "tuned.txt")
	require.NoError(b, os.WriteFile(tuned, []byte("speed = 500000 # tune: 0..1000000\n"), 0o600))
	repo("add", "--all")
	repo("-c", "user.name=U", "-c", "user.email=u@example.com", "commit", "--quiet", "--message", "first")
}
