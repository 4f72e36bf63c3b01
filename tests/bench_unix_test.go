//go:build unix

package tests

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
)

// instantService iterates a program whose agent and evaluation take no time. Each
// number that it measures differs from the one before by step; lower is better.
func instantService(b *testing.B, repo *git.Repo, step int64) *loop.Service {
	b.Helper()
	p := program.Parse("p.md",
		[]byte("---\nmetric_direction: lower\nplateau: off\nevaluation-runs: 1\n---\n## Target\n`d00/f000.txt`\n"+
			"## Evaluation\n```sh\ntrue\n```\n"))
	require.NoError(b, p.Err())
	next := 0
	return &loop.Service{
		Program: p, Repo: repo, Trees: &tree.Builder{Repo: repo}, Memory: &memory.Memory{Repo: repo, Now: time.Now},
		Agents: []loop.Proposer{{Agent: instantAgent{"d00/f000.txt"}}}, Eval: &instantEvaluation{step: step},
		Alive: func(history.Lease) bool { return false }, Isolated: true,
		Environ: func(dir string, _ []string) ([]string, error) { return nil, os.MkdirAll(dir, 0o700) },
		Now:     time.Now, NewRun: func() string { next++; return fmt.Sprintf("run-%d", next) },
	}
}

// BenchmarkIteration runs whole iterations with an agent and an evaluation that take
// no time, beside `git worktree add` and removal of it, on a small repository and on one of
// 20,000 files. "cpu-x-git" is the ratio of their CPU seconds, of the first iteration
// of a run and of each further one.
func BenchmarkIteration(b *testing.B) {
	for _, size := range []struct{ commits, files, bytes int }{{2, 10, 250}, {1000, 20, 4000}} {
		dir := repositoryOf(b, size.commits, size.files, size.bytes)
		for _, c := range []struct {
			name    string
			step    int64
			file    string
			outcome history.Outcome
		}{
			{"refused", 1, "d00/f001.txt", history.Rejected},
			{"rejected", 1, "d00/f000.txt", history.Rejected},
			{"accepted", -1, "d00/f000.txt", history.Accepted},
		} {
			b.Run(fmt.Sprintf("%s-%d", c.name, size.commits*size.files), func(b *testing.B) {
				repo, err := git.Open(b.Context(), dir, os.Environ())
				require.NoError(b, err)
				service := instantService(b, repo, c.step)
				service.Agents = []loop.Proposer{{Agent: instantAgent{c.file}}}
				iterate(b, service, 1, c.outcome) // the baseline
				var bare, once, four spent
				for b.Loop() {
					bare.add(func() { worktree(b, dir) })
					once.add(func() { iterate(b, service, 1, c.outcome) })
					four.add(func() { iterate(b, service, 4, c.outcome) })
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(once.wall.Seconds()*1000/float64(b.N), "ms")
				b.ReportMetric(bare.wall.Seconds()*1000/float64(b.N), "ms-git")
				b.ReportMetric(float64(once.cpu)/float64(bare.cpu), "cpu-x-git")
				b.ReportMetric(float64(four.cpu-once.cpu)/3/float64(bare.cpu), "cpu-x-git-further")
			})
		}
	}
}

// spent is time of the clock, and of processors with those of children.
type spent struct{ wall, cpu time.Duration }

func (s *spent) add(what func()) {
	begun, before := time.Now(), processorTime()
	what()
	s.wall += time.Since(begun)
	s.cpu += processorTime() - before
}

func processorTime() time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		if syscall.Getrusage(who, &used) == nil {
			sum += time.Duration(used.Utime.Nano() + used.Stime.Nano())
		}
	}
	return sum
}

func worktree(b *testing.B, dir string) {
	tree := filepath.Join(b.TempDir(), "tree")
	for _, args := range [][]string{{"add", "--quiet", "--detach", tree}, {"remove", "--force", tree}} {
		out, err := exec.CommandContext(b.Context(), "git",
			append([]string{"-C", dir, "worktree"}, args...)...).CombinedOutput()
		require.NoError(b, err, "%s", out)
	}
}

func iterate(b *testing.B, service *loop.Service, count int, outcome history.Outcome) {
	b.Helper()
	service.RunDir = b.TempDir()
	results, err := service.Run(b.Context(), count)
	require.NoError(b, err)
	require.Len(b, results, count)
	for _, result := range results {
		require.Equal(b, outcome, result.Outcome, result.Reasons)
	}
	require.NoError(b, tree.RemoveAll(service.RunDir))
}

