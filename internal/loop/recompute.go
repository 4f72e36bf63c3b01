package loop

import (
	"encoding/json"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
)

// decision is the decision that was handed on as these books have it. It is
// computed again from its measurements, by the program's own rule, and refused
// when it comes out otherwise.
func (h *handed) decision(r *run, b *records, at position, commit string) (history.Event, error) {
	e := *h.decided
	e.Parent, e.Commit, e.Direction, e.Target = at.Head, commit, r.Program.Direction, r.target(b)
	e.Changed = e.Changed[:min(len(e.Changed), 100)]
	if h.kept() {
		e.Changed, e.Digest = h.attempt.changed[:min(len(h.attempt.changed), 100)], h.attempt.digest
	}
	if e.Verdict == "" {
		e.Metric, e.PreviousBest, e.Best, e.Delta, e.Evidence = nil, b.sum.Best, b.sum.Best, "", nil
		return e, nil
	}
	return e, h.repeat(r, b, e)
}

// repeat computes the decision again.
func (h *handed) repeat(r *run, b *records, e history.Event) error {
	if r.Program.Evaluation == program.Tasks {
		return h.ofSuite(b, e)
	}
	if !sameRule(e.Rule, history.RuleOf(r.rule())) {
		return refuse("it was decided by another rule than the program's")
	}
	var measured []history.Event
	for _, m := range h.measured {
		if m.Kind == history.Measured {
			measured = append(measured, m)
		}
	}
	if wrong := audit.Decision(decision.Known(), b.sum, measured, e); len(wrong) > 0 {
		return refuse("its measurements do not bear its decision: %s", wrong[0])
	}
	return nil
}

// ofSuite holds the verdict of a suite against its numbers, as far as they say
// it: the comparison task by task is the proposing job's.
func (h *handed) ofSuite(b *records, e history.Event) error {
	best := b.sum.Best
	if e.Verdict == string(decision.Improved) {
		best = e.Metric
	}
	last := len(h.measured) - 1
	for last >= 0 && (h.measured[last].Kind != history.Measured || h.measured[last].Proposal != e.Proposal) {
		last--
	}
	switch {
	case e.Rule != nil || len(e.Evidence) > 0:
		return refuse("it was decided by another rule than the program's")
	case (e.Outcome == history.Rejected) == (e.Verdict == string(decision.Improved)) || optional(e.Best) != optional(best):
		return refuse("its verdict and its outcome contradict each other")
	case last < 0 || optional(h.measured[last].Metric) != optional(e.Metric):
		return refuse("its metric is not what was measured")
	case e.Metric != nil && e.Delta != metric.Delta(*e.Metric, e.PreviousBest):
		return refuse("its delta is not that of its metrics")
	}
	return nil
}

// sameRule reports whether a decision was made by the program's rule, in
// whatever version: the other job may have been an older one.
func sameRule(have *history.Rule, want history.Rule) bool {
	if have == nil {
		return false
	}
	want.Version = have.Version
	a, err := json.Marshal(have)
	if err != nil {
		return false
	}
	b, err := json.Marshal(want)
	return err == nil && string(a) == string(b)
}
