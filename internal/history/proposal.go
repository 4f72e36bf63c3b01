package history

import "github.com/org/autoloop/internal/metric"

// Proposal is one of several candidates of an iteration.
type Proposal struct {
	Iteration int
	// Number counts the proposals of an iteration from 1.
	Number  int
	Outcome Outcome
	// PreviousBest is what Metric was compared with, Deviation the standard error
	// of the difference; 0 when they were not measured in pairs.
	Metric, PreviousBest *metric.Value
	Deviation            float64

	Agent      string
	Summary    string
	Definition string
	Evaluator  string
	Params     map[string]metric.Value
	// Digest identifies the change; Patch is the change against commit Parent,
	// "" when it was not kept.
	Digest, Patch, Parent string
}

// proposed takes one of several candidates over. A repeated line replaces the first.
func (b *Summary) proposed(e *Proposed) {
	p := Proposal{
		Iteration: e.Iteration, Number: e.Proposal, Outcome: e.Outcome, Metric: e.Metric, PreviousBest: e.PreviousBest, Agent: e.Agent, Summary: e.Summary,
		Definition: e.Definition, Evaluator: e.Evaluator, Params: e.Params, Digest: e.Digest, Patch: e.Patch, Parent: e.Parent,
		Deviation: deviation(e.Evidence),
	}
	b.Proposals = append(b.Proposals, p)
	b.known.add(e.Usage)
	if _, worked := e.Durations[propose]; worked {
		b.known.lack(e.Agent, e.Usage)
	}
	b.try(e.Iteration, e.Outcome, e.Evaluator, e.Digest)
}

// deviation is the standard error of the difference that was decided about: that
// of the last comparison, whose medians are the event's.
func deviation(evidence []Evidence) float64 {
	if len(evidence) == 0 {
		return 0
	}
	return evidence[len(evidence)-1].Decision().Deviation()
}

// Tried names the iteration that first measured a change under the present
// evaluator.
type Tried struct {
	Iteration int
	Outcome   Outcome
}

func (b *Summary) try(iteration int, outcome Outcome, evaluator, digest string) {
	known := outcome == Accepted || outcome == Rejected || outcome == CIFixExhausted
	if digest == "" || !known || evaluator != b.Evaluator {
		return
	}
	if _, found := b.Tried[digest]; !found {
		if b.Tried == nil {
			b.Tried = map[string]Tried{}
		}
		b.Tried[digest] = Tried{iteration, outcome}
	}
}
