package tests

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// instantService iterates a program whose agent and evaluation take no time.
func instantService(b *testing.B, repo *git.Repo) *loop.Service {
	b.Helper()
	p := program.Parse("p.md", []byte("---\nmetric_direction: lower\nplateau: off\nevaluation-runs: 1\n---\n## Target\n`d00/f000.txt`\n## Evaluation\n```sh\ntrue\n```\n"))
	require.NoError(b, p.Err())
	next := 0
	return &loop.Service{
		Program: p, Repo: repo, Trees: &tree.Builder{Repo: repo}, Memory: &memory.Memory{Repo: repo, Now: time.Now},
		Agent: instantAgent{}, Eval: &instantEvaluation{}, Alive: func(history.Lease) bool { return false },
		Environ: func(dir string, _ []string) ([]string, error) { return nil, os.MkdirAll(dir, 0o700) },
		Now:     time.Now, NewRun: func() string { next++; return fmt.Sprintf("run-%d", next) },
	}
}

// BenchmarkIteration runs whole iterations on a repository of 10,000 files and
// 1,000 commits, with an agent and an evaluation that take no time, beside the
// git commands that an iteration cannot do without. "x-git" is the ratio.
func BenchmarkIteration(b *testing.B) {
	dir := largeRepository(b)
	ctx := context.Background()
	environ := os.Environ()
	repo, err := git.Open(ctx, dir, environ)
	require.NoError(b, err)
	service := instantService(b, repo)
	run := func() {
		service.RunDir = b.TempDir()
		results, err := service.Run(ctx, 1)
		require.NoError(b, err)
		require.Equal(b, history.Accepted, results[0].Outcome, results[0].Reasons)
		require.NoError(b, tree.RemoveAll(service.RunDir))
	}
	run() // the baseline
	var bare, whole time.Duration
	for b.Loop() {
		begun := time.Now()
		bareIteration(b, dir, environ)
		bare += time.Since(begun)
		begun = time.Now()
		run()
		whole += time.Since(begun)
	}
	b.ReportMetric(float64(bare.Milliseconds())/float64(b.N), "ms-git")
	b.ReportMetric(float64(whole.Milliseconds())/float64(b.N), "ms-iteration")
	b.ReportMetric(float64(whole)/float64(bare), "x-git")
}

type instantAgent struct{}

func (instantAgent) Name() string { return "instant" }

func (instantAgent) Propose(_ context.Context, request agent.Request) (agent.Reply, error) {
	file := filepath.Join(request.Dir, "d00", "f000.txt")
	return agent.Reply{Summary: "change"}, os.WriteFile(file, []byte(time.Now().String()), 0o600)
}

// instantEvaluation gives a better number each time.
type instantEvaluation struct{ value int64 }

func (e *instantEvaluation) Run(context.Context, evaluation.Request) (evaluation.Result, error) {
	e.value--
	value := metric.FromInt(e.value)
	return evaluation.Result{Measurement: metric.Measurement{Metric: &value}}, nil
}

// largeRepository has 10,000 files and 1,000 commits.
func largeRepository(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	var in strings.Builder
	for commit := range 1000 {
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter U <u@example.com> %d +0000\ndata 1\nc\n", 1_700_000_000+commit)
		for i := range 10 {
			n := commit*10 + i
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
