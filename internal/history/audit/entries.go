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
	list []entry
	at   map[entryKey]int
	runs []string // of Actions: those of the iteration that was started last
	open int      // its number
}

type entry struct {
	state.HistoryEntry
	runs []string // one of these is the run that it links to
}

// started notes by which run of Actions an iteration is worked on.
func (s *entries) started(e *history.Started) {
	if e.Iteration != s.open {
		s.open, s.runs = e.Iteration, nil
	}
	s.runs = append(slices.Clip(s.runs), runOf(e.Run))
	if e.Lease != nil {
		s.runs = append(s.runs, runOf(e.Lease.ActionsRun))
	}
}

// runOf is the number of a run of Actions; its attempt follows.
func runOf(id string) string { return id[:max(strings.IndexAny(id+"-", "-/"), 0)] }

func (s *entries) put(e state.HistoryEntry) {
	if s.at == nil {
		s.at = map[entryKey]int{}
	}
	e.Baseline = e.Baseline || e.Iteration == 0
	key, one := entryKey{e.Iteration, e.Baseline}, entry{e, s.runs}
	if at, known := s.at[key]; known {
		s.list[at] = one
		return
	}
	s.at[key] = len(s.list)
	s.list = append(s.list, one)
}

func (s *entries) pull(iteration, number int) {
	if at, known := s.at[entryKey{iteration, false}]; known && s.list[at].PR == 0 && s.list[at].Commit != "" {
		s.list[at].PR = number
	}
}

// compare holds the history of a state against the ledger. Iterations before begins are
// from before it.
func (s *entries) compare(r *Report, doc *state.Doc, begins int) {
	if doc == nil || len(s.list) == 0 {
		return
	}
	shown, older, found := doc.Entries()
	if !found {
		r.find(State, s.list[len(s.list)-1].Iteration, "it has no history entries any more")
		return
	}
	last, seen := len(s.list), map[int]bool{}
	for _, have := range shown {
		at, known := s.at[entryKey{have.Iteration, have.Baseline}]
		switch {
		case !known && have.Iteration >= begins:
			r.find(State, have.Iteration, "the ledger has nothing of its history entry")
		case !known:
		case seen[at]:
			r.find(State, have.Iteration, "its history entry is there twice")
		case at > last:
			r.find(State, have.Iteration, "its history entry is not in its place")
		default:
			last = at
			if is, want := s.list[at].differs(have.Text); is != want {
				r.find(State, have.Iteration, fmt.Sprintf("its history entry says %q, and the ledger gives %q", is, want))
			}
		}
		seen[at] = seen[at] || known
	}
	for at := last; at < len(s.list); at++ {
		if !seen[at] {
			r.find(State, s.list[at].Iteration, "its history entry is missing")
		}
	}
	if last == len(s.list) {
		return // the file is too full for any
	}
	var rest []state.Written
	for _, one := range s.list[:last] {
		rest = append(rest, one.Written())
	}
	if want := state.Older(rest); older != want {
		r.find(State, s.list[last].Iteration, fmt.Sprintf("the line of older iterations is %q, and the ledger gives %q", older, want))
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
