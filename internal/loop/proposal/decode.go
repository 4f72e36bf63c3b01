package proposal

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/process"
)

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
	p := &Proposal{Manifest: b.Manifest, ID: b.ID}
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
