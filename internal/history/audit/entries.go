package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/lazyregexp"
)

type entryKey struct {
	iteration int
	baseline  bool
}

// entries are those that the ledger gives, in the order in which they were made.
type entries struct {
	list   []entry
	places map[entryKey]int
	worked []string // the runs of Actions of the iteration that was started last
	number int      // its number
}

type entry struct {
	state.HistoryEntry
	runs []string // one of these is the run that it links to
}

// starts notes by which run of Actions an iteration is worked on.
func (s *entries) starts(e *history.Started) {
	if e.Iteration != s.number {
		s.number, s.worked = e.Iteration, nil
	}
	s.worked = append(slices.Clip(s.worked), runOf(e.Run))
	if e.Lease != nil {
		s.worked = append(s.worked, runOf(e.Lease.ActionsRun))
	}
}

// runOf is the number of a run of Actions; its attempt follows.
func runOf(id string) string { return id[:strings.IndexAny(id+"-", "-/")] }

// Entry takes an entry of the state's history that the ledger gives.
func (s *entries) Entry(e state.HistoryEntry) {
	e.Baseline = e.Baseline || e.Iteration == 0
	key := entryKey{e.Iteration, e.Baseline}
	at, known := s.places[key]
	if !known {
		at = len(s.list)
		s.places[key], s.list = at, append(s.list, entry{})
	}
	s.list[at] = entry{e, s.worked}
}

// Pull takes the pull request that an iteration went into.
func (s *entries) Pull(iteration, number int) {
	if at, known := s.places[entryKey{iteration, false}]; known && s.list[at].PR == 0 && s.list[at].Commit != "" {
		s.list[at].PR = number
	}
}

// compareEntries holds the history of a state against the ledger.
func (a *walk) compareEntries(doc *state.Doc, begins int) {
	if doc == nil || len(a.list) == 0 {
		return
	}
	shown, older, found := doc.Entries()
	if !found {
		a.find(State, a.list[len(a.list)-1].Iteration, "it has no history entries any more")
		return
	}
	last, seen := len(a.list), map[int]bool{}
	for _, have := range shown {
		at, known := a.places[entryKey{have.Iteration, have.Baseline}]
		switch {
		case !known && have.Iteration >= begins:
			a.find(State, have.Iteration, "the ledger has nothing of its history entry")
		case !known:
		case seen[at]:
			a.find(State, have.Iteration, "its history entry is there twice")
		case at > last:
			a.find(State, have.Iteration, "its history entry is not in its place")
		default:
			last = at
			if is, want := a.list[at].differs(have.Text); is != want {
				a.find(State, have.Iteration, fmt.Sprintf(
					"its history entry says %q, and the ledger gives %q", is, want))
			}
		}
		seen[at] = seen[at] || known
	}
	for at := last; at < len(a.list); at++ {
		if !seen[at] {
			a.find(State, a.list[at].Iteration, "its history entry is missing")
		}
	}
	if last == len(a.list) {
		return // the file is too full for any
	}
	var rest []state.Written
	for _, one := range a.list[:last] {
		rest = append(rest, one.Written())
	}
	if want := state.Older(rest); older != want {
		a.find(State, a.list[last].Iteration,
			fmt.Sprintf("the line of older iterations is %q, and the ledger gives %q", older, want))
	}
}

var runLink = lazyregexp.New(`\[Run\]\((\S+/actions/runs/(\d+))\)`)

// differs compares an entry line by line with what the ledger gives, and returns the first
// two lines that differ, or two equal ones.
func (e entry) differs(text string) (is, want string) {
	if link := runLink().FindStringSubmatch(text); link != nil && slices.Contains(e.runs, link[2]) {
		e.RunURL = link[1]
	}
	have, given := strings.Split(text, "\n"), strings.Split(e.Written().Text, "\n")
	for i := range max(len(have), len(given)) {
		is, want = "", ""
		if i < len(have) {
			is = have[i]
		}
		if i < len(given) {
			want = given[i]
		}
		if is != want {
			break
		}
	}
	plainly := strings.NewReplacer("- **", "", "**", "")
	return plainly.Replace(is), plainly.Replace(want)
}
