package audit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
)

// state holds the numbers of the Machine State against the records.
func (r *Report) state(summary history.Summary, m state.Machine) {
	for _, pair := range [][3]string{
		{"Iteration Count", strconv.Itoa(m.IterationCount), strconv.Itoa(summary.Iteration)},
		{"Initial Metric", optional(m.InitialMetric), optional(summary.Initial)},
		{"Best Metric", optional(m.BestMetric), optional(summary.Best)},
		{"Consecutive Errors", strconv.Itoa(m.ConsecutiveErrors), strconv.Itoa(summary.ConsecutiveErrors())},
		{"Recent Statuses", strings.Join(m.RecentStatuses, ", "), strings.Join(summary.Statuses(), ", ")},
	} {
		if pair[1] != pair[2] {
			r.find(State, summary.Iteration, fmt.Sprintf("%s is %s, and the ledger gives %s", pair[0], pair[1], pair[2]))
		}
	}
	if summary.Best != nil && m.Direction.String() != summary.Direction.String() {
		r.find(State, summary.Iteration, fmt.Sprintf("Metric Direction is %s, and the ledger was measured with %s", m.Direction, summary.Direction))
	}
}

// results holds the table against the rows that the ledger gives.
func (r *Report) results(records Records) {
	want := rows(records.Events)
	have := slices.DeleteFunc(slices.Clone(records.Rows), func(row results.Row) bool {
		return !slices.ContainsFunc(want, func(w results.Row) bool { return same(w, row) }) && adopted(records.Events, row.Iteration)
	})
	for _, row := range want {
		at := slices.IndexFunc(have, func(h results.Row) bool { return same(h, row) })
		if at < 0 {
			r.find(Results, row.Iteration, fmt.Sprintf("there is no row %q", row.Action))
			continue
		}
		found := have[at]
		have = slices.Delete(have, at, at+1)
		if optional(found.Score) != optional(row.Score) {
			r.find(Results, row.Iteration, fmt.Sprintf("the score is %s, and the ledger gives %s", optional(found.Score), optional(row.Score)))
		}
		if optional(found.Best) != optional(row.Best) {
			r.find(Results, row.Iteration, fmt.Sprintf("best_score is %s, and the ledger gives %s", optional(found.Best), optional(row.Best)))
		}
	}
	r.rowOrder(want, records.Rows)
	for _, row := range have {
		r.find(Results, row.Iteration, fmt.Sprintf("the ledger has nothing of the row %q", row.Action))
	}
}

// rowOrder finds rows that changed places: those of the ledger are in its order.
func (r *Report) rowOrder(want, rows []results.Row) {
	last := -1
	for _, row := range rows {
		at := slices.IndexFunc(want, func(w results.Row) bool { return same(w, row) })
		if at >= 0 && at < last {
			r.find(Results, row.Iteration, fmt.Sprintf("the row %q is not in its place", row.Action))
		}
		last = max(last, at)
	}
}

func same(a, b results.Row) bool { return a.Iteration == b.Iteration && a.Action == b.Action }

// adopted reports whether an iteration is from before the ledger began.
func adopted(events []history.Event, iteration int) bool {
	return slices.ContainsFunc(events, func(e history.Event) bool {
		set, is := e.(*history.Set)
		if !is || set.Key != history.AdoptedIteration {
			return false
		}
		n, err := strconv.Atoi(set.Value)
		return err == nil && iteration <= n
	})
}

// rows is the table that the events give.
func rows(events []history.Event) []results.Row {
	var table []results.Row
	put := func(row results.Row) {
		if at := slices.IndexFunc(table, func(t results.Row) bool { return same(t, row) }); at >= 0 {
			table = slices.Delete(table, at, at+1)
		}
		table = append(table, row)
	}
	var best *metric.Value
	var direction metric.Direction
	for _, e := range events {
		switch e := e.(type) {
		case *history.Measured:
			if e.Stage != "" || e.Metric == nil || e.Role == history.Candidate {
				continue
			}
			if e.Role == history.Baseline {
				direction = e.Direction
			}
			best = e.Metric
			put(results.Row{Iteration: e.Iteration, Score: e.Metric, Best: best, Action: results.Baseline})
		case *history.Decided:
			action := results.Reverted
			switch e.Outcome { //nolint:exhaustive // the others are reverted
			case history.PendingCI:
				continue
			case history.Accepted:
				if action = results.Kept; e.Metric != nil && direction.Improved(*e.Metric, best) {
					best = e.Metric
				}
			}
			put(results.Row{Iteration: e.Iteration, Score: e.Metric, Best: best, Action: action})
		}
	}
	return table
}

// branch holds the commits against the decisions. A commit that was rebased on
// its way into the default branch is known by its iteration and metric.
func (r *Report) branch(summary history.Summary, records Records) {
	kept, required := keeps(records.Events)
	found := map[string]bool{}
	for _, commit := range records.Commits {
		found[commit.ID] = true
		at := slices.IndexFunc(kept, func(e *history.Decided) bool { return e.Commit == commit.ID })
		if at < 0 {
			at = slices.IndexFunc(kept, func(e *history.Decided) bool { return says(commit, e) })
		}
		switch {
		case at < 0:
			r.find(Branch, number(commit.Iteration), fmt.Sprintf("commit %.12s says that it was kept, and the ledger does not", commit.ID))
		case !says(commit, kept[at]):
			r.find(Branch, kept[at].Iteration, fmt.Sprintf("commit %.12s says iteration %s with %s, and the ledger says %d with %s",
				commit.ID, commit.Iteration, commit.Metric, kept[at].Iteration, optional(kept[at].Best)))
		}
	}
	for _, e := range required {
		if !found[e.Commit] {
			r.find(Branch, e.Iteration, fmt.Sprintf("the kept commit %.12s is on neither the program branch nor the default branch", e.Commit))
		}
	}
	if len(required) > 0 && records.Head != summary.Incumbent {
		r.find(Branch, summary.Iteration, fmt.Sprintf("the branch is at %.12s, and the ledger's incumbent is %.12s: somebody else moved it, and the next run measures anew",
			records.Head, summary.Incumbent))
	}
}

func says(commit Commit, e *history.Decided) bool {
	return commit.Iteration == strconv.Itoa(e.Iteration) && commit.Metric == optional(e.Best)
}

// keeps lists the decisions that made a commit, and those of them whose commit
// must still be on the branch: a baseline of the default branch alone, after a
// merge, starts a new line.
func keeps(events []history.Event) (kept, required []*history.Decided) {
	var before []*history.Decided
	for _, e := range events {
		switch e := e.(type) {
		case *history.Measured:
			switch {
			case e.Stage == "" && e.Role == history.Baseline:
				before, required = required, nil
			case e.Stage == "" && e.Role == history.Incumbent:
				required = before
			}
		case *history.Decided:
			if e.Commit == "" || e.Outcome != history.Accepted && e.Outcome != history.PendingCI {
				continue
			}
			kept = append(kept, e)
			if e.Outcome == history.Accepted {
				required = append(required, e)
			}
		}
	}
	return kept, required
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
