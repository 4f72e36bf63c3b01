package loop_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/metric"
)

func TestFailed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		results []loop.Result
		onError bool
		says    string
	}{
		"nothing":  {nil, true, ""},
		"rejected": {[]loop.Result{{Outcome: history.Rejected}}, true, ""},
		"an error": {[]loop.Result{{Outcome: history.Error}}, false, ""},
		"an error that fails": {[]loop.Result{{
			Program: "p", Iteration: 2, Outcome: history.Error,
			Reasons: decision.Says("a", "b"),
		}}, true, "iteration 2 of p ended in an error: a; b"},
		"unmeasurable": {
			[]loop.Result{{Program: "p", BaselineError: "exit code 1"}},
			false,
			"p cannot be measured: exit code 1",
		},
	} {
		err := loop.Failed(c.results, c.onError)
		if c.says == "" {
			require.NoError(t, err, name)
			continue
		}
		require.EqualError(t, err, c.says, name)
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	first, now := metric.MustValue("2"), metric.MustValue("3")
	for name, c := range map[string]struct {
		result loop.Result
		says   string
	}{
		"nothing": {loop.Result{}, ""},
		"a gain":  {loop.Result{Program: "p", Initial: &first, BestMetric: &now}, "\np: 2 at the start, 3 now (+1)\n"},
		"noisy": {
			loop.Result{Program: "p", Initial: &first, BestMetric: &now, Noisy: true},
			"\np: 2 at the start, 3 now (+1; noisy and measured at different times, so the sum of the gains may " +
				"differ)\n",
		},
		"a bundle": {
			loop.Result{Bundle: "b"},
			"\nnothing is recorded yet: `iterate job publish` verifies the bundle, and records it\n",
		},
		"stopped": {
			loop.Result{Program: "p", Stopped: "completed: its target is reached"},
			"p is completed: its target is reached\n",
		},
		"budget": {
			loop.Result{Program: "p", Stopped: "budget: 4 of 4 iterations used"},
			"p: budget: 4 of 4 iterations used\n",
		},
		"asked": {loop.Result{Program: "p", Stopped: "a person asked it to stop"}, "p: a person asked it to stop\n"},
		"failed": {
			loop.Result{Iteration: 4, Output: "/o", Reasons: decision.Says("exit\ncode 1")},
			"\niteration 4: exit code 1\n  all that it printed: /o\n",
		},
	} {
		assert.Equal(t, c.says, loop.Notes([]loop.Result{c.result}), name)
	}
	assert.Empty(t, loop.Notes(nil))
}

func TestResultTable(t *testing.T) {
	t.Parallel()
	value, delta := metric.MustValue("3"), "+1"
	assert.Equal(t, "iteration  outcome   metric  delta  best  time  why\n"+
		"        1  kept           3     +1     3  1.5s  did it\n"+
		"        2  proposed       —      —     —  0.0s  slower; by much\n", loop.ResultTable([]loop.Result{
		{
			Iteration: 1, Outcome: history.Accepted, Metric: &value, Delta: &delta, BestMetric: &value, Seconds: 1.5,
			Summary: "did it", Reasons: decision.Says("better"),
		},
		{Iteration: 2, Outcome: history.Rejected, Bundle: "b", Reasons: decision.Says("slower", "by much")},
	}).String())
}

func TestWarningsAreSaidOnce(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"a", "b"},
		loop.Warnings([]loop.Result{{Warnings: []string{"a", "b"}}, {Warnings: []string{"b", "a"}}}))
}

// TestATableOfNoisyRuns says beside each number what it was compared with: the last
// comparison's incumbent.
func TestATableOfNoisyRuns(t *testing.T) {
	t.Parallel()
	value, best := metric.MustValue("3"), metric.MustValue("2")
	evidence := func(incumbents ...string) (list []decision.Evidence) {
		for _, of := range incumbents {
			list = append(list, decision.Evidence{Effect: statistics.Effect{Incumbent: metric.MustValue(of)}})
		}
		return list
	}
	table := loop.ResultTable([]loop.Result{
		{
			Iteration: 1, Outcome: history.Rejected, Metric: &value, BestMetric: &best, Evidence: evidence("2.5"),
			Reasons: decision.Says("slower"), Summary: "did it",
		},
		{
			Iteration: 2, Outcome: history.Accepted, Metric: &value, BestMetric: &value,
			Evidence: evidence("2.5", "2.25"),
			Reasons:  decision.Says("better"), Summary: "did\nmore",
		},
		{Iteration: 3, Outcome: history.Error, BestMetric: &value},
	})
	assert.Equal(t, []string{"iteration", "outcome", "metric", "incumbent", "delta", "best", "time", "why"},
		table.Header)
	assert.Equal(t, [][]string{
		{"1", "not kept", "3", "2.5", "—", "2", "0.0s", "slower"},
		{"2", "kept", "3", "2.25", "—", "3", "0.0s", "did more"},
		{"3", "error", "—", "—", "—", "3", "0.0s", ""},
	}, table.Rows)
	assert.Equal(t, "rlrrrrr", table.Align)
	assert.Empty(t, loop.ResultTable(nil).Rows)
}

