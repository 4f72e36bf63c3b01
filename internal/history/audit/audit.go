// Package audit computes a program's decisions again from its ledger alone, and
// holds the state, the table of results and the branch against it. It does no
// I/O.
package audit

import (
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/history/view"
)

// Where names the record in which a finding is.
type Where string

// The records of a program.
const (
	Ledger  Where = "ledger"
	State   Where = "state"
	Results Where = "results"
	Branch  Where = "branch"
	Memory  Where = "memory branch"
)

// Finding is one place where a record disagrees with what the ledger's
// measurements say.
type Finding struct {
	Where     Where  `json:"where"`
	Iteration int    `json:"iteration"`
	Message   string `json:"message"`
}

// Commit is one commit that can be reached from the program branch or the
// default branch and carries this program's trailers.
type Commit struct {
	ID        string
	Iteration string // as the trailers say
	Metric    string
}

// Records are what is held against the ledger of a program, read together.
type Records struct {
	// State is the state file; nil if the program has none.
	State   *state.Doc
	Rows    []results.Row
	Commits []Commit
	// Branch is the name of the program's branch.
	Branch string
	// Changed has, by the commit that a decision made, the files in which that differs
	// from the one that it was compared with; not of commits that are not here.
	Changed map[string][]string
	// Head is the program branch's commit, "" when there is no branch.
	Head string
	// Rewritten says of commits of the memory branch how they break its history,
	// Unknown of commits that nobody known has signed.
	Rewritten, Unknown []string
	// Fresh says that this clone has not seen the memory branch before, Shallow that its
	// history is cut off.
	Fresh, Shallow bool
}

// Report is what an audit came to.
type Report struct {
	// Decisions counts the decided iterations, Repeated those that were
	// computed again from their measurements, and Old those that a version
	// decided which did not record its rule.
	Decisions int       `json:"decisions"`
	Repeated  int       `json:"repeated"`
	Old       int       `json:"old"`
	Findings  []Finding `json:"findings"`
	// Unseen says what could not be looked at.
	Unseen []string `json:"unseen"`
}

// Auditor goes through a ledger segment by segment, and decides again. Of what it has seen it keeps a row of the results for each
// iteration, and what each commit was kept for.
type Auditor struct {
	// asked are the rules that the versions of the program file ask for, the newest
	// first; none when there is no file.
	asked []decision.Rule

	report   Report
	view     view.View
	summary  history.Summary
	measured []*history.Measured
	pending  *history.Decided // the decision that waits for CI

	order   order
	rules   rules
	table   table
	entries entries
	keeps   keeps
}

// New begins an audit.
func New(asked []decision.Rule) *Auditor {
	return &Auditor{asked: asked, report: Report{Findings: []Finding{}, Unseen: []string{}}, summary: history.Summary{}}
}

// Add takes the events of one more segment over, at whose ends no run is open.
// None of them is kept but for what an iteration that waits for CI needs.
func (a *Auditor) Add(events []history.Event) {
	r := &a.report
	for _, event := range events {
		switch e := event.(type) {
		case *history.Started:
			a.measured = nil
			a.entries.started(e)
		case *history.Measured:
			a.measured = append(a.measured, e)
			r.samples(e)
		case *history.Decided:
			replayed := e.Outcome == history.PendingCI && len(a.measured) == 0 && a.pending != nil && a.keeps.merges[a.pending.Parent]
			if a.pending != nil && a.pending.Iteration == e.Iteration && (e.Outcome != history.PendingCI || replayed) {
				r.settled(a.pending, e, replayed)
			} else {
				r.decided(a.summary, ofProposal(a.measured, e.Proposal), e)
			}
			r.disagreement(a.summary, a.measured, e)
			a.rules.decided(r, a.summary, e, a.asked)
			a.measured, a.pending = nil, nil
			if e.Outcome == history.PendingCI {
				a.pending = e
			}
		}
		a.order.add(r, event)
		a.table.add(event)
		a.keeps.add(event)
		_ = a.view.Add(&a.summary, event, a) // our Row takes every row
		a.summary.Add(event)
	}
	clear(a.order.started)
}

// Entry takes an entry of the state's history that the ledger gives.
func (a *Auditor) Entry(e state.HistoryEntry) { a.entries.put(e) }

// Pull takes the pull request that an iteration went into.
func (a *Auditor) Pull(iteration, number int) { a.entries.pull(iteration, number) }

// Row takes a row of the results that the ledger gives.
func (a *Auditor) Row(row results.Row) error {
	a.table.put(row, a.summary.Direction)
	return nil
}

// Report holds the records against the ledger. Findings are in the order ledger, state,
// results, branch, memory branch.
func (a *Auditor) Report(records Records) Report {
	r := &a.report
	a.order.unfinished(r)
	r.state(a.summary, a.table.begins, records)
	a.entries.compare(r, records.State, a.table.begins)
	a.table.compare(r, records.Rows)
	a.keeps.compare(r, a.summary, records)
	for _, message := range append(records.Rewritten, records.Unknown...) {
		r.find(Memory, a.summary.Iteration, message)
	}
	if records.Fresh {
		r.Unseen = append(r.Unseen, "this clone has not worked with the memory branch before: whether it was cut back or rewritten since then is not known")
	}
	if records.Shallow {
		r.Unseen = append(r.Unseen, "the clone is shallow: whether commits changed what was recorded before is not known; run `git fetch --unshallow`")
	}
	return *r
}

// ofProposal are the measurements of the one among several proposals that
// decided; 0 when there was only one.
func ofProposal(measured []*history.Measured, number int) []*history.Measured {
	var own []*history.Measured
	for _, m := range measured {
		if m.Proposal == number {
			own = append(own, m)
		}
	}
	return own
}

func (r *Report) find(where Where, iteration int, message string) {
	r.Findings = append(r.Findings, Finding{where, iteration, message})
}
