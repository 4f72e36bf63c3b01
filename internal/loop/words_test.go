package loop_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
		"nothing":             {nil, true, ""},
		"rejected":            {[]loop.Result{{Outcome: history.Rejected}}, true, ""},
		"an error":            {[]loop.Result{{Outcome: history.Error}}, false, ""},
		"an error that fails": {[]loop.Result{{Program: "p", Iteration: 2, Outcome: history.Error, Reasons: []string{"a", "b"}}}, true, "iteration 2 of p ended in an error: a; b"},
		"unmeasurable":        {[]loop.Result{{Program: "p", BaselineError: "exit code 1"}}, false, "p cannot be measured: exit code 1"},
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
		"nothing":  {loop.Result{}, ""},
		"a gain":   {loop.Result{Program: "p", Initial: &first, BestMetric: &now}, "\np: 2 at the start, 3 now (+1)\n"},
		"noisy":    {loop.Result{Program: "p", Initial: &first, BestMetric: &now, Noisy: true}, "\np: 2 at the start, 3 now (+1; noisy and measured at different times, so the sum of the gains may differ)\n"},
		"a bundle": {loop.Result{Bundle: "b"}, "\nnothing is recorded yet: `iterate publish` verifies the bundle, and records it\n"},
		"stopped":  {loop.Result{Program: "p", Stopped: "completed: its target is reached"}, "p is completed: its target is reached\n"},
		"budget":   {loop.Result{Program: "p", Stopped: "budget: 4 of 4 iterations used"}, "p: budget: 4 of 4 iterations used\n"},
		"asked":    {loop.Result{Program: "p", Stopped: "a person asked it to stop"}, "p: a person asked it to stop\n"},
		"failed":   {loop.Result{Iteration: 4, Output: "/o", Reasons: []string{"exit\ncode 1"}}, "\niteration 4: exit code 1\n  all that it printed: /o\n"},
	} {
		assert.Equal(t, c.says, loop.Notes([]loop.Result{c.result}), name)
	}
	assert.Empty(t, loop.Notes(nil))
}

func TestResultTable(t *testing.T) {
	t.Parallel()
	value, delta := metric.MustValue("3"), "+1"
	assert.Equal(t, "iteration  outcome   metric  delta  best  time  why\n"+
		"        1  accepted       3     +1     3  1.5s  did it\n"+
		"        2  proposed       —      —     —  0.0s  slower; by much\n", loop.ResultTable([]loop.Result{
		{Iteration: 1, Outcome: history.Accepted, Metric: &value, Delta: &delta, BestMetric: &value, Seconds: 1.5, Summary: "did it", Reasons: []string{"better"}},
		{Iteration: 2, Outcome: history.Rejected, Bundle: "b", Reasons: []string{"slower", "by much"}},
	}).String())
}

func TestWarningsAreSaidOnce(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"a", "b"}, loop.Warnings([]loop.Result{{Warnings: []string{"a", "b"}}, {Warnings: []string{"b", "a"}}}))
}
