package audit

import (
	"fmt"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
)

// entries holds the metrics of the state's history against the ledger. Of an
// iteration from before the ledger, and of what was folded, nothing is known.
func (r *Report) entries(records Records) {
	type key struct {
		iteration int
		baseline  bool
	}
	want := map[key]state.HistoryEntry{}
	for _, e := range records.Events {
		switch e := e.(type) {
		case *history.Decided:
			want[key{e.Iteration, false}] = state.HistoryEntry{Metric: e.Metric, PreviousBest: e.PreviousBest, Delta: e.Delta}
		case *history.Measured:
			if e.Stage == "" && e.Role != history.Candidate && e.Metric != nil {
				want[key{e.Iteration, true}] = state.HistoryEntry{Metric: e.Metric}
			}
		}
	}
	for _, have := range records.Entries {
		e, known := want[key{have.Iteration, have.Baseline}]
		if known && have.Metric != e.MetricText() {
			r.find(State, have.Iteration, fmt.Sprintf("its history entry says %q, and the ledger gives %q", have.Metric, e.MetricText()))
		}
	}
}
