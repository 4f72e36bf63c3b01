// Package lifecycle says what comes of what people and CI do between iterations, by where a
// program stands: one table, by which the loop acts and from which a page of the
// documentation is printed.
package lifecycle

import "cmp"

// Phase is where a program stands when something happens.
type Phase string

// The phases.
const (
	Idle          Phase = "a draft is open, or nothing"
	Ready         Phase = "ready for review"
	Waiting       Phase = "an iteration waits for CI"
	Completed     Phase = "completed"
	Paused        Phase = "paused"
	PausedWaiting Phase = "paused, and an iteration waits for CI"
)

// Event is what people or CI did since the last look, or what a run could do now. What has
// none is found by the next iteration as it begins.
type Event string

// The events. Those of CI are what it says of the commit that waits.
const (
	None       Event = ""
	Due        Event = "due"
	Gained     Event = "gained" // something is to be shown in a pull request, and none is open
	Merged     Event = "merged"
	MergedInto Event = "merged into another branch"
	Closed     Event = "closed"
	Reopened   Event = "reopened"
	Green      Event = "CI is green"
	Absent     Event = "CI does not run, and need not"
	Red        Event = "CI is red"
	Stuck      Event = "CI is red, and no agent can help"
	Pending    Event = "CI has not answered yet"
	Silent     Event = "CI never answers"
	Moved      Event = "somebody moved the branch while CI ran"
)

// Step is what happens next.
type Step string

// The steps.
const (
	Begin Step = "an iteration begins"
	Rest  Step = "nothing begins"
	AskCI Step = "CI is asked"
	Open  Step = "a pull request is opened"
	Leave Step = "the branch moves on from the default branch"
	Stay  Step = "the branch stays"
	Pause Step = "it pauses"
	GoOn  Step = "it goes on with the pull request"
	Keep  Step = "the iteration is kept"
	Drop  Step = "the iteration is not kept"
	Fix   Step = "an agent is asked to fix it"
	Wait  Step = "a later run asks again"
)

// Row is what one event comes to.
type Row struct {
	Event Event
	Next  Step
	// But are the phases in which something else comes next.
	But map[Phase]Step
	// Happens says the event in words, and the others what comes of it where a draft is
	// open and nothing runs, an iteration waits for CI, and an agent works.
	Happens, Draft, Waits, Works string
}

// Next is what an event comes to in a phase.
func Next(e Event, p Phase) Step {
	for _, row := range Table {
		if row.Event == e {
			return cmp.Or(row.But[p], row.Next)
		}
	}
	return ""
}
