// Package view makes of a program's events what people read of them: the entries of
// the state's history and the rows of the results. Who writes these and who holds them
// against the ledger make them alike. It does no I/O.
package view

import (
	"fmt"
	"strconv"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
)

// Pages take what follows from the events. A later entry or row of the same iteration
// and kind replaces an earlier one.
type Pages interface {
	Entry(e state.HistoryEntry)
	// Row has no best score yet.
	Row(row results.Row) error
	// Pull says that the commit of an iteration went into a pull request.
	Pull(iteration, number int)
}

// View goes through the events. It may begin with any but between the measurements of
// one baseline.
type View struct {
	baseline *history.Measured // the last
	first    bool              // no baseline came before it
	best     *metric.Value     // before it
}

// Add takes the next event over; before is what the ledger adds up to without it.
func (v *View) Add(before *history.Summary, e history.Event, to Pages) error {
	switch e := e.(type) {
	case *history.Measured:
		if e.Stage == "" && e.Role != history.Candidate && e.Metric != nil {
			return v.measured(before, e, to)
		}
	case *history.Decided:
		to.Entry(entryOf(before, e))
		if e.Outcome != history.PendingCI {
			return to.Row(rowOf(before, e))
		}
	case *history.Set:
		if number, err := strconv.Atoi(e.Value); err == nil && e.Key == history.PullNumber &&
			number != before.PullEnded {
			if iteration := before.Promoted(); iteration > 0 {
				to.Pull(iteration, number)
			}
		}
	}
	return nil
}

// measured is a baseline: the default branch's number, or the incumbent's after it.
func (v *View) measured(before *history.Summary, e *history.Measured, to Pages) error {
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
	to.Entry(state.HistoryEntry{
		Iteration: e.Iteration, Baseline: true, Time: e.Time, Change: changelog,
		Metric: e.Metric, Notes: notes,
	})
	return to.Row(results.Row{
		Iteration: e.Iteration, Time: e.Time, Score: e.Metric, Action: results.Baseline,
		Changelog: changelog,
	})
}

func entryOf(before *history.Summary, e *history.Decided) state.HistoryEntry {
	entry := state.HistoryEntry{
		Iteration: e.Iteration, Time: e.Time, Status: state.Status(e.Outcome), Change: e.Summary, Metric: e.Metric,
		PreviousBest: e.PreviousBest, Delta: e.Delta, Notes: decision.Texts(e.Reasons),
		Commit: fmt.Sprintf("%.12s", e.Commit),
	}
	if open := before.Open; open != nil && open.Run == e.Run {
		entry.Time = open.Time
	}
	if last := before.Standing.Decision; last != nil && last.Iteration == e.Iteration {
		entry.CIFixAttempts = before.Standing.Fixes()
	}
	if e.Disagreement != nil {
		entry.Notes = append(entry.Notes, e.Disagreement.String())
	}
	if e.Commit != "" || e.Outcome == history.CIFixExhausted {
		entry.PR = before.OpenPull()
	}
	return entry
}

func rowOf(before *history.Summary, e *history.Decided) results.Row {
	row := results.Row{Iteration: e.Iteration, Time: e.Time, Action: results.Reverted, Changelog: e.Summary}
	if e.Outcome == history.Accepted {
		row.Action = results.Kept
	}
	if e.Verdict != "" {
		row.Score = e.Metric
	}
	// What waited for CI keeps the agent's summary alone.
	if waited := before.Standing.Waiting(); e.Outcome == history.Accepted || len(e.Reasons) == 0 || waited != nil &&
		waited.Iteration == e.Iteration {
		return row
	}
	if row.Changelog != "" {
		row.Changelog += " — "
	}
	row.Changelog += e.Reasons[0].String()
	return row
}
