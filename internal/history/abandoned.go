package history

import (
	"slices"
	"time"
)

// Abandoned is a start whose run never came back.
type Abandoned struct {
	Time      time.Time
	Iteration int
	Reserved  Reserved
	// Waited says that an iteration waited for CI: at most a fix was begun.
	Waited bool
}

// WithoutOpen is what the ledger adds up to when the run of the open start, if
// there is one, never comes back. b stays as it is.
func (b *Summary) WithoutOpen() Summary {
	without := *b
	if without.Open != nil {
		without.Abandoned = slices.Clone(without.Abandoned)
		without.abandonOpen()
		without.Open = nil
	}
	return without
}

// abandonOpen counts what the open start reserved, unless its run recorded what
// became of it.
func (b *Summary) abandonOpen() {
	if b.openDecided {
		return
	}
	lost := Abandoned{Time: b.Open.Time, Iteration: b.Open.Iteration, Waited: b.waitsForCI()}
	if b.Open.Reserved != nil {
		lost.Reserved = *b.Open.Reserved
	}
	b.Abandoned = append(b.Abandoned, lost)
}

func (b *Summary) waitsForCI() bool {
	last := len(b.Attempts) - 1
	return last >= 0 && b.Attempts[last].Outcome == PendingCI
}

// abandon adds what a run that never came back may have used.
func (s *Spent) abandon(a *Abandoned) {
	if !a.Waited {
		s.Iterations++
	}
	s.Tokens += a.Reserved.Tokens
	s.Minutes = bounded(s.Minutes + a.Reserved.Minutes)
	if a.Reserved.CostUSD != nil {
		s.USD = bounded(s.USD + a.Reserved.CostUSD.Float64())
	}
}
