package audit

import (
	"fmt"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
)

type entryKey struct {
	iteration int
	baseline  bool
}

// entries holds the metrics of the state's history against the ledger. Of an
// iteration from before the ledger, and of what was folded, nothing is known.
type entries struct {
	shown []state.EntryMetric
	want  map[entryKey]string
	known map[entryKey]bool // those that the ledger has
}

func newEntries(shown []state.EntryMetric) entries {
	e := entries{shown, map[entryKey]string{}, map[entryKey]bool{}}
	for _, one := range shown {
		e.want[entryKey{one.Iteration, one.Baseline}] = ""
	}
	return e
}

func (s *entries) add(event history.Event) {
	switch e := event.(type) {
	case *history.Decided:
		s.put(entryKey{e.Iteration, false}, state.HistoryEntry{Metric: e.Metric, PreviousBest: e.PreviousBest, Delta: e.Delta})
	case *history.Measured:
		if e.Stage == "" && e.Role != history.Candidate && e.Metric != nil {
			s.put(entryKey{e.Iteration, true}, state.HistoryEntry{Metric: e.Metric})
		}
	}
}

func (s *entries) put(key entryKey, entry state.HistoryEntry) {
	if _, shown := s.want[key]; shown {
		s.want[key], s.known[key] = entry.MetricText(), true
	}
}

func (s *entries) compare(r *Report) {
	for _, have := range s.shown {
		key := entryKey{have.Iteration, have.Baseline}
		if s.known[key] && have.Metric != s.want[key] {
			r.find(State, have.Iteration, fmt.Sprintf("its history entry says %q, and the ledger gives %q", have.Metric, s.want[key]))
		}
	}
}
