package loop

import (
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/proposal"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
)

// handed is what the events of a bundle say.
type handed struct {
	zero     []history.Event // the measurements of a new baseline
	measured []history.Event // those of the proposals, and the proposals
	decided  *history.Event  // nil when the baseline ended the program, or nothing was decided
	checked  *history.Event  // of a fix, what CI had said
	putOff   *history.Event  // until when the agent's service would not serve
	attempt  *attempt        // what decided says; never nil
}

// unpack reads the events of a bundle. Kinds that a proposal does not make, an
// order that it does not make them in, and events of another run or iteration
// are refused. Texts lose what the masker knows.
func unpack(from proposal.Bundle, masker process.Masker) (*handed, error) {
	log, err := history.Parse(from.Events)
	if err != nil {
		return nil, refuse("its events cannot be read: %v", err)
	}
	if len(log.Events) > maxHandedEvents {
		return nil, refuse("it has %d events, more than %d", len(log.Events), maxHandedEvents)
	}
	h := &handed{attempt: &attempt{}}
	for _, raw := range log.Events {
		if raw.Run != from.Run {
			return nil, refuse("it has events of run %.40q, and is of run %.40q", raw.Run, from.Run)
		}
		e, err := sanitize(raw)
		if err != nil {
			return nil, err
		}
		if err := h.take(from, masked(e, masker)); err != nil {
			return nil, err
		}
	}
	if h.decided != nil {
		h.attempted(*h.decided)
	}
	if h.kept() != (from.Candidate != "") {
		return nil, refuse("its decision and its patch contradict each other")
	}
	return h, h.complete(from)
}

// take adds the next event.
func (h *handed) take(from proposal.Bundle, e history.Event) error {
	iteration, fix := from.Iteration, from.Kind == proposal.Fix
	switch {
	case h.decided != nil || h.putOff != nil:
		return refuse("it has events after its last")
	case e.Kind == history.Measured && e.Stage == "" && e.Role != history.Candidate && !fix && len(h.measured) == 0:
		if e.Role != []history.Role{history.Baseline, history.Incumbent, ""}[min(len(h.zero), 2)] {
			return refuse("its baseline is none")
		}
		iteration--
		h.zero = append(h.zero, e)
	case e.Kind == history.Measured && (e.Role == history.Candidate || e.Role == history.Incumbent && e.Stage != ""):
		if !slices.Contains([]decision.Stage{"", decision.Once, decision.Again, decision.Pairs, decision.Confirmation}, decision.Stage(e.Stage)) {
			return refuse("it has a measurement of the stage %.40q, which is none", e.Stage)
		}
		if h.has(e) {
			return refuse("it has two measurements of the %s (%s)", e.Role, e.Stage)
		}
		h.measured = append(h.measured, e)
	case e.Kind == history.Proposed && !fix:
		if h.has(e) {
			return refuse("it has two proposals with the number %d", e.Proposal)
		}
		h.measured = append(h.measured, e)
		h.attempt.others = append(h.attempt.others, &attempt{notes: notesOf(e)})
	case e.Kind == history.Decided:
		h.decided = &e
	case e.Kind == history.Checked && fix && h.checked == nil && len(h.measured) == 0:
		h.checked = &e
	case e.Kind == history.Finished && e.NotBefore != nil && h.checked == nil && len(h.measured) == 0:
		h.putOff = &e
	default:
		return refuse("it has an event %.40q, which no proposal makes there", e.Kind)
	}
	if e.Iteration != iteration {
		return refuse("it has an event of iteration %d, and is of %d", e.Iteration, from.Iteration)
	}
	return nil
}

// has says whether there is such an event of the same proposal: of two, one would
// decide and people would see the other.
func (h *handed) has(e history.Event) bool {
	return slices.ContainsFunc(h.measured, func(m history.Event) bool {
		return m.Kind == e.Kind && m.Proposal == e.Proposal && m.Role == e.Role && m.Stage == e.Stage
	})
}

// complete says what is missing.
func (h *handed) complete(from proposal.Bundle) error {
	switch {
	case from.Kind == proposal.Fix && h.checked == nil && h.putOff == nil:
		return refuse("it does not say what CI had found")
	case from.Kind == proposal.Fix && h.checked != nil && h.decided == nil && len(h.measured) > 0:
		return refuse("it decides nothing")
	case from.Kind == proposal.Iteration && h.decided == nil && len(h.measured) > 0:
		return refuse("it decides nothing")
	}
	return nil
}

