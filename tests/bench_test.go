package tests

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/cli"
	"github.com/org/autoloop/internal/evaluate"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/iterate"
	"github.com/org/autoloop/internal/ledger"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/scheduler"
	"github.com/org/autoloop/internal/score"
	"github.com/org/autoloop/internal/state"
	"github.com/org/autoloop/internal/store"
	"github.com/org/autoloop/internal/tree"
)

// BenchmarkSchedule chooses among programs with states of 4 KB, beside merely
// reading the same files one after the other. "x-reading" is the ratio.
func BenchmarkSchedule(b *testing.B) {
	cli.BoundMemory()
	for _, count := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			root, states := manyPrograms(b, count)
			var reading, scheduling time.Duration
			var peak uint64
			for b.Loop() {
				begun := time.Now()
				readAll(b, filepath.Join(root, ".autoloop", "programs"), states)
				reading += time.Since(begun)
				begun = time.Now()
				plan := scheduleAll(b, root, states)
				scheduling += time.Since(begun)
				require.NotNil(b, plan.Selected)
				var memory runtime.MemStats
				runtime.ReadMemStats(&memory)
				peak = max(peak, memory.Sys)
			}
			b.ReportMetric(float64(reading.Milliseconds())/float64(b.N), "ms-reading")
			b.ReportMetric(float64(scheduling.Milliseconds())/float64(b.N), "ms-scheduling")
			b.ReportMetric(float64(scheduling)/float64(reading), "x-reading")
			b.ReportMetric(float64(peak)/(1<<20), "MB-peak")
		})
	}
}

// ordinary is a program as people write them.
const ordinary = `---
schedule: every 6h
metric: latency_ms
metric_direction: lower   # milliseconds
target-metric: 0.5
timeout-minutes: 30
---

# Latency of the parser

## Goal

Bring the time of one parse down without changing what it accepts. Lower is better.

## Target

- ` + "`internal/parse/**`" + `

Do NOT modify ` + "`internal/parse/testdata/`" + `.

## Evaluation

` + "```bash" + `
go run ./cmd/measure --json
` + "```" + `
`

func manyPrograms(b *testing.B, count int) (root, states string) {
	b.Helper()
	root = b.TempDir()
	programs := filepath.Join(root, ".autoloop", "programs")
	states = filepath.Join(root, "repo-memory", "autoloop")
	require.NoError(b, os.MkdirAll(programs, 0o755))
	require.NoError(b, os.MkdirAll(states, 0o755))
	for i := range count {
		name := fmt.Sprintf("program-%05d", i)
		require.NoError(b, os.WriteFile(filepath.Join(programs, name+".md"), []byte(ordinary), 0o600))
		doc := state.New(name)
		last := time.Date(2026, 1, 1, i%24, i%60, 0, 0, time.UTC)
		doc.SetMachine(state.Machine{LastRun: &last, IterationCount: i, RecentStatuses: []string{"accepted", "rejected"}})
		doc.SetSection(state.Lessons, strings.Repeat("- something that was learned on the way\n", 80))
		require.NoError(b, os.WriteFile(filepath.Join(states, name+".md"), doc.Render(), 0o600))
	}
	return root, states
}

func readAll(b *testing.B, dirs ...string) {
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		require.NoError(b, err)
		for _, entry := range entries {
			if _, err := os.ReadFile(filepath.Join(dir, entry.Name())); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func scheduleAll(b *testing.B, root, states string) *scheduler.Plan {
	ctx := context.Background()
	programs, err := store.Programs{Root: root, Parse: program.ParseHead}.Load(false)
	require.NoError(b, err)
	names := make([]string, len(programs))
	for i, p := range programs {
		names[i] = p.Name
	}
	source := store.States{Dir: states}
	found, err := source.Load(ctx, names)
	require.NoError(b, err)
	plan, err := scheduler.Choose(scheduler.Input{Programs: programs, States: found, Now: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), Max: 1})
	require.NoError(b, err)
	return plan
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
	p := program.Parse("p.md", []byte("---\nmetric_direction: lower\nplateau: off\nevaluation-runs: 1\n---\n## Target\n`d00/f000.txt`\n## Evaluation\n```sh\ntrue\n```\n"))
	require.NoError(b, p.Err())
	next := 0
	service := &iterate.Service{
		Program: p, Repo: repo, Trees: &tree.Builder{Repo: repo}, Memory: &store.Memory{Repo: repo, Now: time.Now},
		Agent: instantAgent{}, Eval: &instantEvaluation{}, Alive: func(ledger.Lease) bool { return false },
		Environ: func(dir string, _ []string) ([]string, error) { return nil, os.MkdirAll(dir, 0o700) },
		Now:     time.Now, NewRun: func() string { next++; return fmt.Sprintf("run-%d", next) },
	}
	run := func() {
		service.RunDir = b.TempDir()
		results, err := service.Run(ctx, 1)
		require.NoError(b, err)
		require.Equal(b, ledger.Accepted, results[0].Outcome, results[0].Reasons)
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

func (e *instantEvaluation) Run(context.Context, evaluate.Request) (evaluate.Outcome, error) {
	e.value--
	value := score.FromInt(e.value)
	return evaluate.Outcome{Measurement: score.Measurement{Metric: &value}}, nil
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
