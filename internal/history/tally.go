package history

import (
	"slices"
	"strings"
)

// ConsecutiveErrors is the number of errors in a row, up to now.
func (b *Summary) ConsecutiveErrors() int {
	return b.inARow(func(o Outcome) bool { return o == Error })
}

// Dropped is how many of the last iterations since the program was resumed kept
// nothing, without a break.
func (b *Summary) Dropped() int { return b.inARow(Outcome.Dropped) }

// inARow is how many of the last outcomes since the program was resumed are so, without
// a break.
func (b *Summary) inARow(so func(Outcome) bool) int {
	count := 0
	for _, outcome := range slices.Backward(b.SinceResumed) {
		if !so(outcome) {
			return count
		}
		count++
	}
	return count
}

// Statuses returns the last ten outcomes in the words of the state file, newest
// last. That format has one word for all that was not kept, and says of what was undone
// that it was accepted.
func (b *Summary) Statuses() []string {
	var statuses []string
	if b.AdoptedStatuses != "" {
		statuses = strings.Split(b.AdoptedStatuses, ",")
	}
	for _, attempt := range b.Attempts {
		outcome := attempt.Outcome
		switch {
		case outcome.Dropped():
			outcome = Rejected
		case outcome == Undone:
			outcome = Accepted
		}
		statuses = append(statuses, string(outcome))
	}
	return statuses[max(len(statuses)-10, 0):]
}

// Count returns how many iterations ended in outcome.
func (b *Summary) Count(outcome Outcome) int {
	count := 0
	for _, attempt := range b.Attempts {
		if attempt.Outcome == outcome {
			count++
		}
	}
	return count
}

// Decided is how many iterations were decided.
func (b *Summary) Decided() int { return len(b.Attempts) }
