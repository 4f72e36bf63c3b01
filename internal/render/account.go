package render

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
)

// Account is what the records say of a program, to be shown.
type Account struct {
	Program *program.Program
	// Events is the ledger, Past what it adds up to, nil to find out. State is the state file.
	Events []history.Event
	Past   *history.Summary
	State  []byte
	// RunURL is the page of this run; "" for none.
	RunURL string
	// Page is the address where all that was tried is drawn; "" for none.
	Page string
	// Warnings are those of this run.
	Warnings []string
}

// Summary adds the ledger up.
func (a Account) Summary() history.Summary {
	if a.Past != nil {
		return *a.Past
	}
	return history.Replay(a.Events)
}

// Story is one iteration that was decided, with all that the records say of it.
type Story struct {
	*history.Decided // the last word on it; that may be an undo
	// Measured is what was measured for it, a baseline of its run too.
	Measured []*history.Measured
	// Seconds is how long one run of its last candidate took, Took how long the run took
	// that measured it, up to the decision; 0 for unknown.
	Seconds float64
	Took    time.Duration
	// Waited says that CI was asked, which sent it back to be fixed each time of Checked.
	Waited  bool
	Checked []*history.Checked

	began *history.Started
}

// Stories are the iterations that were decided.
func (a Account) Stories() []*Story {
	var list []*Story
	all := map[int]*Story{}
	var open *Story
	for _, event := range a.Events {
		if back := all[history.UndoneBy(event)]; back != nil && back.Decided != nil {
			own := *back.Decided
			own.Outcome, back.Decided = history.Undone, &own
		}
		number := event.Header().Iteration
		if all[number] == nil {
			all[number] = &Story{}
		}
		s := all[number]
		switch e := event.(type) {
		case *history.Started:
			s.began, open = e, s
		case *history.Measured:
			// A baseline with which its run began is recorded with the iteration before.
			if e.Stage == "" && e.Role != history.Candidate && open != nil && open.Decided == nil &&
				open.began.Run == e.Run {
				s = open
			}
			if s.Measured = append(s.Measured, e); e.Role == history.Candidate {
				s.Seconds = e.Seconds
			}
		case *history.Checked:
			s.Checked = append(s.Checked, e)
		case *history.Decided:
			if s.Decided == nil {
				list = append(list, s)
			}
			if s.Decided == nil && s.began != nil { // before CI had its say
				s.Took = e.Time.Sub(s.began.Time)
			}
			s.Decided, s.Waited = e, s.Waited || e.Outcome == history.PendingCI
		}
	}
	return list
}

// StoryOf looks an iteration up; its decision is nil when it was not decided.
func StoryOf(a Account, iteration int) Story {
	for _, s := range a.Stories() {
		if s.Iteration == iteration {
			return *s
		}
	}
	return Story{}
}

// Decided are the decisions, one an iteration, the last word on each; that may be an undo.
func (a Account) Decided() []*history.Decided {
	return lines(a.Stories(), func(s *Story) *history.Decided { return s.Decided })
}

// Pull is the number of the pull request that was opened last, as far as the
// records or a state without a ledger know it; 0 for none.
func (a Account) Pull() int {
	machine, _, err := state.ParseMachine(a.State)
	if number := a.Summary().Pull; number > 0 || err != nil {
		return number
	}
	return machine.PR
}

// EverKept says whether there may be something on the program's branch: a change
// was put onto it, or the records begin with a state of others.
func (a Account) EverKept() bool {
	return slices.ContainsFunc(a.Events, func(e history.Event) bool {
		switch e := e.(type) {
		case *history.Decided:
			return history.Promoted(e)
		case *history.Set:
			return e.Key == history.AdoptedIteration
		default:
			return false
		}
	})
}

// metric is the metric as people call it.
func (a Account) metric() string { return cmp.Or(a.Program.Metric, "metric") }

// better says which way is better.
func better(direction metric.Direction) string { return direction.String() + " is better" }

// links lead to a run and to the page where all that was tried is drawn, behind something
// else; nothing where there is no address.
func links(run, page string) Markup {
	var text Markup
	if state.SafeURL(run) != "" {
		text += " · " + Linked("run", run)
	}
	if state.SafeURL(page) != "" {
		text += " · " + Linked("all that was tried", page)
	}
	return text
}

// runOf is the page of the run that an event is of, "" when it is of no run of
// Actions.
func (a Account) runOf(e *history.Decided) string {
	id, _, _ := strings.Cut(e.Run, "-")
	base := strings.TrimRight(a.RunURL, "0123456789")
	if base == a.RunURL || id == "" || strings.Trim(id, "0123456789") != "" {
		return ""
	}
	return base + id
}
