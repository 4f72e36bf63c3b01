package loop

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/evaluation"
)

// TestTimeLimitsFollowTheBaseline: a candidate's evaluation may take ten times as
// long as that of the unchanged files, at least a minute, unless the program
// says. A hang costs that and no second run.
func TestTimeLimitsFollowTheBaseline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		front   string
		takes   time.Duration // one run of the unchanged files
		limit   time.Duration // of a candidate
		another bool          // the unchanged files are measured again
	}{
		"a fast evaluation":    {"", time.Second, time.Minute, false},
		"a slow one":           {"", 30 * time.Second, 5 * time.Minute, false},
		"the program says":     {"evaluation-timeout: 20m", time.Second, 20 * time.Minute, false},
		"a limit that is near": {"evaluation-timeout: 40s", 30 * time.Second, 40 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, "evaluation-runs: 1\n"+c.front, "1", "hang")
			var candidates, others []time.Duration
			b.run = func(request evaluation.Request, value string) evaluation.Result {
				limit := request.Timeout
				if request.ScriptTimeout > 0 {
					limit = request.ScriptTimeout
				}
				if value == "hang" {
					candidates = append(candidates, limit)
					return evaluation.Result{Problem: "the evaluation took longer than " + limit.String(), TimedOut: true, Duration: limit}
				}
				others = append(others, limit)
				return evaluation.Result{Duration: c.takes}
			}
			got := b.one()
			require.Equal(t, history.Rejected, got.Outcome)
			assert.Contains(t, got.Reasons[0], "the evaluation took longer than "+c.limit.String())
			assert.Equal(t, []time.Duration{c.limit}, candidates)
			runs := 1
			if c.another {
				runs++
			}
			assert.Len(t, others, runs)
			assert.Equal(t, b.service.Program.EvaluationTimeout, others[0], "the unchanged files have the program's limit")
		})
	}
}

// TestPairsSayHowLongTheyTake: while pairs are measured, each step says which pair
// it is and how long the stage still takes.
func TestPairsSayHowLongTheyTake(t *testing.T) {
	t.Parallel()
	b := newBed(t, "evaluation-runs: 8", "1", "3")
	b.noise = []string{"0", "0.1", "-0.1", "0.05"}
	var said []string
	b.service.Progress = func(step Step) {
		if step.Minor && strings.HasPrefix(step.Detail, "pairs, pair ") {
			said = append(said, step.Detail)
		}
	}
	require.Equal(t, history.Accepted, b.one().Outcome)
	require.Len(t, said, 16)
	assert.Regexp(t, `^pairs, pair 1 of 8, (incumbent|candidate), about 16 s left$`, said[0])
	assert.Regexp(t, `^pairs, pair 8 of 8, (incumbent|candidate), about 1 s left$`, said[15])
}

// TestAHeldGainIsInTheEstimate: the runs by which a gain is checked that is too good
// count when the repeats are compared with timeout-minutes.
func TestAHeldGainIsInTheEstimate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		takes   time.Duration // one run
		refused bool
	}{
		"pairs and check fit":         {14 * time.Second, false},
		"the pairs fit without check": {16 * time.Second, true},
		"not even the pairs fit":      {17 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, "evaluation-runs: 8\ntimeout-minutes: 10", "1", "3")
			b.noise = []string{"0", "0.1", "-0.1", "0.05"}
			b.run = func(evaluation.Request, string) evaluation.Result { return evaluation.Result{Duration: c.takes} }
			got := b.one()
			assert.Equal(t, c.refused, got.Outcome == history.Error, got.Reasons)
			if c.refused {
				assert.Contains(t, got.Reasons[0], " minutes (39 runs of ")
			}
		})
	}
}
