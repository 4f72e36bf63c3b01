package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ghAwState is a state as a gh-aw installation leaves it: with rows and prose of
// its own, without a direction, results and a ledger.
func ghAwState(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "gh-aw-state.md"))
	require.NoError(t, err)
	return string(data)
}

// ghAw makes a repository with such an installation: the branch of program p
// with its suffix, and the states of p and of one more.
func ghAw(t *testing.T) *world {
	t.Helper()
	w := valuesWorld(t, "metric_direction: lower\ntarget-metric: 2\nschedule: every 6h", "20")
	require.NoError(t, os.WriteFile(filepath.Join(w.side, "values"), []byte(strings.Repeat("x\n", 12)+"6\n9\n"), 0o600))
	w.git("checkout", "--quiet", "-b", "autoloop/p-3f9c2e1a")
	w.write("value.txt", "7\n")
	w.git("commit", "--quiet", "--all", "--message",
		"[Autoloop: p] Iteration 12: One step down\n\nRun: https://github.com/o/r/actions/runs/112")
	w.git("checkout", "--quiet", "--orphan", "memory/autoloop")
	w.git("rm", "-r", "--quiet", "--force", ".")
	w.write("p.md", ghAwState(t))
	w.write("gone.md", strings.Replace(ghAwState(t), "Autoloop: p", "Autoloop: gone", 1))
	w.git("add", "--all")
	w.git("commit", "--quiet", "--message", "Update repo memory")
	w.git("checkout", "--quiet", "main")
	return w
}

func TestMovingOverFromGhAw(t *testing.T) {
	t.Parallel()
	w := ghAw(t)
	was := w.git("rev-parse", "memory/autoloop")
	branch := w.git("rev-parse", "autoloop/p-3f9c2e1a")
	a := w.binary("iterate", "init", "--adopt", "--yes")
	require.Zero(t, a.code, a.stderr)
	assert.Equal(t, branch, w.git("rev-parse", "autoloop/p"))
	assert.Equal(t, was, w.git("rev-parse", "memory/autoloop"), "state stays as it is")

	got := w.one()
	assert.Equal(t, 13, got.Iteration, "it goes on counting")
	assert.Equal(t, "accepted", got.Outcome, got.Reasons)
	require.NotNil(t, got.Best)
	assert.Equal(t, "6", got.Best.String())
	assert.Equal(t, branch, w.git("rev-parse", "autoloop/p^"), "it goes on from what was kept")
	w.git("merge-base", "--is-ancestor", was, "memory/autoloop")
	assert.Equal(t, w.git("show", was+":gone.md"), w.memory("gone.md"), "others' files stay")

	recorded := strings.Split(w.memory("p.md"), "\n")
	at := 0
	var changed []string
	for line := range strings.SplitSeq(strings.TrimSpace(ghAwState(t)), "\n") {
		found := indexFrom(recorded, at, line)
		if found < 0 {
			changed = append(changed, line)
			continue
		}
		at = found + 1
	}
	assert.Equal(t, []string{
		"| Last Run | 2025-06-01T12:00:00Z |", "| Iteration Count | 12 |", "| Best Metric | 7 |",
		"| Branch | `autoloop/p-3f9c2e1a` |",
		"| Recent Statuses | accepted, rejected, rejected, error |",
	}, changed, "all else is there, line by line and in its order")
	state := w.memory("p.md")
	for _, row := range []string{
		"| Iteration Count | 13 |", "| Best Metric | 6 |", "| Branch | `autoloop/p` |",
		"| Metric Direction | lower |", "| Steering Issue | #20 |",
		"| Recent Statuses | error, rejected, rejected, accepted, accepted |",
	} {
		assert.Contains(t, state, row+"\n")
	}
	assert.Less(t, strings.Index(state, "### Iteration 13 — "), strings.Index(state, "### Iteration 12 — "))
	assert.Contains(t, w.memory("p.results.tsv"), "\tkept\t")
	assert.Equal(t, 1, w.count("started"))

	assert.Equal(t, "rejected", w.one().Outcome)
	assert.Equal(t, "6", w.run(w.dir, "git", "show", "autoloop/p:value.txt"))
}

// indexFrom is where a line is at or after a place, -1 when it is not.
func indexFrom(lines []string, from int, line string) int {
	for i := from; i < len(lines); i++ {
		if lines[i] == line {
			return i
		}
	}
	return -1
}
