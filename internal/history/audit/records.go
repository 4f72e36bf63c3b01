package audit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
)

// state holds the rows of the Machine State against the records, but for those that are
// people's. What the ledger does not name may be from before it begins.
func (r *Report) state(summary history.Summary, begins int, records Records) {
	if records.State == nil || summary.Events == 0 {
		return
	}
	m := records.State.Machine()
	is := func(row, have, want string) {
		if have != want {
			r.find(State, summary.Iteration, fmt.Sprintf("%s is %s, and the ledger gives %s", row, have, want))
		}
	}
	is("Iteration Count", strconv.Itoa(m.IterationCount), strconv.Itoa(summary.Iteration))
	is("Initial Metric", history.ValueText(m.InitialMetric), history.ValueText(summary.Initial))
	is("Best Metric", history.ValueText(m.BestMetric), history.ValueText(summary.Best))
	is("Consecutive Errors", strconv.Itoa(m.ConsecutiveErrors), strconv.Itoa(summary.ConsecutiveErrors()))
	is("Recent Statuses", strings.Join(m.RecentStatuses, ", "), strings.Join(summary.Statuses(), ", "))
	is("Branch", m.Branch, records.Branch)
	if summary.Pull > 0 || begins == 0 {
		is("PR", strconv.Itoa(m.PR), strconv.Itoa(summary.OpenPull()))
	}
	if summary.Issue > 0 {
		is("Issue", strconv.Itoa(m.Issue), strconv.Itoa(summary.Issue))
	}
	if begins == 0 || !summary.LastRun.IsZero() {
		is("Last Run", date(m.LastRun), date(&summary.LastRun))
	}
	if m.NotBefore != nil {
		is("Not Before", date(m.NotBefore), date(&summary.NotBefore))
	}
	if summary.Best != nil && m.Direction.String() != summary.Direction.String() {
		r.find(State, summary.Iteration, fmt.Sprintf("Metric Direction is %s, and the ledger was measured with %s", m.Direction, summary.Direction))
	}
}

func date(at *time.Time) string {
	if at == nil || at.IsZero() {
		return history.ValueText(nil)
	}
	return at.UTC().Truncate(time.Second).Format(time.RFC3339)
}

type rowKey struct {
	iteration int
	action    results.Action
}

func keyOf(row results.Row) rowKey { return rowKey{row.Iteration, row.Action} }

type table struct {
	rows   []results.Row
	at     map[rowKey]int // where in rows, of the last of this name
	best   *metric.Value
	begins int // iterations before this one are from before the ledger
}

// put takes a row over, and fills in the best score.
func (t *table) put(row results.Row, direction metric.Direction) {
	if t.at == nil {
		t.at = map[rowKey]int{}
	}
	t.best = row.BestAfter(t.best, direction)
	row.Best = t.best
	t.at[keyOf(row)] = len(t.rows)
	t.rows = append(t.rows, row.Written())
}

func (t *table) add(event history.Event) {
	if e, is := event.(*history.Set); is && e.Key == history.AdoptedIteration {
		if n, err := strconv.Atoi(e.Value); err == nil {
			t.begins = max(t.begins, n+1)
		}
	}
}

// compare holds the rows of the file against those that the ledger gives.
func (t *table) compare(r *Report, rows []results.Row) {
	places := map[rowKey][]int{}
	for i, row := range rows {
		places[keyOf(row)] = append(places[keyOf(row)], i)
	}
	taken := map[int]bool{}
	for i, row := range t.rows {
		key := keyOf(row)
		if t.at[key] != i {
			continue // a later event of the same name counts
		}
		if len(places[key]) == 0 {
			r.find(Results, row.Iteration, fmt.Sprintf("there is no row %q", row.Action))
			continue
		}
		taken[places[key][0]] = true
		found := rows[places[key][0]]
		for _, pair := range [][3]string{
			{"the score", history.ValueText(found.Score), history.ValueText(row.Score)},
			{"best_score", history.ValueText(found.Best), history.ValueText(row.Best)},
			{"the timestamp", date(&found.Time), date(&row.Time)},
			{"the changelog", strconv.Quote(found.Changelog), strconv.Quote(row.Changelog)},
		} {
			if pair[1] != pair[2] {
				r.find(Results, row.Iteration, fmt.Sprintf("%s is %s, and the ledger gives %s", pair[0], pair[1], pair[2]))
			}
		}
	}
	last := -1
	for _, row := range rows { // those of the ledger are in its order
		at, known := t.at[keyOf(row)]
		if known && at < last {
			r.find(Results, row.Iteration, fmt.Sprintf("the row %q is not in its place", row.Action))
		}
		if known {
			last = max(last, at)
		}
	}
	for i, row := range rows {
		if _, known := t.at[keyOf(row)]; !taken[i] && (known || row.Iteration >= t.begins) {
			r.find(Results, row.Iteration, fmt.Sprintf("the ledger has nothing of the row %q", row.Action))
		}
	}
}

