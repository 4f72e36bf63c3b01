package history

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
)

// Show is Add for who writes what people read, or holds it against the ledger: it makes an
// entry of the state's history, and returns the row of the results that follows, without a
// best score, nil for none. A later entry or row of the same iteration and kind replaces an
// earlier one.
func (b *Summary) Show(e Event) *results.Row {
	row := b.show(e)
	b.Add(e)
	return row
}

// Shown is Replay with the entries.
func Shown(events []Event) (b Summary) {
	for _, e := range events {
		b.Show(e)
	}
	return b
}

func (b *Summary) show(e Event) *results.Row {
	switch e := e.(type) {
	case *Measured:
		if e.Stage == "" && e.Role != Candidate && e.Metric != nil {
			return b.showBaseline(e)
		}
	case *Decided:
		b.put(b.entry(e))
		if e.Outcome != PendingCI {
			return b.row(e)
		}
	case *Set:
		number, err := strconv.Atoi(e.Value)
		if err != nil || e.Key != PullNumber || number == b.PullEnded || number < 1 {
			return nil
		}
		// The commit of an iteration went into a pull request.
		if at := b.find(b.Promoted(), false); at >= 0 && b.Entries[at].PR == 0 && b.Entries[at].Commit != "" {
			b.Entries[at].PR = number
		}
	}
	return nil
}

func (b *Summary) put(e state.HistoryEntry) {
	if at := b.find(e.Iteration, e.Status == state.Baseline); at >= 0 {
		b.Entries[at] = e
	} else {
		b.Entries = append(b.Entries, e)
	}
}

// find returns the index of an iteration's entry, -1 without one. The entries are in order, so
// that it looks no further than the first of an earlier iteration.
func (b *Summary) find(iteration int, baseline bool) int {
	for i, e := range slices.Backward(b.Entries) {
		if e.Iteration == iteration && (e.Status == state.Baseline) == baseline {
			return i
		}
		if e.Iteration < iteration {
			break
		}
	}
	return -1
}

// ActionsRun is the number of the run of Actions that a run is, "" for another run.
func ActionsRun(run string) string {
	number, _, _ := strings.Cut(run, "-")
	if strings.Trim(number, "0123456789") != "" {
		return ""
	}
	return number
}

// Machine is a table of the state as the ledger has it. What the ledger does not say stays.
func (b *Summary) Machine(m state.Machine, branch string) state.Machine {
	m.Branch, m.IterationCount = branch, b.Iteration
	m.InitialMetric, m.BestMetric = b.Initial, b.Best
	m.ConsecutiveErrors, m.RecentStatuses = b.ConsecutiveErrors(), b.Statuses()
	if b.Issue > 0 {
		m.Issue = b.Issue
	}
	if b.Pull > 0 {
		m.PR = b.Pull
	}
	if b.PullEnded == m.PR {
		m.PR = 0
	}
	if last := b.LastRun; !last.IsZero() {
		m.LastRun = &last
	}
	m.NotBefore = nil
	if until := b.NotBefore; !until.IsZero() {
		m.NotBefore = &until
	}
	return m
}

// showBaseline shows the default branch's number, or the incumbent's after it.
func (b *Summary) showBaseline(e *Measured) *results.Row {
	if e.Role == Baseline || b.shown.baseline == nil {
		b.shown.baseline, b.shown.first, b.shown.best = e, b.Initial == nil, b.Best
	}
	changelog, notes := results.InitialEvaluation, []string(nil)
	if !b.shown.first {
		why := decision.Text(b.shown.baseline.Reason)
		changelog, notes = "New baseline: "+why, []string{why}
	}
	if b.shown.best != nil {
		notes = append(notes, fmt.Sprintf("the best before was %s", b.shown.best))
	}
	if b.shown.baseline.Noisy && len(e.Samples) > 0 {
		notes = append(notes, fmt.Sprintf("noisy: the median of %d runs, with a spread of %s between the quartiles",
			len(e.Samples), statistics.Spread(e.Samples)))
	}
	b.put(state.HistoryEntry{
		Iteration: e.Iteration, Time: e.Time, Run: ActionsRun(e.Run), Status: state.Baseline, Change: changelog,
		Metric: e.Metric, Notes: notes,
	})
	return &results.Row{
		Iteration: e.Iteration, Time: e.Time, Score: e.Metric, Action: results.Baseline,
		Changelog: changelog,
	}
}

func (b *Summary) entry(e *Decided) state.HistoryEntry {
	entry := state.HistoryEntry{
		Iteration: e.Iteration, Time: e.Time, Run: ActionsRun(e.Run), Status: e.Outcome,
		Change: e.Summary, Metric: e.Metric,
		PreviousBest: e.PreviousBest, Delta: e.Delta, Notes: decision.Texts(e.Reasons),
		Commit: fmt.Sprintf("%.12s", e.Commit),
	}
	if b.Holds(e.Run) {
		entry.Time = b.Open.Time
	}
	if last := b.Decision; last != nil && last.Iteration == e.Iteration {
		entry.CIFixAttempts = b.Fixes()
	}
	if e.Disagreement != nil {
		entry.Notes = append(entry.Notes, e.Disagreement.String())
	}
	if e.Commit != "" || e.Outcome == CIFixExhausted {
		entry.PR = b.OpenPull()
	}
	return entry
}

func (b *Summary) row(e *Decided) *results.Row {
	row := &results.Row{Iteration: e.Iteration, Time: e.Time, Action: results.Reverted, Changelog: e.Summary}
	if e.Outcome == Accepted {
		row.Action = results.Kept
	}
	if e.Verdict != "" {
		row.Score = e.Metric
	}
	// What waited for CI keeps the agent's summary alone.
	if waited := b.Waiting(); e.Outcome == Accepted || len(e.Reasons) == 0 || waited != nil &&
		waited.Iteration == e.Iteration {
		return row
	}
	if row.Changelog != "" {
		row.Changelog += " — "
	}
	row.Changelog += e.Reasons[0].String()
	return row
}
