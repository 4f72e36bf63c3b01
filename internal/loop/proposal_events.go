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
	sum := &r.records.sum
	e := &history.Decided{
		Head: history.Head{Iteration: r.iteration}, Outcome: a.outcome, Reasons: a.reasons, PreviousBest: sum.Best,
		Best:   sum.Best,
		Parent: at.Head, Digest: a.digest, Focus: a.focus, Direction: r.Program.Direction,
		Target: r.records.target(), Evaluator: at.identity.Evaluator, Definition: at.identity.Definition,
		Executor: at.identity.Executor,
		Work:     r.workOf(a), Notes: history.Notes(a.notes),
	}
	e.Durations, e.Usage = a.totalDurations(), a.totalUsage()
	e.Noisy, e.Rule, e.Seed, e.Evaluation = a.noisy, a.rule, a.seed, a.evaluation
	if a.of > 1 {
		e.Proposal = a.number
	}
	if a.verdict != nil {
		d := &a.decision
		e.Verdict, e.Metric, e.PreviousBest, e.Best, e.Delta = d.Verdict, d.Metric, d.Previous, d.Best, d.Delta
		e.Evidence, e.Warning, e.LeavesNothing = d.Evidence, d.Warning, a.leavesNothing
	}
	return e
}

func atMost(list []string, most int) []string { return list[:min(len(list), most)] }

// postponed says until when the agent's service refuses to work.
func (r *team) postponed(a *attempt, until time.Time) *history.Finished {
	return &history.Finished{
		Head: history.Head{Iteration: r.iteration}, Evaluation: a.evaluation,
		NotBefore: &until, Reason: limited(until, a.reply.Failure.Message),
		Work: history.Work{Agent: r.nameOf(a), Usage: a.totalUsage(), Durations: a.totalDurations()},
	}
}

// maxChanged is how many changed paths an event names.
const maxChanged = 100
