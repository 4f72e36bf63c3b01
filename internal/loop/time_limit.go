package loop

import (
	"fmt"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
)

const (
	// patience is how many times as long as the unchanged files a candidate's
	// evaluation may take, and leastTimeLimit what it always may.
	patience       = 10
	leastTimeLimit = time.Minute
	// clearlyLonger is how many times as long as the unchanged files an evaluation
	// must have taken for the candidate alone to be to blame.
	clearlyLonger = 3
)

// timeLimit bounds one run of a candidate's evaluation: by the program's own
// limit, or by how long the unchanged files take. 0 is the program's.
func (r *journal) timeLimit() time.Duration {
	seconds := r.records.sum.Seconds
	if r.Program.TimeLimitGiven || seconds <= 0 {
		return 0
	}
	return max(leastTimeLimit, history.Seconds(patience*seconds).Round(time.Second))
}

// hangs reports whether a run that was ended for its time took so much longer than
// the unchanged files that they need not be measured beside it.
func (r *journal) hangs(took time.Duration) bool {
	seconds := r.records.sum.Seconds
	return seconds > 0 && took.Seconds() >= clearlyLonger*seconds
}

// timeLeft is how long a stage still takes when its runs go on as they did, in
// words; "" when it is not known.
func (m *measurement) timeLeft(step decision.Step) string {
	runs, seconds := 0, 0.0
	for _, taken := range m.taken {
		runs, seconds = runs+taken.runs, seconds+taken.seconds
	}
	each := m.records.sum.Seconds
	if runs > 0 {
		each = seconds / float64(runs)
	}
	left := history.Seconds(each * float64(2*step.Of-runs))
	switch {
	case left <= 0:
		return ""
	case left < 90*time.Second:
		return fmt.Sprintf(", about %d s left", max(1, int(left.Round(time.Second).Seconds())))
	default:
		return fmt.Sprintf(", about %d min left", int(left.Round(time.Minute).Minutes()))
	}
}
