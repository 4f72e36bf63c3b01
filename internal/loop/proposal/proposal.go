package proposal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/process"
)

// Proposal is what one iteration asks to have recorded: what changed, what was
// measured, and what was decided, under which rule and why. It is the only value
// that passes from proposing to recording. Between two jobs it travels as a
// Bundle; within one job it is handed over as it is.
type Proposal struct {
	Manifest
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
	p.Checked.Durations, p.Checked.Evaluation = p.Decided.Durations, p.Decided.Evaluation
	p.Decided, p.Measured = nil, nil
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

// Decode reads a bundle and checks its form. It refuses events that no proposal
// has, events in another order, and events of another run or iteration. Fields
// that only the recording job may set are dropped, and the masker's secrets are
// removed from texts, and reasons say who gave them. Whether the proposal may be
// recorded is not checked here.
func Decode(b Bundle, masker process.Masker) (*Proposal, error) {
	log, err := history.Parse(b.Events)
	if err != nil {
		return nil, Refuse("its events cannot be read: %v", err)
	}
	if len(log.Events) > maxEventCount {
		return nil, Refuse("it has %d events, more than %d", len(log.Events), maxEventCount)
	}
	p := &Proposal{Manifest: b.Manifest}
	if len(b.Change) > 0 {
		if err := json.Unmarshal(b.Change, &p.Files); err != nil {
			return nil, Refuse("its changed files cannot be read: %v", err)
		}
	}
	for _, e := range log.Events {
		if run := e.Header().Run; run != b.Run {
			return nil, Refuse("it has events of run %.40q, and is of run %.40q", run, b.Run)
		}
		sanitize(e)
		if err := cmp.Or(p.add(e), clean(e, masker)); err != nil {
			return nil, err
		}
	}
	if p.Kept() != (b.Candidate != "") {
		return nil, Refuse("its decision and its candidate contradict each other")
	}
	switch {
	case p.Kind == Fix && p.Checked == nil && p.Postponed == nil:
		return nil, Refuse("it does not say what CI had found")
	case p.Decided == nil && len(p.Measured) > 0:
		return nil, Refuse("it decides nothing")
	}
	return p, nil
}

// baselineRoles are the roles of a baseline's measurements, in their order.
var baselineRoles = [...]history.Role{history.Baseline, history.Incumbent}

// add takes the next event.
func (p *Proposal) add(e history.Event) error {
	if p.Decided != nil || p.Postponed != nil {
		return Refuse("it has events after its last")
	}
	iteration, first, err := p.Iteration, p.Checked == nil && len(p.Measured) == 0, error(nil)
	switch e := e.(type) {
	case *history.Measured:
		if e.Stage == "" && e.Role != history.Candidate && p.Kind != Fix && len(p.Measured) == 0 {
			iteration--
			if len(p.Baseline) == len(baselineRoles) || e.Role != baselineRoles[len(p.Baseline)] {
				return Refuse("its baseline has a measurement of the wrong role")
			}
			p.Baseline, err = append(p.Baseline, e), matchesRuns(e)
		} else {
			err = p.addMeasured(e)
		}
	case *history.Proposed:
		if p.Kind == Fix {
			return misplaced(e)
		}
		for _, other := range history.Of[*history.Proposed](p.Measured) {
			if other.Proposal == e.Proposal {
				return Refuse("it has two proposals with the number %d", e.Proposal)
			}
		}
		p.Measured = append(p.Measured, e)
	case *history.Decided:
		p.Decided = e
	case *history.Checked:
		if p.Kind != Fix || !first {
			return misplaced(e)
		}
		p.Checked = e
	case *history.Finished:
		if e.NotBefore == nil || !first {
			return misplaced(e)
		}
		p.Postponed = e
	default:
		return misplaced(e)
	}
	if h := e.Header(); err == nil && h.Iteration != iteration {
		return Refuse("it has an event of iteration %d, and is of %d", h.Iteration, p.Iteration)
	}
	return err
}

func misplaced(e history.Event) error {
	return Refuse("it has an event %.40q, which no proposal makes there", history.KindOf(e))
}

// addMeasured takes a measurement of a trial. There is one of each side, stage and
// candidate: of two, one would decide and people would see the other.
func (p *Proposal) addMeasured(e *history.Measured) error {
	if e.Role != history.Candidate && (e.Role == history.Baseline || e.Stage == "") {
		return misplaced(e)
	}
	if !takenBy(e.Role, e.Stage) {
		return Refuse("it has a measurement of the stage %.40q, which does not exist", e.Stage)
	}
	for _, m := range history.Of[*history.Measured](p.Measured) {
		if m.Proposal == e.Proposal && m.Role == e.Role && m.Stage == e.Stage {
			return Refuse("it has two measurements of the %s (%s)", e.Role, e.Stage)
		}
	}
	p.Measured = append(p.Measured, e)
	return matchesRuns(e)
}

// takenBy reports whether a role is measured in a stage of a trial.
func takenBy(role history.Role, stage decision.Stage) bool {
	switch role {
	case history.Incumbent, history.Candidate:
		return slices.Contains([]decision.Stage{
			"", decision.Once, decision.Again, decision.Pairs,
			decision.Confirmation,
		}, stage)
	case history.Emptied, history.Garbled:
		return stage == decision.Held
	default:
		return false
	}
}
