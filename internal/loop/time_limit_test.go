package loop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
)

// TestTimeLimitOfCandidate is ten times that of the unchanged files, at least a minute,
// unless the program says how long.
func TestTimeLimitOfCandidate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		front   string
		seconds float64
		limit   time.Duration
	}{
		"rounded to seconds":     {"", 30.04, 300 * time.Second},
		"a clock that was wrong": {"", -3, 0},
		"the program says more":  {"evaluation-timeout: 2h", 30, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := journalOf(t, c.front)
			j.records.sum.Seconds = c.seconds
			assert.Equal(t, c.limit, j.timeLimit())
		})
	}
}

// TestHangingEvaluation took three times as long as the unchanged files, where that is known.
func TestHangingEvaluation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		seconds float64
		took    time.Duration
		hangs   bool
	}{
		{20, time.Minute, true},
		{20, time.Minute - time.Millisecond, false},
		{20, time.Hour, true},
		{20, 0, false},
		{0, time.Hour, false},
	} {
		j := journalOf(t, "")
		j.records.sum.Seconds = c.seconds
		assert.Equal(t, c.hangs, j.hangs(c.took), "%v", c)
	}
}

// TestRemainingTime is that of the runs which a stage still has, as long as those
// that it had, before them as long as at the baseline.
func TestRemainingTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		baseline float64
		runs     int
		seconds  float64 // of them together
		of       int
		says     string
	}{
		"nothing is known":       {0, 0, 0, 8, ""},
		"from the baseline":      {3, 0, 0, 8, ", about 48 s left"},
		"just below":             {3, 6, 53.3, 8, ", about 89 s left"},
		"from ninety seconds on": {3, 6, 54, 8, ", about 2 min left"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := journalOf(t, "")
			j.records.sum.Seconds = c.baseline
			one, other := &samples{runs: c.runs / 2, seconds: c.seconds / 4},
				&samples{runs: c.runs - c.runs/2, seconds: c.seconds - c.seconds/4}
			m := &measurement{
				measurer: &measurer{spending: &spending{journal: j}},
				taken:    map[decision.Side]*samples{decision.Incumbent: one, decision.Candidate: other},
			}
			assert.Equal(t, c.says, m.timeLeft(decision.Step{Of: c.of}))
		})
	}
}
