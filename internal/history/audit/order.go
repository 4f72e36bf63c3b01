package audit

import (
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/history"
)

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
