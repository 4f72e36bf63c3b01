package history

// proposed takes one of several candidates over.
func (b *Summary) proposed(e *Proposed) {
	b.Proposals = append(b.Proposals, e)
	b.proposals.add(e.spent())
	b.try(e.Iteration, e.Outcome, e.Evaluator, e.Digest)
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
