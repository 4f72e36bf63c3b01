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
	p := program.Parse("p.md", []byte("---\nmetric_direction: lower\nplateau: off\nevaluation-runs: 1\n---\n## Target\n`d00/f000.txt`\n## Evaluation\n```sh\ntrue\n```\n"))
	require.NoError(b, p.Err())
	next := 0
	return &loop.Service{
		Program: p, Repo: repo, Trees: &tree.Builder{Repo: repo}, Memory: &memory.Memory{Repo: repo, Now: time.Now},
		Agent: instantAgent{}, Eval: &instantEvaluation{step: step}, Alive: func(history.Lease) bool { return false },
		Environ: func(dir string, _ []string) ([]string, error) { return nil, os.MkdirAll(dir, 0o700) },
		Now:     time.Now, NewRun: func() string { next++; return fmt.Sprintf("run-%d", next) },
	}
}

// BenchmarkIteration runs whole iterations with an agent and an evaluation that take
// no time, beside the git commands that an iteration cannot do without, on a small
// repository and on one of 10,000 files and 1,000 commits. "x-git" is the ratio.
func BenchmarkIteration(b *testing.B) {
	for _, size := range []struct{ commits, files int }{{2, 10}, {1000, 10}} {
		for outcome, step := range map[history.Outcome]int64{history.Accepted: -1, history.Rejected: 1} {
			b.Run(fmt.Sprintf("%s-%d", outcome, size.commits*size.files), func(b *testing.B) {
				benchmarkIteration(b, repositoryOf(b, size.commits, size.files), outcome, step)
			})
		}
	}
}

func benchmarkIteration(b *testing.B, dir string, outcome history.Outcome, step int64) {
	environ := os.Environ()
	repo, err := git.Open(b.Context(), dir, environ)
	require.NoError(b, err)
	service := instantService(b, repo, step)
	iterate(b, service, outcome) // the baseline
	var bare, whole time.Duration
	for b.Loop() {
		begun := time.Now()
		bareIteration(b, dir, environ)
		bare += time.Since(begun)
		begun = time.Now()
		iterate(b, service, outcome)
		whole += time.Since(begun)
	}
	b.ReportMetric(float64(bare.Milliseconds())/float64(b.N), "ms-git")
	b.ReportMetric(float64(whole.Milliseconds())/float64(b.N), "ms-iteration")
	b.ReportMetric(float64(whole)/float64(bare), "x-git")
}

func iterate(b *testing.B, service *loop.Service, outcome history.Outcome) {
	b.Helper()
	service.RunDir = b.TempDir()
	results, err := service.Run(b.Context(), 1)
	require.NoError(b, err)
	require.Equal(b, outcome, results[0].Outcome, results[0].Reasons)
	require.NoError(b, tree.RemoveAll(service.RunDir))
}

// BenchmarkLongLife is an iteration after 10 others and after 10,000: how long it takes,
// how much its commits add to the repository, and what all is on disk after git gc.
func BenchmarkLongLife(b *testing.B) {
	for _, iterations := range []int{10, 10_000} {
		b.Run(fmt.Sprint(iterations), func(b *testing.B) {
			dir := repositoryOf(b, 2, 10)
			repo, err := git.Open(b.Context(), dir, os.Environ())
			require.NoError(b, err)
			service := instantService(b, repo, 1)
			for range 3 {
				iterate(b, service, history.Rejected)
			}
			liveOn(b, dir, 3, iterations)
			git := func(args ...string) string {
				out, err := exec.CommandContext(b.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput()
				require.NoError(b, err, "%s", out)
				return string(out)
			}
			git("repack", "-a", "-d", "-f", "--quiet") // as git gc does it of loose objects: the deltas of fast-import are poor
			packed := kilobytes(b, git("count-objects", "-v"), "size-pack")
			var took time.Duration
			for b.Loop() {
				begun := time.Now()
				iterate(b, service, history.Rejected)
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
			fmt.Sprintf(`"iteration":%d,`, last), fmt.Sprintf(`"iteration":%d,`, n), fmt.Sprintf(`"run-%d"`, last), fmt.Sprintf(`"run-%d"`, n),
			digest, fmt.Sprintf("%032x", sha256.Sum256([]byte(strconv.Itoa(n))))[:32],
		).Replace(text)
	}
	stream, writer := io.Pipe()
	go func() {
		for n := last + 1; n <= until; n++ {
			fmt.Fprintf(writer, "commit refs/heads/memory/autoloop\ncommitter U <u@example.com> %d +0000\ndata 1\nm\n", 1_700_000_000+n)
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

type instantAgent struct{}

func (instantAgent) Name() string { return "instant" }

func (instantAgent) Propose(_ context.Context, request agent.Request) (agent.Reply, error) {
	file := filepath.Join(request.Dir, "d00", "f000.txt")
	return agent.Reply{Summary: "change"}, os.WriteFile(file, []byte(time.Now().String()), 0o600)
}

// instantEvaluation gives another number each time.
type instantEvaluation struct{ value, step int64 }

func (e *instantEvaluation) Run(context.Context, evaluation.Request) (evaluation.Result, error) {
	e.value += e.step
	value := metric.FromInt(e.value)
	return evaluation.Result{Measurement: metric.Measurement{Metric: &value}}, nil
}

// repositoryOf has so many commits, each with so many new files.
func repositoryOf(b *testing.B, commits, files int) string {
	b.Helper()
	dir := b.TempDir()
	var in strings.Builder
	for commit := range commits {
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter U <u@example.com> %d +0000\ndata 1\nc\n", 1_700_000_000+commit)
		for i := range files {
			n := commit*files + i
			text := fmt.Sprintf("file %d\n%s", n, strings.Repeat("some content\n", 20))
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

// bareIteration runs what an iteration cannot do without: two trees written
// out, the files listed, one blob, one tree and one commit made, two commits
// of the books, and the refs moved.
func bareIteration(b *testing.B, dir string, environ []string) {
	side := b.TempDir()
	script := `set -e
head=$(git rev-parse --verify HEAD)
for tree in a b; do
  mkdir "$SIDE/$tree"
  export GIT_INDEX_FILE="$SIDE/$tree.index"
  git read-tree "$head"
  git --work-tree="$SIDE/$tree" checkout-index --all --index --quiet
done
git ls-tree -r -z "$head" > "$SIDE/list"
git for-each-ref > "$SIDE/refs"
blob=$(echo changed | git hash-object -w --stdin)
git update-index --cacheinfo "100644,$blob,d00/f000.txt"
tree=$(git write-tree)
commit=$(git commit-tree -p "$head" -m change "$tree")
for books in 1 2; do
  export GIT_INDEX_FILE="$SIDE/books$books"
  blob=$(echo "books $books" | git hash-object -w --stdin)
  git update-index --add --cacheinfo "100644,$blob,p.md"
  books_tree=$(git write-tree)
  books_commit=$(git commit-tree -m books "$books_tree")
done
printf 'update refs/bench/a %s\nupdate refs/bench/b %s\n' "$commit" "$books_commit" | git update-ref --stdin
rm -rf "$SIDE/a" "$SIDE/b"
`
	cmd := exec.CommandContext(b.Context(), "sh", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(environ, "SIDE="+side, "GIT_AUTHOR_NAME=U", "GIT_AUTHOR_EMAIL=u@example.com", "GIT_COMMITTER_NAME=U", "GIT_COMMITTER_EMAIL=u@example.com")
	out, err := cmd.CombinedOutput()
	require.NoError(b, err, "%s", out)
}
