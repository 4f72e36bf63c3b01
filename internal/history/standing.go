package history

import (
	"slices"
	"time"
)

// Standing is where the newest decided iteration of a program stands. It follows from
// the events alone.
type Standing struct {
	// Decision is the last decision; nil before the first.
	Decision *Decided
	// WaitsSince is when the decision's commit was recorded and pushed, in one step, or the
	// program was resumed after that.
	WaitsSince time.Time

	checked  []*Checked  // what CI found in the decision's iteration
	measured []*Measured // the candidates of the iteration that was measured last
}

// after is the standing after one more event, which must stay as it is.
func (s Standing) after(e Event) Standing {
	switch e := e.(type) {
	case *Measured:
		if e.Role == Candidate {
			if len(s.measured) > 0 && s.measured[0].Iteration != e.Iteration {
				s.measured = nil
			}
			s.measured = append(slices.Clip(s.measured), e)
		}
	case *Decided:
		if s.Decision == nil || s.Decision.Iteration != e.Iteration {
			s.checked = nil
		}
		if s.Decision == nil || s.Decision.Commit != e.Commit {
			s.WaitsSince = e.Time // the push is recorded in the same step
		}
		s.Decision = e
	case *Checked:
		if s.Decision != nil && e.Iteration == s.Decision.Iteration {
			s.checked = append(slices.Clip(s.checked), e)
		}
	case *Resumed:
		if s.Waiting() != nil {
			s.WaitsSince = e.Time
		}
	}
	return s
}

// Measured is the last measurement of a candidate, nil when it is not of the iteration that
// was measured last.
func (s Standing) Measured(iteration, proposal int) *Measured {
	for _, m := range slices.Backward(s.measured) {
		if m.Iteration == iteration && m.Proposal == proposal {
			return m
		}
	}
	return nil
}

// Failed is the end of what the evaluation printed of the candidate that was measured
// last, when that is of an iteration and failed; else "".
func (s Standing) Failed(iteration int) string {
	if m := s.last(); m.Iteration == iteration && m.Problem != "" {
		return m.Output
	}
	return ""
}

// last is the candidate that was measured last.
func (s Standing) last() *Measured {
	if last := len(s.measured) - 1; last >= 0 {
		return s.measured[last]
	}
	return &Measured{}
}

// Waiting is the decision that waits for CI, else nil. A run that only waits begins no iteration.
func (s Standing) Waiting() *Decided {
	if s.Decision == nil || s.Decision.Outcome != PendingCI {
		return nil
	}
	return s.Decision
}

// Fixes counts the attempts to fix what CI found in the decision's iteration.
func (s Standing) Fixes() int { return len(s.checked) }

// FailedBefore reports whether CI found the same failure on an earlier commit of
// the iteration: what was changed since did not help.
func (s Standing) FailedBefore(signature string) bool {
	return slices.ContainsFunc(s.checked, func(e *Checked) bool {
		return e.Commit != s.Decision.Commit && e.Signature == signature
	})
}
