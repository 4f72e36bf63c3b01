package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

// inActions is the environment of a run of a workflow.
func inActions(run, attempt int) []string {
	return []string{
		"GITHUB_ACTIONS=true", fmt.Sprintf("GITHUB_RUN_ID=%d", run),
		fmt.Sprintf("GITHUB_RUN_ATTEMPT=%d", attempt),
	}
}

// ended tells the server which runs have ended; of others it knows that they are
// under way.
func (h *hub) ended(runs ...int64) {
	h.Change(func(s *githubtest.State) {
		s.Runs = map[int64]string{}
		for run := range int64(100) {
			s.Runs[run] = "in_progress"
		}
		for _, run := range runs {
			s.Runs[run] = "completed"
		}
	})
}

// agentRuns is how often an agent worked.
func (w *project) agentRuns() int {
	worked, _ := os.ReadFile(filepath.Join(w.side, "worked")) // which the first makes
	return strings.Count(string(worked), "\n")
}

// working lets the agent of onIssue note that it works, and then do something.
func working(then string) string {
	return strings.Replace(onIssue, "  value=", "  echo works >> \"$SIDE/worked\"\n"+then+"  value=", 1)
}

// TestKilledProposeLeavesRecord kills the proposing job while the agent works:
// budgets hold, and the third time pauses.
func TestKilledProposeLeavesRecord(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	dying := working("  touch \"$SIDE/begun\"\n  sleep 600\n")
	for name, c := range map[string]struct {
		budget, why string
		runs        int
	}{
		"three pause":     {"", "iteration 1 was interrupted 3 times in", 3},
		"the budget ends": {"budget: {iterations: 2, per: day}\n", "budget: 2 of 2 iterations used this day", 2},
		"so does its cost": {
			"budget: {usd: 5, per: day}\n", "budget: 5.00 of 5.00 USD used this day", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t, map[string]string{"value.txt": "10\n"}, "9")
			j := h.inTwoJobs()
			h.program(strings.Replace(dying, "metric: m\n", c.budget+"metric: m\n", 1))
			var over []int64
			for run := 1; run <= 6; run++ {
				h.ended(over...)
				h.env = append(h.env, inActions(run, 1)...)
				over = append(over, int64(run))
				begun, reason := j.begin()
				if !begun {
					assert.Contains(t, reason, c.why)
					continue
				}
				_ = os.Remove(filepath.Join(h.side, "begun"))
				cmd := j.job(readToken, "job", "propose", "--program", "p", "--out",
					filepath.Join(t.TempDir(), "bundle"))
				require.NoError(t, cmd.Start())
				require.Eventually(t, func() bool {
					_,
						err := os.Stat(filepath.Join(h.side, "begun"))
					return err == nil
				},
					5*time.Minute, 20*time.Millisecond)
				require.NoError(t, cmd.Process.Kill())
				_ = cmd.Wait()
				j.alone()
			}
			assert.Equal(t, c.runs, h.agentRuns())
			assert.GreaterOrEqual(t, h.count("started"), c.runs, "each has its record")
		})
	}
}

// refusesToPropose proposes without a start of its own.
func (h *hub) refusesToPropose(j *jobs) {
	h.t.Helper()
	a := h.answer(j.job(readToken, "job", "propose", "--program", "p", "--out", filepath.Join(h.t.TempDir(), "none")))
	if a.code == 0 {
		assert.Contains(h.t, a.stdout, "works on it until")
		return
	}
	assert.Contains(h.t, a.stderr, "no start is recorded for this run")
	assert.Contains(h.t, a.stderr, "iterate job begin")
}
