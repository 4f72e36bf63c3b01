package proposal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
)

// Proposal is what one iteration asks to have recorded: what changed, what was
// measured, and what was decided, under which rule and why. It is the only value
// that passes from proposing to recording. Between two jobs it travels as a
// Bundle; within one job it is handed over as it is.
type Proposal struct {
	Manifest
	// ID is the digest of the bundle that it came from, "" within one job.
	ID string
	// Baseline holds the measurements of the unchanged files, the default
	// branch's first; empty when the recorded baseline still holds.
	Baseline []*history.Measured
	// Measured holds the measurements of the candidates, and a Proposed event for
	// each candidate when there were several.
	Measured []history.Event
	// Checked is what CI found, in a Fix.
	Checked *history.Checked
	// Decided is the decision with its rule and reasons; nil when the baseline
	// ended the run, when the iteration was postponed, and for a fix that failed.
	Decided *history.Decided
	// Postponed says until when the agent's service refused to work.
	Postponed *history.Finished
	// Files turn the incumbent into the candidate. They are set only in a bundle:
	// within one job the tree Candidate exists.
	Files []File
	// Transcript is the local file with what the agent printed, "" for none. It
	// does not travel.
	Transcript string
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
	return p.Decided != nil && (p.Decided.Outcome == history.Accepted || p.Decided.Outcome == history.PendingCI)
}

// FailFix turns a fix that cannot be recorded into a failed attempt, with what it
// used.
func (p *Proposal) FailFix(problem decision.Reason) {
	p.Checked.Failed, p.Checked.Agent, p.Checked.Usage = &problem, p.Decided.Agent, p.Decided.Usage
	p.Checked.Durations, p.Checked.Evaluation, p.Decided = p.Decided.Durations, p.Decided.Evaluation, nil
}

// Number is the number of the candidate that decides; an only one is the first.
func (p *Proposal) Number() int {
	if p.Decided == nil {
		return 1
	}
	return max(p.Decided.Proposal, 1)
}

// Events are all events in the order of the ledger.
func (p *Proposal) Events() []history.Event {
	var events []history.Event
	for _, e := range p.Baseline {
		events = append(events, e)
	}
	if p.Checked != nil {
		events = append(events, p.Checked)
	}
	events = append(events, p.Measured...)
	if p.Decided != nil {
		events = append(events, p.Decided)
	}
	if p.Postponed != nil {
		events = append(events, p.Postponed)
	}
	return events
}

// Bundle renders the proposal for another job, as events of its run and of now.
func (p *Proposal) Bundle(now time.Time) (Bundle, error) {
	var text bytes.Buffer
	for _, e := range p.Events() {
		line, err := history.Line(history.Stamp(e, p.Run, now))
		if err != nil {
			return Bundle{}, err
		}
		text.Write(line)
	}
	b := Bundle{Manifest: p.Manifest, Events: text.Bytes()}
	if len(p.Files) > 0 {
		var err error
		if b.Change, err = json.Marshal(p.Files); err != nil {
			return Bundle{}, fmt.Errorf("write the changed files: %w", err)
		}
	}
	return b, nil
}

// RefusedError says why a proposal is not recorded. Nothing was changed.
type RefusedError struct{ Reason string }

// Error returns the reason.
func (e *RefusedError) Error() string {
	return "the bundle is refused: " + e.Reason
}

// Refuse returns a *RefusedError.
func Refuse(format string, args ...any) error {
	return &RefusedError{fmt.Sprintf(format, args...)}
}