type made struct {
	iteration int
	commit    string
	best      *metric.Value
	changed   []string // as the agent's work is said to have
	// replayed says that it may be another commit by now: what it stood on was
	// merged, perhaps as one commit of another name.
	replayed bool
}

// keeps are the decisions that made a commit, and those of them whose commit
// must still be on the branch: a baseline of the default branch alone, after a
// merge, starts a new line.
type keeps struct {
	kept, required, before []made
	// merges are the heads that were merged, and the commits made on them since; head is the
	// last one, perhaps of a commit that still waits for CI.
	merges map[string]bool
	head   string
}

func (k *keeps) add(event history.Event) {
	switch e := event.(type) {
	case *history.Measured:
		switch {
		case e.Stage == "" && e.Role == history.Baseline:
			k.before, k.required = k.required, nil
		case e.Stage == "" && e.Role == history.Incumbent:
			k.required = k.before
		}
	case *history.Set:
		if e.Key == history.PullEnded && e.Commit != "" {
			k.head = e.Commit
			k.merged(e.Commit)
		}
	case *history.Decided:
		if e.Commit == "" || e.Outcome != history.Accepted && e.Outcome != history.PendingCI {
			return
		}
		// An agent may have begun on the head that was merged while it worked.
		one := made{iteration: e.Iteration, commit: e.Commit, best: e.Best, changed: e.Changed, replayed: k.merges[e.Parent]}
		if one.replayed {
			k.merges[e.Commit] = true
		}
		k.kept = append(k.kept, one)
		if e.Outcome == history.Accepted {
			k.required = append(k.required, one)
			if e.Commit == k.head { // merged before CI let it through
				k.merged(e.Commit)
			}
		}
	}
}

// merged lets go of what a pull request had in it that was merged with this head. What
// came after it is replayed.
func (k *keeps) merged(head string) {
	at := slices.IndexFunc(k.required, func(one made) bool { return one.commit == head })
	if at < 0 {
		return
	}
	k.merges = map[string]bool{head: true}
	k.required = slices.Clone(k.required[at+1:])
	for i := range k.required {
		k.required[i].replayed = true
		k.merges[k.required[i].commit] = true
	}
}

// compare holds the commits against the decisions. A commit that was rebased on
// its way into the default branch is known by its iteration and metric.
func (k *keeps) compare(r *Report, summary history.Summary, records Records) {
	found := map[string]bool{}
	at := make(map[string]int, len(k.kept))
	for i, one := range slices.Backward(k.kept) {
		at[one.commit] = i
	}
	for _, commit := range records.Commits {
		found[commit.ID] = true
		i, known := at[commit.ID]
		if !known {
			i = slices.IndexFunc(k.kept, func(one made) bool { return says(commit, one) })
		}
		switch {
		case i < 0:
			r.find(Branch, number(commit.Iteration), fmt.Sprintf("commit %.12s says that it was kept, and the ledger does not", commit.ID))
		case !says(commit, k.kept[i]):
			r.find(Branch, k.kept[i].iteration, fmt.Sprintf("commit %.12s says iteration %s with %s, and the ledger says %d with %s",
				commit.ID, commit.Iteration, commit.Metric, k.kept[i].iteration, history.ValueText(k.kept[i].best)))
		}
	}
	unseen := 0
	for i, one := range k.kept {
		paths, here := records.Changed[one.commit]
		switch {
		case at[one.commit] != i: // CI was waited for
		case !here:
			unseen++
		case len(one.changed) > 0 && !slices.ContainsFunc(one.changed, func(path string) bool { return slices.Contains(paths, path) }):
			r.find(Branch, one.iteration, fmt.Sprintf("commit %.12s changes none of the files that the ledger says it changed", one.commit))
		}
	}
	if unseen > 0 {
		r.Unseen = append(r.Unseen, fmt.Sprintf("%d kept commits are not in this clone: whether they change what the ledger says is not known", unseen))
	}
	for _, one := range k.required {
		replayed := one.replayed && slices.ContainsFunc(records.Commits, func(c Commit) bool { return says(c, one) })
		if !found[one.commit] && !replayed {
			r.find(Branch, one.iteration, fmt.Sprintf("the kept commit %.12s is on neither the program branch nor the default branch", one.commit))
		}
	}
	if len(k.required) > 0 && records.Head != summary.Head() {
		r.find(Branch, summary.Iteration, fmt.Sprintf("the branch is at %.12s, and the ledger has it at %.12s: somebody else moved it, and the next run measures anew",
			records.Head, summary.Head()))
	}
}

func says(commit Commit, one made) bool {
	return commit.Iteration == strconv.Itoa(one.iteration) && commit.Metric == history.ValueText(one.best)
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
