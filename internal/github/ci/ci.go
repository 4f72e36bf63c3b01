// Package ci reads what CI says of a commit: green, red or not known yet, held
// against the commit that the work began with. It is pure. What is missing,
// unknown or unreadable is never green.
package ci

import (
	"fmt"
	"slices"
	"strings"
)

// Check is what one part of CI says of a commit.
type Check struct {
	Name string
	// Status is queued, in_progress or completed and others; Conclusion, when
	// completed, is success, failure, neutral, skipped and others.
	Status, Conclusion string
	// Lines are what it says in words: annotations first, then its summary.
	Lines []string
}

// State is the answer in one word.
type State string

// The states.
const (
	Green   State = "green"
	Red     State = "red"
	Pending State = "pending"
)

// Verdict is a state with its reasons.
type Verdict struct {
	State   State
	Reasons []string
	// Failing are the checks that fail here and not on the base, by name.
	Failing []Check
	// Seen is how many checks there were.
	Seen int
	// Ended says that it is pending and nothing is under way: what there is was
	// cancelled, waits for a person, or fails on the base too.
	Ended bool
}

// Judge judges a commit by its checks. It is green when there is at least one
// that is good and none that is anything else; a failure that the base has too
// counts neither way. It is red when nothing is under way any more and a check
// fails that did not on the base.
func Judge(head, base []Check) Verdict {
	v := Verdict{State: Pending, Seen: len(head)}
	failed := map[string]bool{}
	for _, check := range base {
		if check.bad() {
			failed[check.Name] = true
		}
	}
	good, open, running := 0, 0, 0
	for _, check := range head {
		switch {
		case check.good():
			good++
		case check.bad() && failed[check.Name]:
			v.Reasons = append(v.Reasons, fmt.Sprintf("%s fails on the base too", check.Name))
		case check.bad():
			v.Failing = append(v.Failing, check)
		default:
			open++
			if !check.completed() {
				running++
			}
			v.Reasons = append(v.Reasons, fmt.Sprintf("%s is %s", check.Name, check.word()))
		}
	}
	slices.SortFunc(v.Failing, func(a, b Check) int { return strings.Compare(a.Name, b.Name) })
	switch {
	case open > 0:
	case len(v.Failing) > 0:
		v.State = Red
		for _, check := range v.Failing {
			v.Reasons = append(v.Reasons, fmt.Sprintf("%s fails", check.Name))
		}
	case good > 0:
		v.State = Green
	case len(head) == 0:
		v.Reasons = append(v.Reasons, "there is no check yet")
	}
	v.Ended = v.State == Pending && v.Seen > 0 && running == 0
	return v
}

func (c Check) completed() bool { return c.Status == "completed" }

func (c Check) good() bool {
	return c.completed() && slices.Contains([]string{"success", "neutral", "skipped"}, c.Conclusion)
}

// bad says that it failed for good. What was cancelled, grew stale or waits for
// a person did not fail: somebody may start it again.
func (c Check) bad() bool {
	return c.completed() && slices.Contains([]string{"failure", "timed_out", "startup_failure"}, c.Conclusion)
}

func (c Check) word() string {
	if c.completed() && c.Conclusion != "" {
		return c.Conclusion
	}
	return strings.ReplaceAll(c.Status, "_", " ")
}
