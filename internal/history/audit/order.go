package audit

import (
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/history"
)

// order holds the events against the steps of an iteration: a run starts, measures,
// decides, says what it pushed, and finishes.
func (r *Report) order(events []history.Event) {
	started := map[string]bool{}
	var open *history.Decided // the last final decision that nothing finished yet
	var made *history.Decided // the last decision with a commit that nothing pushed yet
	unfinished := func() {
		if open != nil {
			r.find(Ledger, open.Iteration, fmt.Sprintf("the run %s decided, and no `finished` event follows", open.Run))
		}
		if made != nil {
			r.find(Ledger, made.Iteration, fmt.Sprintf("commit %.12s was decided, and no `pushed` event follows", made.Commit))
		}
		open, made = nil, nil
	}
	pushed := map[string]bool{}
	for _, event := range events {
		switch event.(type) {
		case *history.Started:
			unfinished()
			started[event.Header().Run] = true
		case *history.Measured, *history.Proposed, *history.Decided, *history.Pushed, *history.Checked:
			if e := event.Header(); !started[e.Run] {
				r.find(Ledger, e.Iteration, fmt.Sprintf("the run %s has a `%s` event without a `started` event", e.Run, history.KindOf(event)))
				started[e.Run] = true // it is said once
			}
		}
		switch e := event.(type) {
		case *history.Decided:
			if e.Outcome != history.PendingCI {
				open = e
			}
			if e.Commit != "" && !pushed[e.Commit] {
				made = e
			}
		case *history.Pushed:
			pushed[e.Commit] = true
			if made == nil || made.Commit != e.Commit {
				r.find(Ledger, e.Iteration, fmt.Sprintf("commit %.12s was pushed, and no decision made it", e.Commit))
			} else {
				made = nil
			}
		case *history.Finished:
			if open != nil && open.Run == e.Run && open.Iteration == e.Iteration {
				open = nil
			}
		}
	}
	unfinished()
}

// samples holds every measured number against the runs that it is the median of.
func (r *Report) samples(events []history.Event) {
	for e := range history.Of[*history.Measured](slices.All(events)) {
		if e.Metric == nil || len(e.Samples) == 0 {
			continue
		}
		if median := statistics.Median(e.Samples); median.Cmp(*e.Metric) != 0 {
			r.find(Ledger, e.Iteration, fmt.Sprintf("the measured metric of the %s is %s, and the median of its samples is %s", e.Role, e.Metric, median))
		}
	}
}
