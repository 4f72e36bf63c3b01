package schedule_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/cli"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/schedule"
)

// frontmatters are those that are compared: lines of key and value, lists and
// maps, and a budget, for which the ledger is read.
func frontmatters() map[string]string {
	plain := "schedule: every 6h\nmetric_direction: lower # seconds\ntarget-metric: 0.5\nmetric: seconds\n"
	return map[string]string{
		"plain":  plain,
		"lists":  plain + "env: [A, B]\nguardrails:\n  - {metric: size, max-regression: 5%}\n",
		"budget": plain + "budget: {iterations: 5000, usd: 900, per: month}\n",
	}
}

// BenchmarkSchedule schedules many programs with 4 KB states and ledgers of twenty
// iterations on the memory branch, beside merely reading the same program files and
// git objects one after the other. "ratio" is the one by the other; "of-plain" is
// the time by that of plain frontmatter.
func BenchmarkSchedule(b *testing.B) {
	for _, count := range []int{1000, 5000} {
		plain := 0.0
		for _, name := range []string{"plain", "lists", "budget"} {
			b.Run(fmt.Sprintf("%s-%d", name, count), func(b *testing.B) {
				took := benchmarkSchedule(b, frontmatters()[name], name == "budget", count)
				if name == "plain" {
					plain = took
				}
				b.ReportMetric(took/plain, "of-plain")
			})
		}
	}
}

func benchmarkSchedule(b *testing.B, front string, ledgers bool, count int) (seconds float64) {
	repo := library(b, front, count)
	return beside(b, repo, ledgers, "ms-scheduling", func() { plan(b, repo) })
}

