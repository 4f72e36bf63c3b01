package audit

import (
	"fmt"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/history"
)

// order holds the events against the steps of an iteration: a run starts, measures,
// decides, says what it pushed, and finishes.
type order struct {
	started map[string]bool
	runs    map[string]int   // the iterations that they began
	pushed  map[string]bool  // commits
	open    *history.Decided // the last final decision that nothing finished yet
	made    *history.Decided // the last decision with a commit that nothing pushed yet
}

// unfinished finds what should have followed by now.
func (o *order) unfinished(r *Report) {
	if o.open != nil {
		r.find(Ledger, o.open.Iteration, fmt.Sprintf("the run %s decided, and no `finished` event follows", o.open.Run))
	}
	if o.made != nil {
		r.find(Ledger, o.made.Iteration, fmt.Sprintf("commit %.12s was decided, and no `pushed` event follows", o.made.Commit))
	}
	o.open, o.made = nil, nil
}

func (o *order) add(r *Report, event history.Event) {
	if o.started == nil {
		o.started, o.pushed, o.runs = map[string]bool{}, map[string]bool{}, map[string]int{}
	}
	switch event.(type) {
	case *history.Started:
		o.unfinished(r)
		e := event.Header()
		o.started[e.Run] = true
		if began, known := o.runs[e.Run]; known && began != e.Iteration {
			r.find(Ledger, e.Iteration, fmt.Sprintf("the run %s began iteration %d, and no run begins two", e.Run, began))
		}
		o.runs[e.Run] = e.Iteration
	case *history.Measured, *history.Proposed, *history.Decided, *history.Pushed, *history.Checked:
		if e := event.Header(); !o.started[e.Run] {
			r.find(Ledger, e.Iteration, fmt.Sprintf("the run %s has a `%s` event without a `started` event", e.Run, history.KindOf(event)))
			o.started[e.Run] = true // it is said once
		}
	}
	switch e := event.(type) {
	case *history.Decided:
		if e.Outcome != history.PendingCI {
			o.open = e
		}
		if e.Commit != "" && !o.pushed[e.Commit] {
			o.made = e
		}
	case *history.Pushed:
		o.pushed[e.Commit] = true
		if o.made == nil || o.made.Commit != e.Commit {
			r.find(Ledger, e.Iteration, fmt.Sprintf("commit %.12s was pushed, and no decision made it", e.Commit))
		} else {
			o.made = nil
		}
	case *history.Finished:
		if o.open != nil && o.open.Run == e.Run && o.open.Iteration == e.Iteration {
			o.open = nil
		}
	}
}

// samples holds a measured number against the runs that it is the median of.
func (r *Report) samples(e *history.Measured) {
	if e.Metric == nil || len(e.Samples) == 0 {
		return
	}
	if median := statistics.Median(e.Samples); median.String() != e.Metric.String() {
		r.find(Ledger, e.Iteration, fmt.Sprintf("the measured metric of the %s is %s, and the median of its samples is %s", e.Role, e.Metric, median))
	}
}
