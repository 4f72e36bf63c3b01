package audit

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/lazyregexp"
)

// compareMachine holds the rows of the Machine State against the records, but for those that
// are people's. What the ledger does not name may be from before it begins.
func (a *walk) compareMachine(records Records) {
	if records.State == nil || len(records.Events) == 0 {
		return
	}
	have := records.State.Machine()
	known := have
	if a.begins == 0 {
		known.PR, known.LastRun = 0, nil
	}
	want := a.summary.Machine(known, records.Branch)
	if have.NotBefore == nil { // people may go on at once
		want.NotBefore = nil
	}
	if a.summary.Best != nil {
		want.Direction = a.summary.Direction
	}
	have.Compare(want, func(row, is, want string) {
		a.same(State, a.summary.Iteration, "%s is %s, and the ledger gives %s", row, is, want)
	})
}

// keep notes which commits have to be on the branch.
func (a *walk) keep(event history.Event) {
	switch e := event.(type) {
	case *history.Measured:
		switch {
		case e.Stage == "" && e.Role == history.Baseline:
			a.before, a.required = a.required, nil
		case e.Stage == "" && e.Role == history.Incumbent:
			a.required = a.before
			a.tip, a.under = e.Commit, len(a.required)
		}
	case *history.Set:
		if e.Key == history.PullEnded && e.Commit != "" {
			a.head, a.ended = e.Commit, true
			a.merged()
		}
	case *history.Decided:
		a.ended = a.ended && e.Outcome == history.PendingCI
		if e.Commit == "" || !history.Promoted(e) {
			return
		}
		a.kept = append(a.kept, e)
		if e.Outcome == history.Accepted {
			a.required = append(a.required, e)
			if e.Commit == a.head { // merged before CI let it through
				a.merged()
			}
		}
	}
}

// merged lets go of what the pull request had in it that was merged.
func (a *walk) merged() {
	at := slices.IndexFunc(a.required, func(one *history.Decided) bool { return one.Commit == a.head })
	if at < 0 && a.head == a.tip {
		at = min(a.under, len(a.required)) - 1
	}
	a.required = slices.Clone(a.required[at+1:])
}

// compareCommits holds the commits against the decisions. A commit that was rebased on
// its way into the default branch, or replayed onto what was merged, is known by its iteration
// and metric.
func (a *walk) compareCommits(records Records) {
	first := func(id string) int {
		return slices.IndexFunc(a.kept, func(one *history.Decided) bool { return one.Commit == id })
	}
	for _, commit := range records.Commits {
		i := first(commit.ID)
		if i < 0 {
			i = slices.IndexFunc(a.kept, func(one *history.Decided) bool { return says(commit, one) })
		}
		switch {
		case i < 0:
			iteration, _ := strconv.Atoi(commit.Iteration)
			a.find(Branch, iteration, "commit %.12s says that it was kept, and the ledger does not", commit.ID)
		case !says(commit, a.kept[i]):
			a.find(
				Branch,
				a.kept[i].Iteration,
				"commit %.12s says iteration %s with %s, and the ledger says %d with %s",
				commit.ID,
				commit.Iteration,
				commit.Metric,
				a.kept[i].Iteration,
				history.ValueText(a.kept[i].Best),
			)
		}
	}
	unseen := 0
	for i, one := range a.kept {
		paths, here := records.Changed[one.Commit]
		changed := func(path string) bool { return slices.Contains(paths, path) }
		switch {
		case first(one.Commit) != i: // CI was waited for
		case !here:
			unseen++
		case len(one.Changed) > 0 && !slices.ContainsFunc(one.Changed, changed):
			a.find(Branch, one.Iteration, "commit %.12s changes none of the files that the ledger says it changed",
				one.Commit)
		}
	}
	if unseen > 0 {
		a.miss("%d kept commits are not in this clone: whether they change what the ledger says is not known", unseen)
	}
	for _, one := range a.required {
		if !slices.ContainsFunc(records.Commits, func(c Commit) bool { return c.ID == one.Commit || says(c, one) }) {
			a.find(
				Branch,
				one.Iteration,
				"the kept commit %.12s is on neither the program branch nor the default branch",
				one.Commit,
			)
		}
	}
	switch {
	case len(a.required) == 0 || records.Head == a.summary.Head():
	case records.Beyond > 0:
		a.miss(
			"the branch has %d commits of others, which the next iteration measures: what they are worth is not known",
			records.Beyond,
		)
	default:
		a.find(Branch, a.summary.Iteration,
			"the branch is at %.12s, and the ledger has it at %.12s: somebody else moved it, and the "+
				"next run measures anew",
			records.Head, a.summary.Head())
	}
}

func says(commit Commit, one *history.Decided) bool {
	return commit.Iteration == strconv.Itoa(one.Iteration) && commit.Metric == history.ValueText(one.Best)
}

// compareEntries holds the history of a state against the ledger.
func (a *walk) compareEntries(doc *state.Doc) {
	if doc == nil || len(a.summary.Entries) == 0 {
		return
	}
	text, want, found := doc.Entries(a.summary.Entries)
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
