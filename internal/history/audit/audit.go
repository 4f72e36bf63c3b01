// Package audit computes a program's decisions again from its ledger alone, and
// holds the state, the table of results and the branch against it. It does no
// I/O.
package audit

import (
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
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

// Records are what is held against the ledger of a program, read together.
type Records struct {
	// Events are those of the ledger.
	Events []history.Event
	// State is the state file; nil if the program has none.
	State   *state.Doc
	Rows    []results.Row
	Commits []Commit
	// Branch is the name of the program's branch.
	Branch string
	// Changed has, by the commit that a decision made, the files in which that differs
	// from the one that it was compared with; not of commits that are not here.
	Changed map[string][]string
	// Head is the program branch's commit, "" when there is no branch; Beyond counts the commits
	// in which it goes on from where the ledger has it.
	Head   string
	Beyond int
	// Rewritten says of commits of the memory branch how they break its history,
	// Unknown of commits that nobody known has signed.
	Rewritten, Unknown []string
	// Unseen says what of the memory branch cannot be looked at.
	Unseen []string
}

// Report is what an audit came to.
type Report struct {
	// Decisions counts the decided iterations, Repeated those that were
	// computed again from their measurements.
	Decisions int       `json:"decisions"`
	Repeated  int       `json:"repeated"`
	Findings  []Finding `json:"findings"`
	// Unseen says what could not be looked at.
	Unseen []string `json:"unseen"`
}

// walk goes through a ledger, and decides again.
type walk struct {
	Report
	// asked are the rules that the versions of the program file ask for; none when there is no file.
	asked []decision.Rule

	summary  history.Summary
	measured []*history.Measured
	pending  *history.Decided  // the decision that waits for CI
	bounds   map[string]string // the guardrails and the range by the definition, of which they are a part

	begins int // iterations before it are from before the ledger

	table results.Table // of the rows that the ledger gives

	// How far the steps of an iteration came: a run starts, measures, decides, says what it pushed,
	// and finishes. began has by run its iteration, -1 for one that never started, which is said once.
	began  map[string]int
	pushed map[string]bool  // commits
	open   *history.Decided // the last final decision that nothing finished yet
	made   *history.Decided // the last decision with a commit that nothing pushed yet

	// The decisions that made a commit, and those of them whose commit
	// must still be on the branch: a baseline of the default branch alone, after a
	// merge, starts a new line.
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

// Of decides again what a ledger decided, and holds the other records against it; asked are
// the rules that the versions of the program file ask for. Findings are in
// the order ledger, state, results, branch, memory branch.
func Of(records Records, asked []decision.Rule) Report {
	a := &walk{
		Report: Report{Findings: []Finding{}, Unseen: []string{}}, asked: asked, bounds: map[string]string{},
		began: map[string]int{}, pushed: map[string]bool{},
	}
	for _, event := range records.Events {
		a.add(event)
	}
	if a.summary.Adopted > 0 {
		a.begins = a.summary.Adopted + 1
	}
	a.unfinished()
	a.compareMachine(records)
	a.compareEntries(records.State)
	a.compareRows(records.Rows)
	a.compareCommits(records)
	for _, message := range append(records.Rewritten, records.Unknown...) {
		a.find(Memory, a.summary.Iteration, "%s", message)
	}
	a.Unseen = append(a.Unseen, records.Unseen...)
	return a.Report
}

func (a *walk) add(event history.Event) {
	switch e := event.(type) {
	case *history.Started:
		a.measured = nil
	case *history.Measured:
		a.measured = append(a.measured, e)
		a.samples(e)
	case *history.Decided:
		replayed := e.Outcome == history.PendingCI && len(a.measured) == 0 && a.ended
		if a.pending != nil && a.pending.Iteration == e.Iteration && (e.Outcome != history.PendingCI || replayed) {
			a.settled(a.pending, e, replayed)
		} else {
			a.decided(a.summary, ofProposal(a.measured, e.Proposal), e)
		}
		a.disagreement(a.summary, a.measured, e)
		a.rule(e)
		a.measured, a.pending = nil, nil
		if e.Outcome == history.PendingCI {
			a.pending = e
		}
	}
	a.follows(event)
	a.keep(event)
	direction := a.summary.Direction
	if row := a.summary.Show(event); row != nil {
		a.table.Append(*row, direction)
	}
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

func (r *Report) find(where Where, iteration int, format string, args ...any) {
	r.Findings = append(r.Findings, Finding{where, iteration, fmt.Sprintf(format, args...)})
}

// miss says what was not looked at.
func (r *Report) miss(format string, args ...any) {
	r.Unseen = append(r.Unseen, fmt.Sprintf(format, args...))
}

// same finds a value that is not what it should be; format takes what it is of, and both.
func (r *Report) same(where Where, iteration int, format, of, is, want string) {
	if is != want {
		r.find(where, iteration, format, of, is, want)
	}
}

// String says whether the records agree, and where they do not.
func (r *Report) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%d iterations, %d decisions computed again", r.Decisions, r.Repeated)
	if len(r.Findings) == 0 {
		out.WriteString(": the records agree\n")
	} else {
		fmt.Fprintf(&out, ": %d disagreements\n", len(r.Findings))
	}
	for _, finding := range r.Findings {
		fmt.Fprintf(&out, "  %s, iteration %d: %s\n", finding.Where, finding.Iteration, finding.Message)
	}
	for _, unseen := range r.Unseen {
		fmt.Fprintf(&out, "  not looked at: %s\n", unseen)
	}
	return out.String()
}

// unfinished finds what should have followed by now.
func (a *walk) unfinished() {
	if a.open != nil {
		a.find(Ledger, a.open.Iteration, "the run %s decided, and no `finished` event follows", a.open.Run)
	}
	if a.made != nil {
		a.find(Ledger, a.made.Iteration,
			"commit %.12s was decided, and no `pushed` event follows", a.made.Commit)
	}
	a.open, a.made = nil, nil
}

// follows holds an event against those before it.
func (a *walk) follows(event history.Event) {
	head := event.Header()
	began, known := a.began[head.Run]
	switch event.(type) {
	case *history.Started:
		a.unfinished()
		if known && began >= 0 && began != head.Iteration {
			a.find(Ledger, head.Iteration,
				"the run %s began iteration %d, and no run begins two", head.Run, began)
		}
		a.began[head.Run] = head.Iteration
	case *history.Measured, *history.Proposed, *history.Decided, *history.Pushed, *history.Checked:
		if !known {
			a.find(Ledger, head.Iteration,
				"the run %s has a `%s` event without a `started` event", head.Run, history.KindOf(event))
			a.began[head.Run] = -1
		}
	}
	switch e := event.(type) {
	case *history.Decided:
		if e.Outcome != history.PendingCI {
			a.open = e
		}
		if e.Commit != "" && !a.pushed[e.Commit] {
			a.made = e
		}
	case *history.Pushed:
		a.pushed[e.Commit] = true
		if a.made == nil || a.made.Commit != e.Commit {
			a.find(Ledger, e.Iteration, "commit %.12s was pushed, and no decision made it", e.Commit)
		} else {
			a.made = nil
		}
	case *history.Finished:
		if a.open != nil && a.open.Run == e.Run && a.open.Iteration == e.Iteration {
			a.open = nil
		}
	}
}

// samples holds a measured number against the runs that it is the median of.
func (r *Report) samples(e *history.Measured) {
	if e.Metric == nil || len(e.Samples) == 0 {
		return
	}
	if median := statistics.Median(e.Samples); median.String() != e.Metric.String() {
		r.find(Ledger, e.Iteration,
			"the measured metric of the %s is %s, and the median of its samples is %s", e.Role, e.Metric, median)
	}
}
