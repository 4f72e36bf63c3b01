// Package view makes of a program's events what people read of them: the entries of
// the state's history and the rows of the results. Who writes these and who holds them
// against the ledger make them alike. It does no I/O.
package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
)

// View goes through all events of a ledger.
type View struct {
	// Entries are those of the state's history, in the order in which they were made.
	Entries []state.HistoryEntry

	baseline *history.Measured // the last
	first    bool              // no baseline came before it
	best     *metric.Value     // before it
}

// Of is the view of events, and what they add up to.
func Of(events []history.Event) (v View, summary history.Summary) {
	for _, e := range events {
		v.Add(&summary, e)
		summary.Add(e)
	}
	return v, summary
}

// Add takes the next event over; before is what the ledger adds up to without it. It returns the row
// of the results that follows, without a best score, nil for none. A later entry or row of the same
// iteration and kind replaces an earlier one.
func (v *View) Add(before *history.Summary, e history.Event) *results.Row {
	switch e := e.(type) {
	case *history.Measured:
		if e.Stage == "" && e.Role != history.Candidate && e.Metric != nil {
			return v.measured(before, e)
		}
	case *history.Decided:
		v.put(entryOf(before, e))
		if e.Outcome != history.PendingCI {
			return rowOf(before, e)
		}
	case *history.Set:
		number, err := strconv.Atoi(e.Value)
		if err != nil || e.Key != history.PullNumber || number == before.PullEnded || number < 1 {
			return nil
		}
		// The commit of an iteration went into a pull request.
		if at := v.find(before.Promoted(), false); at >= 0 && v.Entries[at].PR == 0 && v.Entries[at].Commit != "" {
			v.Entries[at].PR = number
		}
	}
	return nil
}

func (v *View) put(e state.HistoryEntry) {
	if at := v.find(e.Iteration, e.Baseline); at >= 0 {
		v.Entries[at] = e
	} else {
		v.Entries = append(v.Entries, e)
	}
}

// find returns the index of an iteration's entry, -1 without one. The entries are in order, so
// that it looks no further than the first of an earlier iteration.
func (v *View) find(iteration int, baseline bool) int {
	for i, e := range slices.Backward(v.Entries) {
		if e.Iteration == iteration && e.Baseline == baseline {
			return i
		}
		if e.Iteration < iteration {
			break
		}
	}
	return -1
}

// runOf is the number of the run of Actions that an event is of, "" for another run.
func runOf(e *history.Head) string {
	number, _, _ := strings.Cut(e.Run, "-")
	if strings.Trim(number, "0123456789") != "" {
		return ""
	}
	return number
}

// Machine is a table of the state as the ledger has it. What the ledger does not say stays.
func Machine(m state.Machine, sum *history.Summary, branch string) state.Machine {
	m.Branch, m.IterationCount = branch, sum.Iteration
	m.InitialMetric, m.BestMetric = sum.Initial, sum.Best
	m.ConsecutiveErrors, m.RecentStatuses = sum.ConsecutiveErrors(), sum.Statuses()
	if sum.Issue > 0 {
		m.Issue = sum.Issue
	}
	if sum.Pull > 0 {
		m.PR = sum.Pull
	}
	if sum.PullEnded == m.PR {
		m.PR = 0
	}
	if last := sum.LastRun; !last.IsZero() {
		m.LastRun = &last
	}
	m.NotBefore = nil
	if until := sum.NotBefore; !until.IsZero() {
		m.NotBefore = &until
	}
	return m
}

// measured is a baseline: the default branch's number, or the incumbent's after it.
func (v *View) measured(before *history.Summary, e *history.Measured) *results.Row {
	if e.Role == history.Baseline || v.baseline == nil {
		v.baseline, v.first, v.best = e, before.Initial == nil, before.Best
	}
	changelog, notes := results.InitialEvaluation, []string(nil)
	if !v.first {
		why := decision.Text(v.baseline.Reason)
		changelog, notes = "New baseline: "+why, []string{why}
	}
	if v.best != nil {
		notes = append(notes, fmt.Sprintf("the best before was %s", v.best))
	}
	if v.baseline.Noisy && len(e.Samples) > 0 {
		notes = append(notes, fmt.Sprintf("noisy: the median of %d runs, with a spread of %s between the quartiles",
			len(e.Samples), statistics.Spread(e.Samples)))
	}
	v.put(state.HistoryEntry{
		Iteration: e.Iteration, Baseline: true, Time: e.Time, Run: runOf(&e.Head), Change: changelog,
		Metric: e.Metric, Notes: notes,
	})
	return &results.Row{
		Iteration: e.Iteration, Time: e.Time, Score: e.Metric, Action: results.Baseline,
		Changelog: changelog,
	}
}

func entryOf(before *history.Summary, e *history.Decided) state.HistoryEntry {
	entry := state.HistoryEntry{
		Iteration: e.Iteration, Time: e.Time, Run: runOf(&e.Head), Status: e.Outcome,
		Change: e.Summary, Metric: e.Metric,
		PreviousBest: e.PreviousBest, Delta: e.Delta, Notes: decision.Texts(e.Reasons),
		Commit: fmt.Sprintf("%.12s", e.Commit),
	}
	if before.Holds(e.Run) {
		entry.Time = before.Open.Time
	}
	if last := before.Decision; last != nil && last.Iteration == e.Iteration {
		entry.CIFixAttempts = before.Fixes()
	}
	if e.Disagreement != nil {
		entry.Notes = append(entry.Notes, e.Disagreement.String())
	}
	if e.Commit != "" || e.Outcome == history.CIFixExhausted {
		entry.PR = before.OpenPull()
	}
	return entry
}

func rowOf(before *history.Summary, e *history.Decided) *results.Row {
	row := &results.Row{Iteration: e.Iteration, Time: e.Time, Action: results.Reverted, Changelog: e.Summary}
	if e.Outcome == history.Accepted {
		row.Action = results.Kept
	}
	if e.Verdict != "" {
		row.Score = e.Metric
	}
	// What waited for CI keeps the agent's summary alone.
	if waited := before.Waiting(); e.Outcome == history.Accepted || len(e.Reasons) == 0 || waited != nil &&
		waited.Iteration == e.Iteration {
		return row
	}
	if row.Changelog != "" {
		row.Changelog += " — "
	}
	row.Changelog += e.Reasons[0].String()
	return row
}