// TestPicturesOfTrials are drawn of every kept iteration and of the last one, of its last
// comparison.
func TestPicturesOfTrials(t *testing.T) {
	t.Parallel()
	trial := func(iteration int, outcome history.Outcome, stages ...string) loop.Result {
		r := loop.Result{Iteration: iteration, Outcome: outcome}
		for i, stage := range stages {
			r.Evidence = append(r.Evidence, decision.Evidence{
				Stage: decision.Stage(stage), Pairs: 8, Confidence: 0.95, Effect: statistics.Effect{
					P: 0.0123, Incumbent: metric.FromInt(int64(2 + i)), Candidate: metric.FromInt(3),
					Difference: metric.FromInt(1), Low: metric.MustValue("0.5"), High: metric.MustValue("1.5"),
				},
			})
		}
		r.Samples = loop.Samples{
			Incumbent: []metric.Value{metric.FromInt(2), metric.FromInt(4)},
			Candidate: []metric.Value{metric.FromInt(3)},
		}
		return r
	}
	for name, c := range map[string]struct {
		results []loop.Result
		titles  []string
	}{
		"rejected, and the last": {
			[]loop.Result{trial(1, history.Rejected, "pairs")},
			[]string{"iteration 1, pairs: 8 pairs, p = 0.012, difference +1 (95 % interval 0.5 to 1.5)"},
		},
		"kept, of two stages": {
			[]loop.Result{trial(1, history.Accepted, "pairs", "confirmation"), {Iteration: 2}},
			[]string{"iteration 1, confirmation: 8 pairs, p = 0.012, difference +1 (95 % interval 0.5 to 1.5)"},
		},
		"rejected before": {[]loop.Result{trial(1, history.Rejected, "pairs"), {Iteration: 2}}, nil},
		"not noisy":       {[]loop.Result{{Iteration: 1, Outcome: history.Accepted}}, nil},
		"kept twice, and a last": {
			[]loop.Result{
				trial(1, history.Accepted, "pairs"), trial(2, history.Rejected, "pairs"),
				trial(3, history.Accepted, "pairs"), trial(4, history.Error, "pairs"),
			},
			[]string{"iteration 1, ", "iteration 3, ", "iteration 4, "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			notes := loop.Notes(c.results)
			assert.Equal(t, len(c.titles), strings.Count(notes, "iteration "), notes)
			at := 0
			for _, title := range c.titles {
				found := strings.Index(notes[at:], title)
				require.GreaterOrEqual(t, found, 0, "%s in %s", title, notes)
				at += found
			}
			assert.Equal(t, len(c.titles), strings.Count(notes, "candidate"))
			if name == "kept, of two stages" {
				assert.Contains(t, notes, "median 3")
				assert.NotContains(t, notes, "median 2")
			}
		})
	}
}

// TestNotesAreOfTheLastResult, but for the failed evaluations of all, each once and whole.
func TestNotesAreOfTheLastResult(t *testing.T) {
	t.Parallel()
	one, two := metric.MustValue("1"), metric.MustValue("2")
	notes := loop.Notes([]loop.Result{
		{
			Program: "p", Iteration: 1, Output: "/o/1",
			Reasons: decision.Says("the evaluation fails: oh\nno", "and more"),
			Initial: &one, BestMetric: &one, Stopped: "paused: then",
		},
		{Program: "p", Iteration: 2, Reasons: decision.Says("not printed")},
		{
			Program: "p", Iteration: 3, Output: "/o/3", Reasons: decision.Says("again"), Initial: &one,
			BestMetric: &two,
			Stopped:    "paused: now",
		},
	})
	assert.Equal(t, "\niteration 1: the evaluation fails: oh no\n\niteration 1: and more\n  all that it printed: /o/1\n"+
		"\niteration 3: again\n  all that it printed: /o/3\n\np: 1 at the start, 2 now (+1)\np is paused: now\n", notes)
}