// attempted fills in the attempt from the decision.
func (h *handed) attempted(e history.Event) {
	a := h.attempt
	a.outcome, a.reasons, a.noisy, a.rule, a.notes = e.Outcome, e.Reasons, e.Noisy, e.Rule, notesOf(e)
	a.agent = recorded{e.Agent}
	a.reply = agent.Reply{Summary: e.Summary, Model: e.Model, Params: e.Params}
	if e.Verdict == "" {
		return
	}
	verdict := decision.Verdict(e.Verdict)
	a.verdict = &verdict
	a.decision = decision.Decision{Verdict: verdict, Metric: e.Metric, Previous: e.PreviousBest, Best: e.Best, Delta: e.Delta}
	for _, one := range e.Evidence {
		a.decision.Evidence = append(a.decision.Evidence, one.Decision())
	}
}

// kept says that the candidate is to go onto the branch.
func (h *handed) kept() bool {
	return h.decided != nil && (h.decided.Outcome == history.Accepted || h.decided.Outcome == history.PendingCI)
}

// fits holds the baseline that was handed on against the program as it is here.
func (h *handed) fits(r *run, at position) error {
	needs := r.needsBaseline(at)
	failed := h.decided != nil && h.decided.Outcome == history.Error || h.putOff != nil
	switch {
	case needs != "" && len(h.zero) == 0 && !failed:
		return refuse("it has no baseline: %s", needs)
	case needs == "" && len(h.zero) > 0:
		return refuse("it has a baseline that nothing asks for")
	case len(h.zero) > 0 && (len(h.zero) == 2) != (at.Head != at.Base):
		return refuse("its baseline is not of these commits")
	}
	for i, e := range h.zero {
		switch {
		case e.Metric == nil || i == 0 && (e.Evaluator != at.identity.Evaluator || e.Definition != at.identity.Definition):
			return refuse("its baseline is of another evaluation than the program's")
		case r.Program.Evaluation != program.Tasks && len(e.Samples) == 0:
			return refuse("its baseline has no samples")
		case !h.zero[0].Noisy && !statistics.Same(e.Samples):
			return refuse("its baseline has different samples, and is not noisy")
		}
		if wrong := r.noBaseline(e); wrong != "" {
			return refuse("its baseline is none: %s", wrong)
		}
		h.zero[i].Reason = needs
	}
	return nil
}

// noBaseline says why measured numbers are no baseline of the program, or "".
func (r *run) noBaseline(e history.Event) string {
	if r.Program.Evaluation == program.Tasks {
		return ""
	}
	for _, sample := range e.Samples {
		if reason := r.rule().Implausible(sample); reason != "" {
			return reason
		}
	}
	for _, rail := range r.Program.Guardrails {
		if len(e.GuardrailSamples[rail.Metric]) != len(e.Samples) {
			return fmt.Sprintf("it does not have the number `%s`, which a guardrail needs", rail.Metric)
		}
	}
	return ""
}

// deciding is the number of the proposal that decides; an only one is the first.
func deciding(e history.Event) int { return max(e.Proposal, 1) }

// judged holds the decision against what is known of it without measuring.
func (h *handed) judged(at position, outcomes ...history.Outcome) error {
	e := h.decided
	switch {
	case e == nil:
		return nil
	case !slices.Contains(outcomes, e.Outcome):
		return refuse("its outcome is %.40q, which no proposal of its kind has", e.Outcome)
	case e.Outcome == history.Error && e.Verdict != "":
		return refuse("its outcome is an error with a verdict")
	case e.Outcome == history.Error:
		return nil
	case e.Evaluator != at.identity.Evaluator || e.Definition != at.identity.Definition:
		return refuse("it was measured by another evaluation than the program's")
	case h.kept() && (e.Verdict != string(decision.Improved) || e.Metric == nil):
		return refuse("it is accepted without an improvement")
	}
	for _, p := range h.measured {
		if p.Kind == history.Proposed && !slices.Contains([]history.Outcome{history.Rejected, history.Error}, p.Outcome) && (p.Proposal != deciding(*e) || !h.kept()) {
			return refuse("its proposal %d is %.40q, and another decides", p.Proposal, p.Outcome)
		}
	}
	return nil
}
