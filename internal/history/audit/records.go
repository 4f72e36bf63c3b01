package audit

import (
	"slices"
	"strconv"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/view"
)

// compareMachine holds the rows of the Machine State against the records, but for those that
// are people's. What the ledger does not name may be from before it begins.
func (a *walk) compareMachine(records Records) {
	if records.State == nil || a.summary.Events == 0 {
		return
	}
	have := records.State.Machine()
	known := have
	if a.begins == 0 {
		known.PR, known.LastRun = 0, nil
	}
	want := view.Machine(known, &a.summary, records.Branch)
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

// keeps are the decisions that made a commit, and those of them whose commit
// must still be on the branch: a baseline of the default branch alone, after a
// merge, starts a new line.
type keeps struct {
	kept, required, before []*history.Decided
	// head is the last that was merged, perhaps of a commit that still waits for CI.
	head string
	// ended says that a pull request was merged since the last decision that was final.
	ended bool
	// tip is the commit on which the kept ones were measured last, as a merge of the default
	// branch is, and under are how many of the required it has.
	tip   string
	under int
}

func (k *keeps) keep(event history.Event) {
	switch e := event.(type) {
	case *history.Measured:
		switch {
		case e.Stage == "" && e.Role == history.Baseline:
			k.before, k.required = k.required, nil
		case e.Stage == "" && e.Role == history.Incumbent:
			k.required = k.before
			k.tip, k.under = e.Commit, len(k.required)
		}
	case *history.Set:
		if e.Key == history.PullEnded && e.Commit != "" {
			k.head, k.ended = e.Commit, true
			k.merged()
		}
	case *history.Decided:
		k.ended = k.ended && e.Outcome == history.PendingCI
		if e.Commit == "" || !history.Promoted(e) {
			return
		}
		k.kept = append(k.kept, e)
		if e.Outcome == history.Accepted {
			k.required = append(k.required, e)
			if e.Commit == k.head { // merged before CI let it through
				k.merged()
			}
		}
	}
}

// merged lets go of what the pull request had in it that was merged.
func (k *keeps) merged() {
	at := slices.IndexFunc(k.required, func(one *history.Decided) bool { return one.Commit == k.head })
	if at < 0 && k.head == k.tip {
		at = min(k.under, len(k.required)) - 1
	}
	k.required = slices.Clone(k.required[at+1:])
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
			a.find(Branch, a.kept[i].Iteration, "commit %.12s says iteration %s with %s, and the ledger says %d with %s",
				commit.ID, commit.Iteration, commit.Metric, a.kept[i].Iteration, history.ValueText(a.kept[i].Best))
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
			a.find(Branch, one.Iteration, "the kept commit %.12s is on neither the program branch nor the default branch",
				one.Commit)
		}
	}
	switch {
	case len(a.required) == 0 || records.Head == a.summary.Head():
	case records.Beyond > 0:
		a.miss("the branch has %d commits of others, which the next iteration measures: what they are worth is not known",
			records.Beyond)
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
