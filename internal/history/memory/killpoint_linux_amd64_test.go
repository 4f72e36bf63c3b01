package memory_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/tests/long"
	"github.com/org/autoloop/tests/testrepo"
)

// recordsOnce is a variable with a directory in which a process records one iteration.
const recordsOnce = "AUTOLOOP_TEST_RECORDS"

// TestKilledAtEveryCallOfRecording kills a process that records an iteration right
// before each of its changing calls, and goes on: nothing is lost, and nothing is
// there twice.
func TestKilledAtEveryCallOfRecording(t *testing.T) {
	if dir := os.Getenv(recordsOnce); dir != "" {
		open(t, testrepo.At(t, dir, testrepo.Environ(t.TempDir())), "").iterate(4)
		return
	}
	long.Only(t, long.Kills)
	t.Parallel()
	whole := newCheckout(t)
	for number := range 3 {
		whole.iterate(number + 1)
	}
	temporary := t.TempDir()
	for k, call := 1, "none"; call != ""; k++ {
		dir := filepath.Join(t.TempDir(), "copy")
		require.NoError(t, os.CopyFS(dir, os.DirFS(whole.Dir)))
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$") //nolint:noctx // it is killed
		cmd.Env = append(os.Environ(), recordsOnce+"="+dir, "TMPDIR="+temporary)
		call = long.KillAt(t, cmd, k, func(string) bool { return true })
		c := open(t, testrepo.At(t, dir, whole.Env), "")
		c.Git("fsck", "--strict")
		if sum := history.Replay(c.records().Events); call != "" && sum.Iteration < 4 {
			c.iterate(4)
		}
		records := c.records()
		var decided []int
		for _, e := range history.Of[*history.Decided](records.Events) {
			decided = append(decided, e.Iteration)
		}
		require.Equal(t, []int{1, 2, 3, 4}, decided, "%d %s", k, call)
		require.Empty(t, records.Rewritten, "%d %s", k, call)
		locks, err := filepath.Glob(filepath.Join(dir, ".git/*/*.lock"))
		require.NoError(t, err)
		require.Empty(t, locks)
		require.NoError(t, os.RemoveAll(dir))
		require.True(t, call != "" || k > 10)
	}
}

// iterate records one iteration in two updates, as a run does.
func (c *checkout) iterate(number int) {
	c.t.Helper()
	is := history.Head{Run: fmt.Sprint(number), Time: c.Now(), Iteration: number}
	for _, events := range [][]history.Event{{&history.Started{Head: is}}, {
		&history.Measured{Head: is, Role: history.Candidate, Output: "printed\n"},
		&history.Decided{Head: is, Outcome: history.Rejected}, &history.Finished{Head: is},
	}} {
		_, err := c.Update(c.t.Context(), memory.Update{
			Program: "p", Message: "m", Apply: func(current memory.Files) (memory.Files, error) {
				log := current.Ledger.Copy()
				return memory.Files{State: state.New("p").Render(), Ledger: log}, log.Append(events...)
			},
		})
		require.NoError(c.t, err)
	}
}
