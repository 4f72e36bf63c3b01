package audit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/lazyregexp"
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

// compareRows holds the rows of the file against those that the ledger gives, up to the first that is
// another one. Those of iterations before the ledger begins are as they are.
func (a *walk) compareRows(rows []results.Row) {
	older := func(row results.Row) bool { return row.Iteration < a.begins }
	have, want := slices.DeleteFunc(slices.Clone(rows), older), slices.DeleteFunc(a.table.Rows(), older)
	for i := range max(len(have), len(want)) {
		switch {
		case i >= len(have):
			a.find(Results, want[i].Iteration, fmt.Sprintf("there is no row %q", want[i].Action))
			return
		case i >= len(want):
			a.find(Results, have[i].Iteration, fmt.Sprintf("the ledger has nothing of the row %q", have[i].Action))
			return
		}
		one, other := cells(have[i]), cells(want[i])
		for at, cell := range one {
			a.same(Results, have[i].Iteration, asLedger, cell[0], cell[1], other[at][1])
			if at == 0 && cell != other[0] {
				return
			}
		}
	}
}

func cells(row results.Row) [5][2]string {
	return [...][2]string{
		{"the row", fmt.Sprintf("%d %s", row.Iteration, row.Action)},
		{"the score", history.ValueText(row.Score)},
		{"best_score", history.ValueText(row.Best)},
		{"the timestamp", date(&row.Time)},
		{"the changelog", strconv.Quote(row.Changelog)},
	}
}
