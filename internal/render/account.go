package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/plain"
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

// pageLink is a link to the page, behind something else.
func (a Account) pageLink() string {
	if url := state.SafeURL(a.Page); url != "" {
		return " · [all that was tried](" + url + ")"
	}
	return ""
}

// Decided are the decisions, one an iteration, the last word on each; that may be an undo.
func (a Account) Decided() []*history.Decided {
	var list []*history.Decided
	at := map[int]int{}
	for _, event := range a.Events {
		if i, known := at[history.UndoneBy(event)]; known {
			list[i] = Undone(list[i])
		}
		e, is := event.(*history.Decided)
		if !is {
			continue
		}
		if i, again := at[e.Iteration]; again {
			list[i] = e
			continue
		}
		at[e.Iteration] = len(list)
		list = append(list, e)
	}
	return list
}

// Undone is a decision as people are shown it after its change was taken back.
func Undone(e *history.Decided) *history.Decided {
	own := *e
	own.Outcome = history.Undone
	return &own
}

// Pull is the number of the pull request that was opened last, as far as the
// records or a state without a ledger know it; 0 for none.
func (a Account) Pull() int {
	if number := a.Summary().Pull; number > 0 {
		return number
	}
	machine, _, err := state.ParseMachine(a.State)
	if err != nil {
		return 0
	}
	return machine.PR
}

// openPull is the number of the pull request that is open as far as is known, 0
// for none.
func (a Account) openPull() int {
	if number := a.Pull(); a.Summary().PullEnded != number {
		return number
	}
	return 0
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

// max is the longest text that GitHub takes, with room to spare.
const maxBody = 60_000

// bounded cuts a body that would be refused for its length.
func bounded(body string) string {
	if len(body) <= maxBody {
		return body
	}
	return strings.ToValidUTF8(body[:maxBody], "") + "\n\n… (cut here; the state file has the rest)\n"
}

// line makes one harmless line of somebody's words.
func line(text string) string { return plain.Quote(text, 300) }

// named is a line with a name of ours that people copy or follow: of a commit, a branch or
// a file.
func named(text string) string { return plain.Inline(text, 300) }

// cell makes a harmless cell of a table.
func cell(text string) string { return strings.ReplaceAll(line(text), "|", `\|`) }

// metricName is the metric as people call it.
func metricName(p *program.Program) string {
	return line(cmp.Or(p.Metric, "metric"))
}

func runLink(url string) string {
	if url == "" {
		return ""
	}
	return fmt.Sprintf(" · [run](%s)", state.SafeURL(url))
}

// runOf is the page of the run that an event is of, "" when it is of no run of
// Actions.
func (a Account) runOf(e *history.Decided) string {
	id, _, _ := strings.Cut(e.Run, "-")
	base := strings.TrimRight(a.RunURL, "0123456789")
	if base == a.RunURL || id == "" || strings.Trim(id, "0123456789") != "" {
		return ""
	}
	return state.SafeURL(base + id)
}

const robot = "🤖 *Autoloop: an agent proposed the changes; a program measured them and decided.*\n"
