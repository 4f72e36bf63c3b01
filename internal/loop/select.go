package loop

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
)

// selectAttempt puts the attempt last that decides the iteration: the best of those that
// passed, else the one that came closest. Of equals the first wins.
func (r *run) selectAttempt(all []*attempt) []*attempt {
	best := slices.MinFunc(all, r.compare)
	for _, a := range all {
		if a != best && a.Outcome == history.Accepted {
			a.end(history.Rejected, append(
				[]decision.Reason{{Kind: decision.BetterProposal, Count: best.Proposal, Value: best.Metric}},
				a.Reasons...)...)
		}
	}
	return append(slices.DeleteFunc(all, func(a *attempt) bool { return a == best }), best)
}

// compare orders attempts, the one that decides first.
func (r *run) compare(a, b *attempt) int {
	by := cmp.Compare(rank(a), rank(b))
	if by != 0 || a.Metric == nil || b.Metric == nil {
		return by
	}
	return r.Program.Direction.Compare(*a.Metric, *b.Metric)
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
func others(p *Proposal) []decision.Reason {
	list := []decision.Reason{decision.ProposalDecided.Counts(p.Number())}
	for _, e := range p.Proposed {
		if e.Proposal != p.Number() {
			list = append(list, decision.Reason{
				Kind: decision.OtherProposal, Count: e.Proposal, Path: e.Agent, Term: string(e.Outcome), Value: e.Metric,
				Because: atMost(e.Reasons, 1),
			})
		}
	}
	list[0].Of = len(list)
	switch more := len(list) - 1 - maxOthers; {
	case len(list) == 1:
		return nil
	case more > 0:
		list = append(list[:1+maxOthers], decision.MoreProposals.Counts(more))
	}
	return list
}

// title names an attempt in the progress.
func (a *attempt) title() string {
	if a.of < 2 {
		return a.Agent
	}
	return fmt.Sprintf("%d of %d: %s", a.Proposal, a.of, a.Agent)
}

// together is what all attempts of the iteration did: the deciding one's work, with what
// all used. What is unknown of one is unknown of all; the tuner uses nothing. It took as long
// as the longest proposal, since they are made at the same time, and all the trials.
func together(all []*attempt) history.Work {
	work := all[len(all)-1].Work
	work.Usage, work.Durations = nil, map[string]float64{}
	for _, a := range all {
		for stage, seconds := range a.Durations {
			if stage == "measure" {
				work.Durations[stage] += seconds
			} else {
				work.Durations[stage] = max(work.Durations[stage], seconds)
			}
		}
		switch {
		case tunes(a):
		case work.Usage == nil:
			work.Usage = a.Usage
		default:
			work.Usage = new(work.Usage.Add(*a.Usage))
		}
	}
	work.Usage = cmp.Or(work.Usage, all[len(all)-1].Usage)
	return work
}

func atMost[T any](list []T, most int) []T { return list[:min(len(list), most)] }

// maxChanged is how many changed paths an event names.
const maxChanged = 100
