package loop

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
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
			assert.Contains(t, got.Reasons[0].String(), "the evaluation took longer than "+c.limit.String())
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
				assert.Contains(t, got.Reasons[0].String(), " minutes (39 runs of ")
			}
		})
	}
}

// TestTheTimeOfACandidate is ten times that of the unchanged files, at least a minute,
// unless the program says how long.
func TestTheTimeOfACandidate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		front   string
		seconds float64
		limit   time.Duration
	}{
		"not known":                  {"", 0, 0},
		"no time at all":             {"", 1e-9, time.Minute},
		"a moment":                   {"", 5.9, time.Minute},
		"just above":                 {"", 6.1, 61 * time.Second},
		"rounded to seconds":         {"", 30.04, 300 * time.Second},
		"a clock that was wrong":     {"", -3, 0},
		"the program says less":      {"evaluation-timeout: 5s", 30, 0},
		"the program says more":      {"evaluation-timeout: 2h", 30, 0},
		"an evaluation that is slow": {"", 600, 100 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := journalOf(t, c.front)
			j.records.sum.Seconds = c.seconds
			assert.Equal(t, c.limit, j.timeLimit())
		})
	}
}

// TestWhatHangs took three times as long as the unchanged files, where that is known.
func TestWhatHangs(t *testing.T) {
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

// TestTheTimeThatIsLeft is that of the runs which a stage still has, as long as those
// that it had, before them as long as at the baseline.
func TestTheTimeThatIsLeft(t *testing.T) {
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
		"from the runs so far":   {3, 4, 20, 8, ", about 60 s left"},
		"a moment":               {3, 15, 1, 8, ", about 1 s left"},
		"nothing":                {3, 16, 16, 8, ""},
		"more runs than asked":   {3, 17, 17, 8, ""},
		"just below":             {3, 6, 53.3, 8, ", about 89 s left"},
		"from ninety seconds on": {3, 6, 54, 8, ", about 2 min left"},
		"rounded to the minute":  {3, 6, 88, 8, ", about 2 min left"},
		"long":                   {3, 1, 600, 8, ", about 150 min left"},
		"runs that took no time": {3, 4, 0, 8, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := journalOf(t, "")
			j.records.sum.Seconds = c.baseline
			one, other := &samples{runs: c.runs / 2, seconds: c.seconds / 4}, &samples{runs: c.runs - c.runs/2, seconds: c.seconds - c.seconds/4}
			m := &measurement{measurer: &measurer{journal: j}, taken: map[decision.Side]*samples{decision.Incumbent: one, decision.Candidate: other}}
			assert.Equal(t, c.says, m.timeLeft(decision.Step{Of: c.of}))
		})
	}
}
