package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
)

// item is an entry of the history, or a row of the results with its cells as lines.
type item struct {
	state.Written
	where Where
	name  string
	runs  []string // it may link to one of these
}

// key tells the items of one file apart.
type key struct {
	where     Where
	name      string
	iteration int
}

func (i item) key() key { return key{i.where, i.name, i.Iteration} }

// pages are the items that the ledger gives, in the order in which they were made.
type pages struct {
	given  []item
	places map[key]int
	best   *metric.Value // of the last row
	worked []string      // the runs of Actions of the iteration that was started last
	number int           // its number
}

// put takes one more. A later one of the same name replaces it.
func (p *pages) put(one item) {
	at, known := p.places[one.key()]
	if !known {
		at = len(p.given)
		p.places[one.key()], p.given = at, append(p.given, item{})
	}
	p.given[at] = one
}

// starts notes by which run of Actions an iteration is worked on.
func (p *pages) starts(e *history.Started) {
	if e.Iteration != p.number {
		p.number, p.worked = e.Iteration, nil
	}
	p.worked = append(slices.Clip(p.worked), runOf(e.Run))
	if e.Lease != nil {
		p.worked = append(p.worked, runOf(e.Lease.ActionsRun))
	}
}

// runOf is the number of a run of Actions; its attempt follows.
func runOf(id string) string { return id[:strings.IndexAny(id+"-", "-/")] }

func entryItem(e state.Written, runs []string) item {
	name := "its history entry"
	if e.Baseline {
		name += " of a baseline"
	}
	return item{e, State, name, runs}
}

func rowItem(row results.Row) item {
	text := fmt.Sprintf("score %s\nbest_score %s\ntimestamp %s\nchangelog %q", history.ValueText(row.Score),
		history.ValueText(row.Best), date(&row.Time), row.Changelog)
	written := state.Written{Iteration: row.Iteration, Text: text}
	return item{written, Results, fmt.Sprintf("the row %q", row.Action), nil}
}

// Entry takes an entry of the state's history that the ledger gives.
func (a *walk) Entry(e state.HistoryEntry) { a.put(entryItem(e.Written(), a.worked)) }

// Pull takes the pull request that an iteration went into.
func (a *walk) Pull(iteration, number int) {
	if at, known := a.places[entryItem(state.Written{Iteration: iteration}, nil).key()]; known {
		a.given[at].SetPull(number)
	}
}

// Row takes a row of the results that the ledger gives, and fills in the best score.
func (a *walk) Row(row results.Row) error {
	a.best = row.BestAfter(a.best, a.summary.Direction)
	row.Best = a.best
	a.put(rowItem(row.Written()))
	return nil
}

// compareEntries holds the history of a state against the ledger. The line of the older ones stands
// for those before the first that is shown.
func (a *walk) compareEntries(doc *state.Doc) {
	var rest []state.Written
	for _, one := range a.given {
		if one.where == State {
			rest = append(rest, one.Written)
		}
	}
	if doc == nil || len(rest) == 0 {
		return
	}
	shown, older, found := doc.Entries()
	if !found {
		a.find(State, rest[len(rest)-1].Iteration, "it has no history entries any more")
		return
	}
	var have []item
	for _, e := range slices.Backward(shown) {
		have = append(have, entryItem(e, nil))
	}
	first := a.compare(State, have, len(a.given))
	if first == len(a.given) {
		return // the file is too full for any
	}
	at := slices.IndexFunc(rest, func(e state.Written) bool { return entryItem(e, nil).key() == a.given[first].key() })
	if want := state.Older(rest[:at]); older != want {
		a.find(State, rest[at].Iteration,
			fmt.Sprintf("the line of older iterations is %q, and the ledger gives %q", older, want))
	}
}

// compareRows holds the rows of the file against those that the ledger gives.
func (a *walk) compareRows(rows []results.Row) {
	var have []item
	for _, row := range rows {
		have = append(have, rowItem(row))
	}
	a.compare(Results, have, 0)
}

// compare holds the items of a file, the oldest first, against those of the ledger: each is known,
// but for those of iterations before it begins, there once, in its place, and alike; from the first on none is
// missing. It returns the place of the first, which is earlier when an earlier one is there.
func (a *walk) compare(where Where, have []item, first int) int {
	last, seen := -1, map[key]bool{}
	for _, is := range have {
		at, known := a.places[is.key()]
		switch {
		case !known && is.Iteration < a.begins:
		case !known:
			a.find(where, is.Iteration, "the ledger has nothing of "+is.name)
		case seen[is.key()]:
			a.find(where, is.Iteration, is.name+" is there twice")
		case at < last:
			a.find(where, is.Iteration, is.name+" is not in its place")
		}
		if known && !seen[is.key()] {
			a.alike(is, a.given[at])
			first, last = min(first, at), max(last, at)
		}
		seen[is.key()] = true
	}
	for _, want := range a.given[first:] {
		if want.where == where && !seen[want.key()] {
			a.find(where, want.Iteration, want.name+" is missing")
		}
	}
	return first
}

var runLink = lazyregexp.New(`^[^\n]* UTC( — \[Run\]\((\S+/actions/runs/(\d+))\))`)

// alike finds the first line in which an item differs from what the ledger gives.
func (a *walk) alike(is, want item) {
	text := is.Text
	if link := runLink().FindStringSubmatch(text); link != nil && state.SafeURL(link[2]) == link[2] &&
		slices.Contains(want.runs, link[3]) {
		text = strings.Replace(text, link[1], "", 1)
	}
	plainly := strings.NewReplacer("- **", "", "**", "")
	have, given := strings.Split(plainly.Replace(text), "\n"), strings.Split(plainly.Replace(want.Text), "\n")
	for i := range max(len(have), len(given)) {
		have, given = append(have, ""), append(given, "")
		if have[i] != given[i] {
			a.find(is.where, is.Iteration,
				fmt.Sprintf("%s says %q, and the ledger gives %q", is.name, have[i], given[i]))
			return
		}
	}
}
