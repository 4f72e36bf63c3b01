package memory_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/long"
)

// TestManyIterationsOnDisk records five hundred iterations as runs do, or as many as
// AUTOLOOP_ITERATIONS says, one in eight of which is kept, and looks at what they take: of
// ten thousand 50 MB on disk and 60 MB in a fresh fetch, of fewer as much less.
func TestManyIterationsOnDisk(t *testing.T) {
	long.Only(t, long.Simulations)
	iterations := 500
	if text := os.Getenv("AUTOLOOP_ITERATIONS"); text != "" {
		var err error
		iterations, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	c := newCheckout(t)
	chance := rand.New(rand.NewPCG(1, 2))
	branch, head := "refs/heads/autoloop/p", c.has("refs/heads/main")
	c.user("update-ref", branch, head)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	update := func(message string, move *git.RefUpdate, row *results.Row, events ...history.Event) {
		_, err := c.Update(t.Context(), memory.Update{Program: "p", Message: message, Branch: move, Apply: func(current memory.Files) (memory.Files, error) {
			log, err := current.Log()
			require.NoError(t, err)
			require.NoError(t, log.Append(events...))
			table, err := results.Parse(current.Results)
			require.NoError(t, err)
			doc := state.New("p")
			if current.State != nil {
				doc, err = state.Parse(current.State)
				require.NoError(t, err)
			}
			if row != nil {
				require.NoError(t, table.Append(*row, metric.Lower))
				doc.AddEntry(state.HistoryEntry{Iteration: row.Iteration, Time: row.Time, Status: state.Status(history.Rejected), Change: row.Changelog, Metric: row.Score})
			}
			return memory.Files{State: doc.Render(), Results: table.Bytes(), Ledger: log.Bytes()}, nil
		}})
		require.NoError(t, err)
	}
	for number := range iterations {
		number++
		at = at.Add(10 * time.Minute)
		is := history.Head{Run: fmt.Sprintf("%s-%08x", at.Format("20060102T150405Z"), chance.Uint32()), Time: at, Iteration: number}
		update("p: start", nil, nil, &history.Started{Head: is, Lease: &history.Lease{Host: "runner", PID: number, ProcessStart: fmt.Sprint(chance.Uint32()), Until: at.Add(time.Hour)}})
		value := metric.FromInt(chance.Int64N(1 << 40))
		var output strings.Builder
		for range 12 {
			fmt.Fprintf(&output, "step %x took %d ms\n", chance.Uint64(), chance.IntN(1000))
		}
		decided := &history.Decided{
			Head: is, Outcome: history.Rejected, Metric: &value, Best: &value, PreviousBest: &value, Digest: fmt.Sprintf("%016x%016x", chance.Uint64(), chance.Uint64()),
			Reasons: []string{fmt.Sprintf("%s is worse than the best %d", value, number)}, Evaluator: "14187174c4fada30", Definition: "ba796c49d8352084",
			Work: history.Work{Agent: "command", Summary: fmt.Sprintf("try %x in the loop of part %d", chance.Uint32(), number), Changed: []string{"src/part.go"}, Durations: map[string]float64{"propose": chance.Float64(), "measure": chance.Float64()}},
		}
		var move *git.RefUpdate
		if number%8 == 0 {
			tree, err := c.Repo.WriteFiles(t.Context(), head, map[string]*git.File{"src/part.go": {Data: []byte(output.String())}})
			require.NoError(t, err)
			commit, err := c.Repo.CommitTree(t.Context(), tree, []string{head}, "[Autoloop: p] Iteration\n", at)
			require.NoError(t, err)
			move = &git.RefUpdate{Ref: branch, New: commit, Old: head}
			head, decided.Outcome, decided.Commit = commit, history.Accepted, commit
		}
		if number%1_000 == 0 {
			t.Logf("%d iterations: %.1f MB", number, float64(diskUse(t, filepath.Join(c.dir, ".git")))/1e6)
		}
		row := &results.Row{Iteration: number, Time: at, Score: &value, Action: results.Reverted, Changelog: decided.Summary}
		update(fmt.Sprintf("p: iteration %d", number), move, row,
			&history.Measured{Head: is, Role: history.Candidate, Stage: "once", Metric: &value, Samples: []metric.Value{value}, Output: output.String(), Evaluator: "14187174c4fada30"},
			decided, &history.Finished{Head: is, Outcome: decided.Outcome})
	}
	disk := diskUse(t, filepath.Join(c.dir, ".git"))
	c.user("fsck")
	fetched := filepath.Join(t.TempDir(), "fetched")
	c.user("init", "-q", "--bare", fetched)
	_, err := c.run(fetched, "fetch", "-q", "file://"+c.dir, memoryRef)
	require.NoError(t, err)
	fetch := diskUse(t, filepath.Join(fetched, "objects"))
	t.Logf("on disk: %.1f MB with %d loose objects; a fresh fetch: %.1f MB", float64(disk)/1e6, c.looseObjects(), float64(fetch)/1e6)
	const loose = 8 << 20 // what may wait to be packed does not grow
	assert.Less(t, disk, int64(5e3*iterations+loose))
	assert.Less(t, fetch, int64(6e3*iterations))
	decidedNumbers, summary := c.numbers()
	assert.Len(t, decidedNumbers, iterations)
	assert.Equal(t, iterations, summary.Decided())
}
