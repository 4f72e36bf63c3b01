package iterate

import (
	"context"
	"slices"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/bundle"
	"github.com/org/autoloop/internal/gate"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/ledger"
)

// handed is what the events of a bundle say.
type handed struct {
	zero     []ledger.Event // the measurements of a new baseline
	measured []ledger.Event // those of the proposals, and the proposals
	decided  *ledger.Event  // nil when the baseline ended the program
	attempt  *attempt       // what decided says; never nil
}

// unpack reads the events of a bundle. Kinds that a proposal does not make, and
// an order that it does not make them in, are refused.
func unpack(from bundle.Bundle) (*handed, error) {
	log, err := ledger.Parse(from.Events)
	if err != nil {
		return nil, refuse("its events cannot be read: %v", err)
	}
	h := &handed{attempt: &attempt{}}
	for _, e := range log.Events {
		switch {
		case h.decided != nil:
			return nil, refuse("it has events after the decision")
		case e.Kind == ledger.Measured && (e.Role == ledger.Baseline || e.Role == ledger.Incumbent && e.Stage == "" && len(h.zero) == 1 && len(h.measured) == 0):
			h.zero = append(h.zero, e)
		case e.Kind == ledger.Measured:
			h.measured = append(h.measured, e)
		case e.Kind == ledger.Proposed:
			h.measured = append(h.measured, e)
			h.attempt.others = append(h.attempt.others, &attempt{notes: notesOf(e)})
		case e.Kind == ledger.Decided:
			h.decided = &e
		default:
			return nil, refuse("it has an event %.40q, which no proposal makes", e.Kind)
		}
	}
	if h.decided != nil {
		h.attempted(*h.decided)
	}
	if h.kept() != (from.Candidate != "") {
		return nil, refuse("its decision and its patch contradict each other")
	}
	return h, nil
}

// attempted fills in the attempt from the decision.
func (h *handed) attempted(e ledger.Event) {
	a := h.attempt
	a.outcome, a.reasons, a.noisy, a.rule, a.notes = e.Outcome, e.Reasons, e.Noisy, e.Rule, notesOf(e)
	a.agent = recorded{e.Agent}
	a.reply = agent.Reply{Summary: e.Summary, Model: e.Model, Params: e.Params}
	if e.Verdict == "" {
		return
	}
	verdict := gate.Verdict(e.Verdict)
	a.verdict = &verdict
	a.decision = gate.Decision{Verdict: verdict, Metric: e.Metric, Previous: e.PreviousBest, Best: e.Best, Delta: e.Delta, Evidence: e.Evidence}
}

func (h *handed) kept() bool { return h.decided != nil && h.decided.Outcome == ledger.Accepted }

// fits holds what was handed on against the program as it is here.
func (h *handed) fits(r *run, at position) error {
	if needs := r.needsBaseline(at); needs != "" && len(h.zero) == 0 && (h.decided == nil || h.decided.Outcome != ledger.Error) {
		return refuse("it has no baseline: %s", needs)
	}
	for i, e := range h.zero {
		if e.Metric == nil || i == 0 && (e.Role != ledger.Baseline || e.Evaluator != at.identity.Evaluator || e.Definition != at.identity.Definition) {
			return refuse("its baseline is of another evaluation than the program's")
		}
	}
	if len(h.zero) > 2 || len(h.zero) > 0 && (len(h.zero) == 2) != (at.Head != at.Base) {
		return refuse("its baseline is not of these commits")
	}
	e := h.decided
	switch {
	case e == nil || e.Outcome == ledger.Error:
		return nil
	case !slices.Contains([]ledger.Outcome{ledger.Accepted, ledger.Rejected}, e.Outcome):
		return refuse("its outcome is %.40q, which no proposal has", e.Outcome)
	case e.Evaluator != at.identity.Evaluator || e.Definition != at.identity.Definition:
		return refuse("it was measured by another evaluation than the program's")
	case !h.kept():
		return nil
	case e.Verdict != string(gate.Improved) || e.Metric == nil || e.PreviousBest == nil || e.Best == nil || e.Best.String() != e.Metric.String():
		return refuse("it is accepted without an improvement")
	case !r.Program.Direction.Better(*e.Metric, *e.PreviousBest):
		return refuse("%s is no improvement on %s", e.Metric, e.PreviousBest)
	}
	return nil
}

// decision is the decision as these books have it.
func (h *handed) decision(r *run, b *books, at position, commit string) (ledger.Event, error) {
	e := *h.decided
	e.Iteration, e.Parent, e.Commit = r.iteration, at.Head, commit
	e.Lease, e.NotBefore, e.Reason, e.Key, e.Value, e.Branch = nil, nil, "", "", "", ""
	e.Direction, e.Target, e.Changed = r.Program.Direction, r.target(b), e.Changed[:min(len(e.Changed), 100)]
	if commit == "" {
		e.Best = b.sum.Best
		return e, nil
	}
	if !e.Noisy && (b.sum.Best == nil || e.PreviousBest.String() != b.sum.Best.String()) {
		return e, refuse("it was compared with %s, and the best is another", e.PreviousBest)
	}
	return e, nil
}

// changes are the files that differ between the incumbent and a candidate's
// tree, as the guard sees them.
func (r *run) changes(ctx context.Context, incumbent, candidate string) ([]gate.Change, error) {
	found, err := r.Repo.Changes(ctx, incumbent, candidate)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	paths := make([]string, len(found))
	for i, c := range found {
		paths[i] = c.Path
	}
	sized, err := r.Repo.LsFiles(ctx, candidate, paths...)
	if err != nil {
		return nil, err
	}
	sizes := map[string]int64{}
	for _, entry := range sized {
		sizes[entry.Path] = entry.Size
	}
	changes := make([]gate.Change, len(found))
	for i, c := range found {
		changes[i] = gate.Change{
			Path: c.Path, Kind: kindOf(c), OldMode: c.OldMode, NewMode: c.NewMode, NewBlob: c.NewID, Size: sizes[c.Path],
		}
		changes[i].Refused = refused(changes[i])
	}
	return changes, nil
}

// maxFile is the largest file of a candidate in bytes.
const maxFile = 10 << 20

// refused says why a candidate may not have a file, whatever the target is.
func refused(c gate.Change) string {
	switch {
	case c.NewMode != "" && c.NewMode != git.ModeFile && c.NewMode != git.ModeExecutable:
		return "is no regular file, which no bundle may bring"
	case c.Size > maxFile:
		return "is larger than 10 MB"
	default:
		return ""
	}
}

func kindOf(c git.Change) gate.Kind {
	switch {
	case c.OldMode == "":
		return gate.Added
	case c.NewMode == "":
		return gate.Deleted
	case c.OldMode[:3] != c.NewMode[:3]:
		return gate.Type
	case c.OldID == c.NewID:
		return gate.Mode
	default:
		return gate.Modified
	}
}