// beside reports the milliseconds of merely reading, those of what is compared,
// and the ratio of the two; it returns the seconds of what is compared.
func beside(b *testing.B, repo *git.Repo, ledgers bool, unit string, compared func()) float64 {
	b.Helper()
	var reading, comparing time.Duration
	for b.Loop() {
		runtime.GC() // both begin with the same heap
		begun := time.Now()
		readAll(b, repo, ledgers)
		reading += time.Since(begun)
		runtime.GC()
		begun = time.Now()
		compared()
		comparing += time.Since(begun)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(reading.Seconds()*1000/float64(b.N), "ms-reading")
	b.ReportMetric(comparing.Seconds()*1000/float64(b.N), unit)
	b.ReportMetric(float64(comparing)/float64(reading), "ratio")
	return comparing.Seconds() / float64(b.N)
}

// library writes programs, and commits states that are all due at another time.
func library(b *testing.B, front string, count int) *git.Repo {
	b.Helper()
	root := b.TempDir()
	programs := filepath.Join(root, memory.DefaultPrograms)
	require.NoError(b, os.MkdirAll(programs, 0o755))
	text := []byte("---\n" + front +
		"---\n\n# Speed\n\n## Goal\n\nMake it fast.\n\n## Target\n\n- `a.go`\n\n## Evaluation\n\n```sh\n" +
		"go run ./bench\n```\n")
	var stream bytes.Buffer
	stream.WriteString("commit refs/heads/memory/autoloop\ncommitter A <a@b> 1700000000 +0000\ndata 1\nm")
	put := func(name string, data []byte) {
		fmt.Fprintf(&stream, "\nM 100644 inline %s\ndata %d\n%s", name, len(data), data)
	}
	for i := range count {
		name := fmt.Sprintf("program-%05d", i)
		doc := state.New(name)
		last := now.Add(-time.Duration(i) * time.Minute)
		m := doc.Machine()
		m.LastRun, m.IterationCount, m.RecentStatuses = &last, i, []string{"accepted", "rejected"}
		doc.SetMachine(m)
		doc.SetSection(state.Lessons, strings.Repeat("- something that was learned on the way\n", 80))
		require.NoError(b, os.WriteFile(filepath.Join(programs, name+".md"), text, 0o600))
		put(name+".md", doc.Render())
		for _, it := range ledger(b, last).Iterations() {
			put(fmt.Sprintf("%s.iterations/000/%06d.json", name, it.Number), it.Text())
		}
	}
	stream.WriteString("\ndone\n")
	git := func(in []byte, args ...string) {
		cmd := exec.CommandContext(b.Context(), "git", append([]string{"-C", root}, args...)...)
		cmd.Stdin = bytes.NewReader(in)
		out, err := cmd.CombinedOutput()
		require.NoError(b, err, string(out))
	}
	git(nil, "init", "--quiet")
	git(stream.Bytes(), "fast-import", "--quiet", "--done")
	return open(b, root)
}

func open(b *testing.B, root string) *git.Repo {
	repo, err := git.Open(b.Context(), root, os.Environ())
	require.NoError(b, err)
	return repo
}

// ledger is one of twenty iterations.
func ledger(b *testing.B, last time.Time) *history.Log {
	b.Helper()
	log := &history.Log{}
	for n := range 20 {
		at := last.Add(-time.Duration(20-n) * time.Hour)
		require.NoError(b, log.Append(
			&history.Started{Head: history.Head{Time: at, Run: "r", Iteration: n}},
			&history.Decided{
				Head: history.Head{Time: at, Run: "r", Iteration: n}, Outcome: history.Rejected,
				Verdict: "worse", Reasons: decision.Says("it was slower than before"),
				Work: history.Work{Agent: "claude"},
			},
		))
	}
	return log
}

// readAll reads the program files, and lists the memory branch and reads the same
// objects in their order with git.
func readAll(b *testing.B, repo *git.Repo, ledgers bool) {
	programs := filepath.Join(repo.Root, memory.DefaultPrograms)
	entries, err := os.ReadDir(programs)
	require.NoError(b, err)
	for _, entry := range entries {
		_, err := os.ReadFile(filepath.Join(programs, entry.Name()))
		require.NoError(b, err)
	}
	list, err := exec.CommandContext(b.Context(), "git", "-C", repo.Root, "ls-tree", memory.MemoryBranch).Output()
	require.NoError(b, err)
	var ids strings.Builder
	for line := range strings.Lines(string(list)) {
		if fields := strings.Fields(line); ledgers || strings.HasSuffix(fields[3], ".md") {
			ids.WriteString(fields[2] + "\n")
		}
	}
	cmd := exec.CommandContext(b.Context(), "git", "-C", repo.Root, "cat-file", "--batch")
	cmd.Stdin = strings.NewReader(ids.String())
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	_, err = io.Copy(io.Discard, out)
	require.NoError(b, err)
	require.NoError(b, cmd.Wait())
}

func plan(b *testing.B, at *git.Repo) {
	plan, err := schedule.Choose(input(b, at)) // nothing is known from before
	require.NoError(b, err)
	require.NotNil(b, plan.Selected)
}

// input is what the command reads for scheduling.
func input(b *testing.B, repo *git.Repo) schedule.Input {
	env := cli.Env{
		Environ: os.Environ(), Getenv: func(string) string { return "" }, Dir: repo.Root,
		Now: func() time.Time { return now },
	}
	in, err := (&cli.App{Env: env, Options: cli.Options{Dir: b.TempDir()}}).Input(b.Context())
	require.NoError(b, err)
	return in
}

// BenchmarkStatus looks at everything that `iterate status` shows of many programs
// in a repository of as many files, beside merely reading them and their states and
// ledgers.
func BenchmarkStatus(b *testing.B) {
	for _, count := range []int{1000, 5000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			repo := library(b, frontmatters()["plain"], count)
			for _, args := range [][]string{
				{"add", "--all"},
				{"-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "--message", "m"},
			} {
				out, err := exec.CommandContext(b.Context(), "git",
					append([]string{"-C", repo.Root}, args...)...).CombinedOutput()
				require.NoError(b, err, string(out))
			}
			beside(b, repo, true, "ms-status", func() { look(b, repo) })
		})
	}
}

func look(b *testing.B, at *git.Repo) {
	in := input(b, at)
	in.All = true
	plan, err := schedule.Choose(in)
	require.NoError(b, err)
	require.Empty(b, plan.Errors)
}
