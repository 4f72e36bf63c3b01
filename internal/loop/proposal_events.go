package loop

import (
	"time"

	"github.com/org/autoloop/internal/history"
)

// measuredEvents are the measurements of all attempts, and an event for each
// attempt when there were several; those of the deciding one come last.
func (r *team) measuredEvents(at position, a *attempt) []history.Event {
	var events []history.Event
	for _, one := range a.all() {
		for _, measured := range one.measured {
			own := *measured
			if one.of > 1 {
				own.Proposal = one.number
			}
			events = append(events, &own)
		}
		if one.of < 2 && (!r.strategy().Evolves || one.agent == nil) {
			continue
		}
		events = append(events, r.proposedEvent(at, one))
	}
	return events
}

// decidedEvent is the decision on an attempt.
func (r *team) decidedEvent(at position, a *attempt) *history.Decided {
	e := a.Decided
	e.Iteration, e.Parent, e.Direction, e.Target = r.iteration, at.Head, r.Program.Direction, r.records.target()
	e.Evaluator, e.Definition, e.Executor = at.identity.Evaluator, at.identity.Definition, at.identity.Executor
	e.Work = r.workOf(a)
	e.Durations, e.Usage = a.totalDurations(), a.totalUsage()
	if a.of > 1 {
		e.Proposal = a.number
	}
	if e.Verdict == "" {
		e.PreviousBest, e.Best, e.LeavesNothing = r.records.sum.Best, r.records.sum.Best, false
	}
	return &e
}

func atMost(list []string, most int) []string { return list[:min(len(list), most)] }

// postponed says until when the agent's service refuses to work.
func (r *team) postponed(a *attempt, until time.Time) *history.Finished {
	return &history.Finished{
		Head: history.Head{Iteration: r.iteration}, Evaluation: a.Evaluation,
		NotBefore: &until, Reason: limited(until, a.reply.Failure.Message),
		Work: history.Work{Agent: r.nameOf(a), Usage: a.totalUsage(), Durations: a.totalDurations()},
	}
}

// maxChanged is how many changed paths an event names.
const maxChanged = 100
