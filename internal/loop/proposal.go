package loop

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/process"
)

// Proposal is what one iteration asks to have recorded: what changed, what was
// measured, and what was decided, under which rule and why. It is the only value
// that passes from proposing to recording. Between two jobs it travels as a
// bundle; within one job it is handed over as it is.
type Proposal struct {
	Manifest
	// Baseline holds the measurements of the unchanged files, the default
	// branch's first; empty when the recorded baseline still holds.
	Baseline []*history.Measured `json:"baseline,omitempty"`
	// Measured holds the measurements of the candidates, one after the other, and
	// Proposed what became of each when there were several.
	Measured []*history.Measured `json:"measured,omitempty"`
	Proposed []*history.Proposed `json:"proposed,omitempty"`
	// Checked is what CI found, in a Fix.
	Checked *history.Checked `json:"checked,omitempty"`
	// Decided is the decision with its rule and reasons; nil when the baseline
	// ended the run, when the iteration was postponed, and for a fix that failed.
	Decided *history.Decided `json:"decided,omitempty"`
	// Postponed says until when the agent's service refused to work.
	Postponed *history.Finished `json:"postponed,omitempty"`
	// Files turn the incumbent into the candidate. They are set only in a bundle:
	// within one job the tree Candidate exists.
	Files []File `json:"files,omitempty"`
	// ID is the digest of a bundle's file.
	ID string `json:"-"`
}

// Executor is who worked on the suite that measured, as the events say, or nil
// for other suites.
func (p *Proposal) Executor() *history.Executor {
	switch {
	case len(p.Baseline) > 0:
		return p.Baseline[0].Executor
	case p.Decided != nil:
		return p.Decided.Executor
	default:
		return nil
	}
}

// Kept reports whether the candidate goes onto the program branch.
func (p *Proposal) Kept() bool {
	return p.Decided != nil && history.Promoted(p.Decided)
}

// FailFix turns a fix that cannot be recorded into a failed attempt, with what it
// used.
func (p *Proposal) FailFix(problem decision.Reason) {
	p.Checked.Failed, p.Checked.Agent, p.Checked.Usage = &problem, p.Decided.Agent, p.Decided.Usage
	p.Checked.Durations, p.Checked.Evaluation = p.Decided.Durations, p.Decided.Evaluation
	p.Decided, p.Measured, p.Proposed = nil, nil, nil
}

// Number is the number of the candidate that decides; an only one is the first.
func (p *Proposal) Number() int {
	if p.Decided == nil {
		return 1
	}
	return max(p.Decided.Proposal, 1)
}

// Events are all events, in the order of the ledger.
func (p *Proposal) Events() []history.Event {
	var events []history.Event
	for _, e := range p.Baseline {
		events = append(events, e)
	}
	if p.Checked != nil {
		events = append(events, p.Checked)
	}
	for _, e := range p.Measured {
		events = append(events, e)
	}
	for _, e := range p.Proposed {
		events = append(events, e)
	}
	if p.Decided != nil {
		events = append(events, p.Decided)
	}
	if p.Postponed != nil {
		events = append(events, p.Postponed)
	}
	return events
}

// RefusedError says why a proposal is not recorded. Nothing was changed.
type RefusedError struct{ Reason string }

// Error returns the reason.
func (e *RefusedError) Error() string {
	return "the bundle is refused: " + e.Reason
}

// refuse returns a *RefusedError.
func refuse(format string, args ...any) error {
	return &RefusedError{fmt.Sprintf(format, args...)}
}

// Sanitize takes from a proposal of another job what only the recording job may say, the
// masker's secrets from its texts, and says of its reasons who gave them. It refuses what no
// proposal has. Whether it may be recorded is not checked here.
func (p *Proposal) Sanitize(masker process.Masker) error {
	fix, several := p.Kind == forFix, len(p.Measured)+len(p.Proposed) > 0
	switch {
	case slices.Contains(p.Baseline, nil), slices.Contains(p.Measured, nil), slices.Contains(p.Proposed, nil):
		return refuse("it has an empty event")
	case len(p.Baseline)+len(p.Measured)+len(p.Proposed) > maxEventCount:
		return refuse("it has more than %d events", maxEventCount)
	case p.Kept() != (p.Candidate != ""):
		return refuse("its decision and its candidate contradict each other")
	case fix && p.Checked == nil && p.Postponed == nil:
		return refuse("it does not say what CI had found")
	case p.Decided == nil && several:
		return refuse("it decides nothing")
	case fix && len(p.Baseline)+len(p.Proposed) > 0, !fix && p.Checked != nil,
		p.Postponed != nil && (p.Postponed.NotBefore == nil || p.Decided != nil || p.Checked != nil):
		return refuse("it has an event which no proposal makes there")
	}
	for _, e := range p.Events() {
		if err := p.clean(e, masker); err != nil {
			return err
		}
	}
	for _, e := range slices.Concat(p.Baseline, p.Measured) {
		if err := matchesRuns(e); err != nil {
			return err
		}
	}
	for i, e := range p.Baseline {
		if i > 1 || e.Role != [...]decision.Side{history.Baseline, history.Incumbent}[i] || e.Stage != "" {
			return refuse("its baseline has a measurement of the wrong role")
		}
	}
	seen := map[string]bool{} // of two, one would decide and people would see the other
	twice := func(key string) bool {
		was := seen[key]
		seen[key] = true
		return was
	}
	for _, e := range p.Proposed {
		if twice(strconv.Itoa(e.Proposal)) {
			return refuse("it has two proposals with the number %d", e.Proposal)
		}
	}
	for _, e := range p.Measured {
		if !slices.Contains(stages[e.Role], e.Stage) {
			return refuse("it has a measurement of the stage %.40q, which does not exist", e.Stage)
		}
		if twice(fmt.Sprint(e.Proposal, e.Role, e.Stage)) {
			return refuse("it has two measurements of the %s (%s)", e.Role, e.Stage)
		}
	}
	return nil
}

// stages are those of a trial in which each role is measured.
var stages = map[decision.Side][]decision.Stage{
	history.Incumbent: {decision.Once, decision.Again, decision.Pairs, decision.Confirmation},
	history.Candidate: {"", decision.Once, decision.Again, decision.Pairs, decision.Confirmation},
	decision.Emptied:  {decision.Held}, decision.Garbled: {decision.Held},
}
