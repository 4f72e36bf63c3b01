package tests

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/results"
	records "github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
)

// BenchmarkLongLife runs iterations of a program that has so many behind it, which are
// made and not run, with an agent and an evaluation that take no time, beside the git
// commands that an iteration cannot do without. `git` is how many git processes an
// iteration starts.
func BenchmarkLongLife(b *testing.B) {
	for _, behind := range []int{10, 100, 1_000, 10_000} {
		b.Run(strconv.Itoa(behind), func(b *testing.B) { benchmarkLongLife(b, behind) })
	}
}

func benchmarkLongLife(b *testing.B, behind int) {
	dir := b.TempDir()
	ctx := context.Background()
	counting := countingGit(b)
	calls := filepath.Join(counting, "calls")
	environ := append(os.Environ(), "PATH="+counting+string(filepath.ListSeparator)+os.Getenv("PATH"))
	smallRepository(b, dir)
	repo, err := git.Open(ctx, dir, environ)
	require.NoError(b, err)
	madeHistory(b, repo, behind)
	service := instantService(b, repo)
	run := func() {
		service.RunDir = b.TempDir()
		results, err := service.Run(ctx, 1)
		require.NoError(b, err)
		require.Equal(b, history.Accepted, results[0].Outcome, results[0].Reasons)
		require.Greater(b, results[0].Iteration, behind)
		require.NoError(b, tree.RemoveAll(service.RunDir))
	}
	run() // the baseline
	var bare, whole time.Duration
	var processes, objects, written int64
	for b.Loop() {
		begun := time.Now()
		bareIteration(b, dir, os.Environ())
		bare += time.Since(begun)
		require.NoError(b, os.RemoveAll(calls))
		count, size := objectFiles(b, dir)
		begun = time.Now()
		run()
		whole += time.Since(begun)
		text, err := os.ReadFile(calls)
		require.NoError(b, err)
		processes += int64(strings.Count(string(text), "\n"))
		countNow, sizeNow := objectFiles(b, dir)
		objects, written = objects+countNow-count, written+sizeNow-size
	}
	n := float64(b.N)
	b.ReportMetric(float64(bare.Milliseconds())/n, "ms-git")
	b.ReportMetric(float64(whole.Milliseconds())/n, "ms-iteration")
	b.ReportMetric(float64(processes)/n, "git")
	b.ReportMetric(float64(objects)/n, "objects")
	b.ReportMetric(float64(written)/n, "bytes")
}

// countingGit is a directory with a git that notes each call in the file calls there.
func countingGit(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	path := os.Getenv("PATH")
	script := "#!/bin/sh\necho \"$1\" >> \"" + filepath.Join(dir, "calls") + "\"\nPATH='" + path + "' exec git \"$@\"\n"
	require.NoError(b, os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o700)) //nolint:gosec // it is executed
	return dir
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
	repo("add", "--all")
	repo("-c", "user.name=U", "-c", "user.email=u@example.com", "commit", "--quiet", "--message", "first")
}

// madeHistory writes the records of so many iterations in one commit, as they are after
// as many runs.
func madeHistory(b testing.TB, repo *git.Repo, iterations int) {
	b.Helper()
	log, err := history.Parse(nil)
	require.NoError(b, err)
	table, err := results.Parse(nil)
	require.NoError(b, err)
	doc := records.New("p")
	files := map[string]*git.File{}
	at := time.Now().Add(-time.Duration(iterations) * time.Hour)
	best := metric.FromInt(1)
	for i := range iterations {
		number := i + 1
		at = at.Add(time.Hour)
		is := history.Head{Run: fmt.Sprintf("%s-%08d", at.UTC().Format("20060102T150405Z"), number), Time: at, Iteration: number}
		value := metric.FromInt(int64(number) + 1)
		require.NoError(b, log.Append(
			&history.Started{Head: is, Lease: &history.Lease{Host: "runner", PID: number, Until: at.Add(time.Hour)}},
			&history.Measured{Head: is, Role: history.Candidate, Stage: "once", Metric: &value, Samples: []metric.Value{value}, Output: fmt.Sprintf("it took %d ms\n", number), Evaluator: "e"},
			&history.Decided{
				Head: is, Outcome: history.Rejected, Metric: &value, Best: &best, PreviousBest: &best, Verdict: "regressed", Digest: fmt.Sprintf("%032x", number), Evaluator: "e", Definition: "d",
				Reasons: []string{fmt.Sprintf("%s is worse than the best 1 (lower is better)", value)}, Work: history.Work{Agent: "instant", Summary: "try another way", Changed: []string{"d00/f000.txt"}, Durations: map[string]float64{"propose": 0.1, "measure": 0.2}},
			},
			&history.Finished{Head: is, Outcome: history.Rejected}))
		require.NoError(b, table.Append(results.Row{Iteration: number, Time: at, Score: &value, Action: results.Reverted, Changelog: "try another way"}, metric.Lower))
		if number > iterations-100 {
			doc.AddEntry(records.HistoryEntry{Iteration: number, Time: at, Status: records.Status(history.Rejected), Change: "try another way", Metric: &value, PreviousBest: &best})
		}
		s, err := log.Seal()
		require.NoError(b, err)
		if s == nil {
			continue
		}
		for i, segment := range s.Segments {
			short, err := history.Condense(segment)
			require.NoError(b, err)
			files[fmt.Sprintf("p.ledger/%06d.jsonl", s.First+i)] = &git.File{Data: segment}
			files[fmt.Sprintf("p.ledger/%06d.short.jsonl", s.First+i)] = &git.File{Data: short}
		}
		text, err := s.Checkpoint.Encode()
		require.NoError(b, err)
		files["p.ledger/checkpoint.json"] = &git.File{Data: text}
		log, err = history.Open(s.Checkpoint, s.Open)
		require.NoError(b, err)
	}
	machine := doc.Machine()
	for range min(iterations, 10) {
		machine.RecentStatuses = append(machine.RecentStatuses, string(history.Rejected))
	}
	machine.IterationCount, machine.Direction, machine.DirectionGiven = iterations, metric.Lower, true
	doc.SetMachine(machine)
	files["p.jsonl"], files["p.results.tsv"], files["p.md"] = &git.File{Data: log.Bytes()}, &git.File{Data: table.Bytes()}, &git.File{Data: doc.Render()}
	tree, err := repo.WriteFiles(b.Context(), "", files)
	require.NoError(b, err)
	commit, err := repo.CommitTree(b.Context(), tree, nil, "made\n", at)
	require.NoError(b, err)
	require.NoError(b, repo.UpdateRefs(b.Context(), "made", git.RefUpdate{Ref: "refs/heads/" + memory.MemoryBranch, New: commit}))
}
