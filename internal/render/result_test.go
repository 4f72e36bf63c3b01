package render_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
)

func TestNotes(t *testing.T) {
	t.Parallel()
	first, now := metric.MustValue("2"), metric.MustValue("3")
	for name, c := range map[string]struct {
		result render.Result
		says   string
	}{
		"nothing": {render.Result{}, ""},
		"a gain":  {render.Result{Program: "p", Initial: &first, BestMetric: &now}, "\np: 2 at the start, 3 now (+1)\n"},
		"noisy": {
			render.Result{Program: "p", Initial: &first, BestMetric: &now, Noisy: true},
			"\np: 2 at the start, 3 now (+1; noisy and measured at different times, so the sum of the gains may " +
				"differ)\n",
		},
		"a bundle": {
			render.Result{Bundle: "b"},
			"\nnothing is recorded yet: `iterate job publish` verifies the bundle, and records it\n",
		},
		"stopped": {
			render.Result{Program: "p", Stopped: "completed: its target is reached"},
			"p: completed: its target is reached\n",
		},
		"budget": {
			render.Result{Program: "p", Stopped: "budget: 4 of 4 iterations used"},
			"p: budget: 4 of 4 iterations used\n",
		},
		"failed": {
			render.Result{Iteration: 4, Output: "/o", Reasons: decision.Says("exit\ncode 1")},
			"\niteration 4: exit code 1\n  all that it printed: /o\n",
		},
	} {
		assert.Equal(t, c.says, render.Notes([]render.Result{c.result}), name)
	}
	assert.Empty(t, render.Notes(nil))
}

func TestResultTable(t *testing.T) {
	t.Parallel()
	value, delta := metric.MustValue("3"), "+1"
	assert.Equal(t, "iteration  outcome   metric  delta  best  time  why\n"+
		"        1  kept           3     +1     3  1.5s  did it\n"+
		"        2  proposed       —      —     —  0.0s  slower; by much\n", render.ResultTable([]render.Result{
		{
			Iteration: 1, Outcome: history.Accepted, Metric: &value, Delta: &delta, BestMetric: &value, Seconds: 1.5,
			Summary: "did it", Reasons: decision.Says("better"),
		},
		{Iteration: 2, Outcome: history.Rejected, Bundle: "b", Reasons: decision.Says("slower", "by much")},
	}).String())
}

// TestTableOfNoisyRuns says beside each number what it was compared with: the last
// comparison's incumbent.
func TestTableOfNoisyRuns(t *testing.T) {
	t.Parallel()
	value := metric.MustValue("3")
	of := func(incumbent string) decision.Evidence {
		return decision.Evidence{Effect: statistics.Effect{Incumbent: metric.MustValue(incumbent)}}
	}
	table := render.ResultTable([]render.Result{
		{
			Iteration: 1, Outcome: history.Accepted, Metric: &value, BestMetric: &value,
			Evidence: []decision.Evidence{of("2.5"), of("2.25")}, Summary: "did\nmore",
		},
		{Iteration: 2, Outcome: history.Error, BestMetric: &value},
	})
	assert.Equal(t, []string{"iteration", "outcome", "metric", "incumbent", "delta", "best", "time", "why"},
		table.Header)
	assert.Equal(t, [][]string{
		{"1", "kept", "3", "2.25", "—", "3", "0.0s", "did more"},
		{"2", "error", "—", "—", "—", "3", "0.0s", ""},
	}, table.Rows)
	assert.Equal(t, "rlrrrrr", table.Align)
}

// TestTrialsAreTold of every kept iteration and of the last one, of its last
// comparison.
func TestTrialsAreTold(t *testing.T) {
	t.Parallel()
	trial := func(iteration int, outcome state.Status, stages ...decision.Stage) render.Result {
		r := render.Result{Iteration: iteration, Outcome: outcome}
		for _, stage := range stages {
			r.Evidence = append(r.Evidence, decision.Evidence{
				Stage: stage, Pairs: 8, Confidence: 0.95,
				Effect: statistics.Effect{P: 0.0123, Difference: metric.FromInt(1)},
			})
		}
		return r
	}
	said := render.Notes([]render.Result{
		trial(1, history.Accepted, "pairs", "confirmation"), trial(2, history.Rejected, "pairs"),
		{Iteration: 3, Outcome: history.Accepted},
		trial(4, history.Error, "pairs"),
	})
	assert.Equal(t, 2, strings.Count(said, "iteration "), said)
	assert.Contains(t, said, "8 pairs, p = 0.012, difference +1 (95 %")
	assert.Contains(t, said, "iteration 4, pairs")
}
