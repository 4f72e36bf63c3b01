package audit

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/lazyregexp"
)

// compareEntries holds the history of a state against the ledger.
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
	lines := func(text string) []string { return strings.Split(plainly.Replace(text), "\n") }
	a.compareLines(State, "its history says", lines(text), lines(want))
}

// compareRows holds the rows of the file against those that the ledger gives. Those of iterations before the ledger
// begins are as they are.
func (a *walk) compareRows(rows []results.Row) {
	lines := func(rows []results.Row) (lines []string) {
		for _, row := range rows {
			if row.Iteration >= a.begins {
				lines = append(lines, strings.TrimSpace(row.Line()))
			}
		}
		return lines
	}
	a.compareLines(Results, "a row is", lines(rows), lines(a.table.Rows()))
}

var iterationOf = lazyregexp.New(`^(?:### Iter(?:ation|s) )?(\d+)`)

// compareLines finds the first line that differs.
func (a *walk) compareLines(where Where, says string, have, want []string) {
	iteration := a.summary.Iteration
	lines := max(len(have), len(want))
	have, want = append(have, make([]string, lines)...), append(want, make([]string, lines)...)
	for i := range lines {
		one, other := have[i], want[i]
		if at := iterationOf().FindStringSubmatch(cmp.Or(other, one)); at != nil {
			iteration, _ = strconv.Atoi(at[1])
		}
		if one != other {
			a.find(where, iteration, says+" %q, and the ledger gives %q", one, other)
			return
		}
	}
}
