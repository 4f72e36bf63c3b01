package audit

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
)

var iterationOf = lazyregexp.New(`^### Iter(?:ation|s) (\d+)`)

// compareEntries holds the history of a state against the ledger, and finds the first line that differs.
func (a *walk) compareEntries(doc *state.Doc) {
	if doc == nil || len(a.view.Entries) == 0 {
		return
	}
	text, want, found := doc.Entries(a.view.Entries)
	if !found {
		a.find(State, a.summary.Iteration, "it has no history entries any more")
		return
	}
	plainly := strings.NewReplacer("- **", "", "**", "")
	iteration := a.summary.Iteration
	have := strings.Split(text, "\n")
	for i, line := range strings.Split(want, "\n") {
		have = append(have, "")
		if at := iterationOf().FindStringSubmatch(line); at != nil {
			iteration, _ = strconv.Atoi(at[1])
		}
		if have[i] != line {
			a.find(State, iteration, fmt.Sprintf("its history says %q, and the ledger gives %q",
				plainly.Replace(have[i]), plainly.Replace(line)))
			return
		}
	}
}

// table has the rows that the ledger gives.
type table struct {
	rows   []results.Row
	places map[rowKey]int
	best   *metric.Value
}

type rowKey struct {
	iteration int
	action    results.Action
}

func keyOf(row results.Row) rowKey { return rowKey{row.Iteration, row.Action} }

// row takes a row of the results that the ledger gives, and fills in the best score. A later one of the
// same name replaces it.
func (a *walk) row(row results.Row) {
	a.best = row.BestAfter(a.best, a.summary.Direction)
	row.Best = a.best
	at, known := a.places[keyOf(row)]
	if !known {
		at = len(a.rows)
		a.places[keyOf(row)], a.rows = at, append(a.rows, results.Row{})
	}
	a.rows[at] = row.Written()
}

// compareRows holds the rows of the file against those that the ledger gives: each is known, but for those of
// iterations before it begins, there once, in its place, and alike, and none is missing.
func (a *walk) compareRows(rows []results.Row) {
	last, seen := -1, map[rowKey]bool{}
	for _, is := range rows {
		at, known := a.places[keyOf(is)]
		problem := ""
		switch {
		case !known && is.Iteration < a.begins:
		case !known:
			problem = "the ledger has nothing of the row %q"
		case seen[keyOf(is)]:
			problem = "the row %q is there twice"
		case at < last:
			problem = "the row %q is not in its place"
		}
		if problem != "" {
			a.find(Results, is.Iteration, fmt.Sprintf(problem, is.Action))
		}
		if known && !seen[keyOf(is)] {
			last = max(last, at)
			a.cells(is, a.rows[at])
		}
		seen[keyOf(is)] = true
	}
	for _, want := range a.rows {
		if !seen[keyOf(want)] {
			a.find(Results, want.Iteration, fmt.Sprintf("there is no row %q", want.Action))
		}
	}
}

func (a *walk) cells(row, want results.Row) {
	is := func(cell, have, want string) { a.same(Results, row.Iteration, asLedger, cell, have, want) }
	is("the score", history.ValueText(row.Score), history.ValueText(want.Score))
	is("best_score", history.ValueText(row.Best), history.ValueText(want.Best))
	is("the timestamp", date(&row.Time), date(&want.Time))
	is("the changelog", strconv.Quote(row.Changelog), strconv.Quote(want.Changelog))
}
