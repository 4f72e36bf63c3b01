package loop

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/proposal"
	"github.com/org/autoloop/internal/metric"
)

// selectAttempt returns the attempt that decides the iteration, with the others in it:
// the best of those that passed, else the one that came closest. Of equals the
// first wins.
func (r *run) selectAttempt(all []*attempt) *attempt {
	best := slices.MinFunc(all, r.compare)
	for _, a := range all {
		if a == best {
			continue
		}
		best.others = append(best.others, a)
		if a.Outcome == history.Accepted {
			a.end(history.Rejected, append(
				[]decision.Reason{{Kind: decision.BetterProposal, Count: best.number, Value: best.Metric}},
				a.Reasons...)...)
		}
	}
	return best
}

// compare orders attempts, the one that decides first.
func (r *run) compare(a, b *attempt) int {
	if by := cmp.Compare(rank(a), rank(b)); by != 0 {
		return by
	}
	switch x, y := a.Metric, b.Metric; {
	case x == nil || y == nil:
		return 0
	case r.Program.Direction.Better(*x, *y):
		return -1
	case r.Program.Direction.Better(*y, *x):
		return 1
	}
	return 0
}

func rank(a *attempt) int {
	switch {
	case a.Outcome == history.Accepted:
		return 0
	case a.Outcome.Dropped() && a.Metric != nil:
		return 1
	case a.Outcome.Dropped():
		return 2
	default:
		return 3
	}
}

// maxOthers bounds the proposals that the reasons of an iteration speak of; the
// ledger has them all.
const maxOthers = 8

// others says what became of those that do not decide, where
// there are several proposals.
func others(p *proposal.Proposal) []decision.Reason {
	var rest []*history.Proposed
	for _, e := range history.Of[*history.Proposed](p.Measured) {
		if e.Proposal != p.Number() {
			rest = append(rest, e)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	list := []decision.Reason{{Kind: decision.ProposalDecided, Count: p.Number(), Of: len(rest) + 1}}
	for i, e := range rest {
		if i == maxOthers {
			return append(list, decision.Reason{Kind: decision.MoreProposals, Count: len(rest) - maxOthers})
		}
		list = append(list, decision.Reason{
			Kind: decision.OtherProposal, Count: e.Proposal, Path: e.Agent, Term: string(e.Outcome), Value: e.Metric,
			Because: e.Reasons[:min(len(e.Reasons), 1)],
		})
	}
	return list
}

// title names an attempt in the progress.
func (a *attempt) title() string {
	if a.of < 2 {
		return a.agent.Name()
	}
	return fmt.Sprintf("%d of %d: %s", a.number, a.of, a.agent.Name())
}

// all returns the attempts of the iteration, the others first.
func (a *attempt) all() []*attempt { return append(slices.Clone(a.others), a) }

// nameOf names the agent of an attempt. One that was never begun has the run's.
func (r *run) nameOf(a *attempt) string {
	switch {
	case a.agent != nil:
		return a.agent.Name()
	case len(r.Agents) > 0:
		return r.Agents[0].Name()
	default:
		return r.absent
	}
}

// workOf is what the agent of an attempt did.
func (r *run) workOf(a *attempt) history.Work {
	model := cmp.Or(a.reply.Model, a.model)
	if a.agent == nil && len(r.Agents) > 0 {
		model = r.Agents[0].Model
	}
	return history.Work{
		Agent: r.nameOf(a), Model: model, Summary: a.reply.Summary, Changed: atMost(a.Changed, maxChanged),
		Params: a.reply.Params, Durations: a.Durations, Usage: &a.reply.Usage,
	}
}

// proposedEvent is the event of one candidate among several.
func (r *run) proposedEvent(at position, a *attempt) *history.Proposed {
	e := &history.Proposed{
		Head: history.Head{Iteration: r.iteration}, Proposal: a.number, Outcome: a.Outcome, Reasons: a.Reasons,
		Parent: at.Head, Direction: r.Program.Direction, Evaluator: at.identity.Evaluator,
		Definition: at.identity.Definition, Digest: a.Digest, Noisy: a.Noisy, Focus: a.Focus,
		Work: r.workOf(a), Notes: a.Notes, Verdict: a.Verdict, Metric: a.Metric, PreviousBest: a.PreviousBest,
		Delta: a.Delta, Evidence: a.Evidence,
	}
	if a.Metric != nil {
		e.Patch = string(a.patch)
	}
	if from := a.lineage.parent; from != nil {
		e.GrownFrom = &history.Ancestor{Iteration: from.Iteration, Proposal: from.Proposal}
	}
	return e
}

// totalUsage is what all proposals of the iteration used. What is unknown of one
// is unknown of all; the tuner uses nothing.
func (a *attempt) totalUsage() *metric.Usage {
	var total *metric.Usage
	for _, one := range a.all() {
		switch {
		case tunes(one):
		case total == nil:
			total = &one.reply.Usage
		default:
			total = new(total.Add(one.reply.Usage))
		}
	}
	if total == nil {
		return &a.reply.Usage
	}
	return total
}

// totalDurations is how long the iteration took: the longest proposal, since
// they are made at the same time, and all the trials, one after the other.
func (a *attempt) totalDurations() map[string]float64 {
	total := maps.Clone(a.Durations)
	for _, other := range a.others {
		if seconds, worked := other.Durations["propose"]; worked {
			total["propose"] = max(total["propose"], seconds)
		}
		if measured := other.Durations["measure"]; measured > 0 {
			total["measure"] += measured
		}
	}
	return total
}

// measuredEvents are the measurements of all attempts, and an event for each
// attempt when there were several; those of the deciding one come last.
func (r *run) measuredEvents(at position, a *attempt) []history.Event {
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
func (r *run) decidedEvent(at position, a *attempt) *history.Decided {
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
func (r *run) postponed(a *attempt, until time.Time) *history.Finished {
	return &history.Finished{
		Head: history.Head{Iteration: r.iteration}, Evaluation: a.Evaluation,
		NotBefore: &until, Reason: limited(until, a.reply.Failure.Message),
		Work: history.Work{Agent: r.nameOf(a), Usage: a.totalUsage(), Durations: a.totalDurations()},
	}
}

// maxChanged is how many changed paths an event names.
const maxChanged = 100