// BenchmarkLongLife is an iteration after 10 others and after 10,000: how long it takes,
// how much its commits add to the repository, and what all is on disk after git gc.
func BenchmarkLongLife(b *testing.B) {
	for _, iterations := range []int{10, 10_000} {
		b.Run(fmt.Sprint(iterations), func(b *testing.B) {
			dir := repositoryOf(b, 2, 10, 250)
			repo, err := git.Open(b.Context(), dir, os.Environ())
			require.NoError(b, err)
			service := instantService(b, repo, 1)
			for range 3 {
				iterate(b, service, 1, history.Rejected)
			}
			liveOn(b, dir, 3, iterations)
			git := func(args ...string) string {
				out, err := exec.CommandContext(b.Context(), "git",
					append([]string{"-C", dir}, args...)...).CombinedOutput()
				require.NoError(b, err, "%s", out)
				return string(out)
			}
			git("repack", "-a", "-d", "-f",
				"--quiet") // as git gc does it of loose objects: the deltas of fast-import are poor
			packed := kilobytes(b, git("count-objects", "-v"), "size-pack")
			var took time.Duration
			for b.Loop() {
				begun := time.Now()
				iterate(b, service, 1, history.Rejected)
				took += time.Since(begun)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(took.Milliseconds())/float64(b.N), "ms-iteration")
			b.ReportMetric(kilobytes(b, git("count-objects", "-v"), "size")/float64(b.N), "KB-loose/iteration")
			b.ReportMetric(packed/1024, "MB-after-gc")
		})
	}
}

func kilobytes(b *testing.B, counts, key string) float64 {
	b.Helper()
	for line := range strings.Lines(counts) {
		if value, found := strings.CutPrefix(line, key+": "); found {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			require.NoError(b, err)
			return n
		}
	}
	b.Fatalf("no %s in %s", key, counts)
	return 0
}

// liveOn copies the last of some recorded iterations until there are so many, a commit
// each with its file and its row in the table of results.
func liveOn(b *testing.B, dir string, last, until int) {
	git := func(stdin io.Reader, args ...string) []byte {
		cmd := exec.CommandContext(b.Context(), "git", append([]string{"-C", dir}, args...)...)
		cmd.Stdin = stdin
		out, err := cmd.Output()
		require.NoError(b, err)
		return out
	}
	path := func(n int) string { return fmt.Sprintf("p.iterations/%03d/%06d.json", n/1000, n) }
	text := string(git(nil, "show", "memory/autoloop:"+path(last)))
	rows := string(git(nil, "show", "memory/autoloop:p.results.tsv"))
	row := rows[strings.LastIndex(strings.TrimSuffix(rows, "\n"), "\n")+1:]
	digest := regexp.MustCompile(`"digest":"(\w+)"`).FindStringSubmatch(text)[1]
	of := func(text string, n int) string {
		return strings.NewReplacer(
			fmt.Sprintf(`"iteration":%d,`, last), fmt.Sprintf(`"iteration":%d,`, n), fmt.Sprintf(`"run-%d"`, last),
			fmt.Sprintf(`"run-%d"`, n),
			digest, fmt.Sprintf("%032x", sha256.Sum256([]byte(strconv.Itoa(n))))[:32],
		).Replace(text)
	}
	stream, writer := io.Pipe()
	go func() {
		for n := last + 1; n <= until; n++ {
			fmt.Fprintf(writer, "commit refs/heads/memory/autoloop\ncommitter U <u@example.com> %d +0000\ndata 1\nm\n",
				1_700_000_000+n)
			if n == last+1 {
				fmt.Fprint(writer, "from refs/heads/memory/autoloop^0\n")
			}
			rows += strconv.Itoa(n) + row[strings.Index(row, "\t"):]
			for name, text := range map[string]string{path(n): of(text, n), "p.results.tsv": rows} {
				fmt.Fprintf(writer, "M 100644 inline %s\ndata %d\n%s\n", name, len(text), text)
			}
		}
		_ = writer.Close()
	}()
	git(stream, "fast-import", "--quiet")
}

type instantAgent struct{ file string }

func (instantAgent) Name() string { return "instant" }

func (a instantAgent) Propose(_ context.Context, request agent.Request) (agent.Reply, error) {
	return agent.Reply{Summary: "change"},
		os.WriteFile(filepath.Join(request.Dir, a.file), []byte(time.Now().String()), 0o600)
}

// instantEvaluation gives another number each time.
type instantEvaluation struct{ value, step int64 }

func (e *instantEvaluation) Run(context.Context, evaluation.Request) (evaluation.Result, error) {
	e.value += e.step
	value := metric.FromInt(e.value)
	return evaluation.Result{Measurement: metric.Measurement{Metric: &value}}, nil
}

// repositoryOf has so many commits, each with so many new files.
func repositoryOf(b *testing.B, commits, files, bytes int) string {
	b.Helper()
	dir := b.TempDir()
	var in strings.Builder
	for commit := range commits {
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter U <u@example.com> %d +0000\ndata 1\nc\n",
			1_700_000_000+commit)
		for i := range files {
			n := commit*files + i
			text := fmt.Sprintf("file %d\n%s", n, strings.Repeat("some content\n", bytes/13))
			fmt.Fprintf(&in, "M 100644 inline d%02d/f%03d.txt\ndata %d\n%s\n", n/100, n%100, len(text), text)
		}
	}
	git := func(stdin string, args ...string) {
		cmd := exec.CommandContext(b.Context(), "git", args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		require.NoError(b, err, "%s", out)
	}
	git("", "init", "--quiet", "--initial-branch=main")
	git(in.String(), "fast-import", "--quiet")
	git("", "reset", "--quiet", "--hard")
	return dir
}
