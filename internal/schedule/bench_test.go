package schedule_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
)

// BenchmarkSchedule schedules many programs with 4 KB states, beside merely
// reading the same files one after the other. "ratio" is the one by the other.
// The frontmatter of "plain" is lines of key and value, that of "yaml" has a
// list, which only a YAML parser reads.
func BenchmarkSchedule(b *testing.B) {
	app.BoundMemory() // as the command does
	plain := "schedule: every 6h\nmetric_direction: lower # seconds\ntarget-metric: 0.5\nmetric: seconds\n"
	for name, front := range map[string]string{"plain": plain, "yaml": plain + "env: [A, B]\nguardrails:\n  - {metric: size, max-regression: 5%}\n"} {
		for _, count := range []int{1000, 10_000} {
			b.Run(fmt.Sprintf("%s-%d", name, count), func(b *testing.B) { benchmarkSchedule(b, front, count) })
		}
	}
}

func benchmarkSchedule(b *testing.B, front string, count int) {
	root, states := library(b, front, count)
	programs := filepath.Join(root, memory.DefaultPrograms)
	var reading, scheduling time.Duration
	for b.Loop() {
		runtime.GC() // both begin with the same heap
		begun := time.Now()
		readAll(b, programs, states)
		reading += time.Since(begun)
		runtime.GC()
		begun = time.Now()
		plan(b, root, states)
		scheduling += time.Since(begun)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(reading.Seconds()*1000/float64(b.N), "ms-reading")
	b.ReportMetric(scheduling.Seconds()*1000/float64(b.N), "ms-scheduling")
	b.ReportMetric(float64(scheduling)/float64(reading), "ratio")
	var summary runtime.MemStats
	runtime.ReadMemStats(&summary)
	b.ReportMetric(float64(summary.Sys)/(1<<20), "MB")
}

// library writes programs, and states that are all due at another time.
func library(b *testing.B, front string, count int) (root, states string) {
	b.Helper()
	root = b.TempDir()
	programs := filepath.Join(root, memory.DefaultPrograms)
	states = filepath.Join(root, "repo-memory", "autoloop")
	require.NoError(b, os.MkdirAll(programs, 0o755))
	require.NoError(b, os.MkdirAll(states, 0o755))
	text := []byte("---\n" + front + "---\n\n# Speed\n\n## Goal\n\nMake it fast.\n\n## Target\n\n- `a.go`\n\n## Evaluation\n\n```sh\ngo run ./bench\n```\n")
	for i := range count {
		name := fmt.Sprintf("program-%05d", i)
		doc := state.New(name)
		last := now.Add(-time.Duration(i) * time.Minute)
		m := doc.Machine()
		m.LastRun, m.IterationCount, m.RecentStatuses = &last, i, []string{"accepted", "rejected"}
		doc.SetMachine(m)
		doc.SetSection(state.Lessons, strings.Repeat("- something that was learned on the way\n", 80))
		require.NoError(b, os.WriteFile(filepath.Join(programs, name+".md"), text, 0o600))
		require.NoError(b, os.WriteFile(filepath.Join(states, name+".md"), doc.Render(), 0o600))
	}
	return root, states
}

func readAll(b *testing.B, dirs ...string) {
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		require.NoError(b, err)
		for _, entry := range entries {
			_, err := os.ReadFile(filepath.Join(dir, entry.Name()))
			require.NoError(b, err)
		}
	}
}

func plan(b *testing.B, root, states string) {
	programs, err := memory.Programs{Root: root, Parse: program.ParseHead}.Load(false)
	require.NoError(b, err)
	names := make([]string, len(programs))
	for i, p := range programs {
		names[i] = p.Name
	}
	source := memory.States{Dir: states}
	found, err := source.Load(context.Background(), names)
	require.NoError(b, err)
	plan, err := schedule.Choose(schedule.Input{Programs: programs, States: found, Now: now})
	require.NoError(b, err)
	require.NotNil(b, plan.Selected)
}
