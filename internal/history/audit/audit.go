// Package audit computes a program's decisions again from its ledger alone, and
// holds the state, the table of results and the branch against it. It does no
// I/O.
package audit

import (
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
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

// Records are a program's records, read together.
type Records struct {
	Events  []history.Event
	Machine state.Machine
	// Entries are the metrics of the state's history.
	Entries []state.EntryMetric
	Rows    []results.Row
	Commits []Commit
	// Head is the program branch's commit, "" when there is no branch.
	Head string
	// Asked are the rules that the versions of the program file ask for, the newest
	// first; none when there is no file.
	Asked []decision.Rule
	// Broken says what is wrong with sealed segments and with what is derived from them.
	Broken []string
	// Rewritten says of commits of the memory branch how they break its history,
	// Unknown of commits that nobody known has signed.
	Rewritten, Unknown []string
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
}

// Audit goes through all records, and decides again by the versions of the rule
// that decided. Findings are in the order ledger, state,
// results, branch, memory branch, and in each by iteration.
func Audit(versions decision.Versions, r Records) Report {
	report := Report{Findings: []Finding{}}
	for _, message := range r.Broken {
		report.find(Ledger, 0, message)
	}
	var summary history.Summary
	var measured []*history.Measured
	var pending *history.Decided // the decision that waits for CI
	for _, event := range r.Events {
		switch e := event.(type) {
		case *history.Started:
			measured = nil
		case *history.Measured:
			measured = append(measured, e)
		case *history.Decided:
			if pending != nil && pending.Iteration == e.Iteration && e.Outcome != history.PendingCI {
				report.settled(pending, e)
			} else {
				report.decided(versions, summary, ofProposal(measured, e.Proposal), e)
			}
			report.disagreement(summary, measured, e)
			measured, pending = nil, nil
			if e.Outcome == history.PendingCI {
				pending = e
			}
		}
		summary.Add(event)
	}
	report.order(r.Events)
	report.samples(r.Events)
	report.rules(r)
	report.state(summary, r.Machine)
	report.entries(r)
	report.results(r)
	report.branch(summary, r)
	for _, message := range append(r.Rewritten, r.Unknown...) {
		report.find(Memory, summary.Iteration, message)
	}
	return report
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
