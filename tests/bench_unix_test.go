//go:build unix

package tests

import (
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkIteration is `iterate` with an agent and an evaluation that take next to no time: in a
// small repository, in one of 20,000 files, and after 10,000 iterations. "cpu-x-git" is its
// time of processors beside that of `git worktree add` and the removal of that tree, of the first
// iteration of a run and of each further one. Among 20,000 files on a quiet machine a refused candidate
// comes to 2.0 (0.9), a rejected one to 4.1 (2.2), a kept one to 4.0 (1.9): the tree of the agent is
// 0.9, some eighty calls of git 0.6, reading the tree again before it is measured 0.4, and each of five
// looks at what was touched 0.2.
func BenchmarkIteration(b *testing.B) {
	for name, c := range map[string]struct {
		commits, past     int
		direction, writes string
	}{
		"small": {1, 0, "lower", "value.txt"}, "10,000 iterations": {1, 10_000, "lower", "value.txt"},
		"20,000 files, refused":  {1000, 0, "lower", "d00/f0-00.txt"},
		"20,000 files, rejected": {1000, 0, "lower", "value.txt"},
		"20,000 files, kept":     {1000, 0, "higher", "value.txt"},
	} {
		b.Run(name, func(b *testing.B) {
			w := newProject(b, map[string]string{"value.txt": "0\n", ".autoloop/programs/p.md": strings.Replace(
				fmt.Sprintf(values, "plateau: off\nmetric_direction: "+c.direction),
				`sed -n "${AUTOLOOP_ITERATION}p" "$SIDE/values" > value.txt`,
				`echo "$AUTOLOOP_ITERATION" > `+c.writes,
				1,
			)})
			w.filled(c.commits)
			iterate := func(count int) (processor, wall time.Duration) {
				before, begun := processorTime(), time.Now()
				require.Zero(b, w.process("iterate", "--program", "p", "-n", strconv.Itoa(count)).code)
				return processorTime() - before, time.Since(begun)
			}
			iterate(2)
			w.older(c.past)
			w.git("repack", "-a", "-d", "-f", "--quiet") // as git gc does it of loose objects
			packed := w.kilobytes("size-pack")
			var wall, bare, one, four time.Duration
			for b.Loop() {
				before := processorTime()
				tree := filepath.Join(b.TempDir(), "tree")
				w.git("worktree", "add", "--quiet", "--detach", tree)
				w.git("worktree", "remove", "--force", tree)
				bare += processorTime() - before
				processor, took := iterate(1)
				wall, one = wall+took, one+processor
				processor, _ = iterate(4)
				four += processor
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(wall.Milliseconds())/float64(b.N), "ms")
			b.ReportMetric(float64(one)/float64(bare), "cpu-x-git")
			b.ReportMetric(float64(four-one)/3/float64(bare), "cpu-x-git-further")
			table, err := strconv.ParseFloat(w.run(w.dir, "sh", "-c",
				"echo memory/autoloop:p.results.tsv | git cat-file --batch-check='%(objectsize:disk)'"), 64)
			require.NoError(b, err)
			b.ReportMetric(w.kilobytes("size")/5/float64(b.N)-table/1024, "KB-loose-besides-table")
			b.ReportMetric(packed/1024, "MB-after-gc")
		})
	}
}

// processorTime is what this process and its children used.
func processorTime() (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		if syscall.Getrusage(who, &used) == nil {
			sum += time.Duration(used.Utime.Nano() + used.Stime.Nano())
		}
	}
	return sum
}

// kilobytes is one of the sizes of the repository.
func (w *project) kilobytes(key string) float64 {
	_, rest, _ := strings.Cut(w.git("count-objects", "-v"), "\n"+key+": ")
	number, _, _ := strings.Cut(rest, "\n")
	kilobytes, err := strconv.ParseFloat(number, 64)
	require.NoError(w.t, err)
	return kilobytes
}

// imported adds commits to a branch, each with these files.
func (w *project) imported(branch string, commits int, files func(commit int) map[string]string) {
	stream, writer := io.Pipe()
	go func() {
		for n := range commits {
			fmt.Fprintf(writer, "commit refs/heads/%s\ncommitter U <u@example.com> %d +0000\ndata 1\nm\n", branch,
				1_700_000_000+n)
			if n == 0 {
				fmt.Fprintf(writer, "from refs/heads/%s^0\n", branch)
			}
			for name, text := range files(n) {
				fmt.Fprintf(writer, "M 100644 inline %s\ndata %d\n%s\n", name, len(text), text)
			}
		}
		_ = writer.Close()
	}()
	cmd := exec.CommandContext(w.t.Context(), "git", "-C", w.dir, "fast-import", "--quiet")
	cmd.Stdin = stream
	out, err := cmd.CombinedOutput()
	require.NoError(w.t, err, "%s", out)
}

// filled gives the repository so many commits with twenty new files each.
func (w *project) filled(commits int) {
	w.imported("main", commits, func(commit int) map[string]string {
		files := map[string]string{}
		for i := range 20 {
			files[fmt.Sprintf("d%02d/f%d-%02d.txt", commit%100, commit, i)] = fmt.Sprint(commit, i) +
				strings.Repeat("some content\n", 300)
		}
		return files
	})
	w.git("reset", "--quiet", "--hard")
}

// older copies the second iteration until there are so many, a commit each with its file and its
// row in the table of results. The first has the baseline too.
func (w *project) older(iterations int) {
	const rows, second = "p.results.tsv", "p.iterations/000/000002.json"
	if iterations == 0 {
		return
	}
	text, table := w.memory(second), w.memory(rows)+"\n"
	_, row, _ := strings.Cut(table[strings.LastIndex(table, "\n2\t")+1:], "\t")
	own := regexp.MustCompile(`"(run_id|digest)":"[^"]*"`)
	w.imported("memory/autoloop", iterations, func(n int) map[string]string {
		n += 3
		table += strconv.Itoa(n) + "\t" + row
		copied := strings.ReplaceAll(text, `"iteration":2,`, fmt.Sprintf(`"iteration":%d,`, n))
		copied = own.ReplaceAllString(copied, fmt.Sprintf(`"$1":"%032x"`, n))
		return map[string]string{fmt.Sprintf("p.iterations/%03d/%06d.json", n/1000, n): copied, rows: table}
	})
}
