package render

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
)

// Account is what the records say of a program, to be shown.
type Account struct {
	Program *program.Program
	// Summary is what the ledger's events add up to. State is the state file.
	*history.Summary
	Events []history.Event
	State  []byte
	// RunURL is the page of this run; "" for none.
	RunURL string
	// Page is the address where all that was tried is drawn; "" for none.
	Page string
	// Warnings are those of this run.
	Warnings []string
}

// Pull is the number of the pull request that was opened last, as far as the
// records or a state without a ledger know it; 0 for none.
func (a Account) Pull() int {
	machine, _, err := state.ParseMachine(a.State)
	if a.Summary.Pull > 0 || err != nil {
		return a.Summary.Pull
	}
	return machine.PR
}

// EverKept says whether there may be something on the program's branch: a change
// was put onto it, or the records begin with a state of others.
func (a Account) EverKept() bool {
	return a.Adopted > 0 || slices.ContainsFunc(a.Attempts, func(one history.Attempt) bool {
		return one.Waited || one.Outcome == history.Accepted || one.Outcome == history.Undone
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
	base := strings.TrimRight(a.RunURL, "0123456789")
	if base == a.RunURL {
		return ""
	}
	return RunURL(base, e.Run)
}

// RunURL is the page of a run below the address of all runs; "" for a run outside of Actions.
func RunURL(base, run string) string {
	id := history.ActionsRun(run)
	if id == "" {
		return ""
	}
	return base + id
}

// PageOf is the page of an issue or a pull request in a repository, by the path that these have there; ""
// without a repository or a number.
func PageOf(repository, path string, number int) string {
	if repository == "" || number < 1 {
		return ""
	}
	return repository + path + strconv.Itoa(number)
}
