package audit_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

func TestWhatCIEndsIsWhatWaited(t *testing.T) {
	t.Parallel()
	waited := recorded(t, decision.Rule{Regime: decision.Single, Pairs: 8, Confidence: 0.95}, better)
	pending := decided(waited)
	require.Equal(t, history.Accepted, pending.Outcome)
	pending.Outcome, pending.Commit = history.PendingCI, "c1"
	waited[len(waited)-1] = &history.Pushed{Head: history.Head{Iteration: 1}, Commit: "c1"}
	waited = append(waited, &history.Finished{Head: history.Head{Iteration: 1}, Outcome: history.PendingCI},
		&history.Started{Head: history.Head{Iteration: 2, Run: "later"}})
	other := metric.FromInt(1000)
	for name, c := range map[string]struct {
		change func(*history.Decided)
		says   []string
	}{
		"green": {func(e *history.Decided) { e.Outcome = history.Accepted }, nil},
		"red": {func(e *history.Decided) {
			best := metric.FromInt(100)
			e.Outcome, e.Commit, e.Best = history.CIFixExhausted, "", &best
		}, nil},
		"another number": {
			func(e *history.Decided) { e.Outcome, e.Metric = history.Accepted, &other },
			[]string{"the metric is 1000 after CI, and was 111 when it waited for CI"},
		},
		"another best": {
			func(e *history.Decided) { e.Outcome, e.Best = history.Accepted, &other },
			[]string{"the best afterwards is 1000 after CI, and was 111 when it waited for CI"},
		},
		"another commit": {
			func(e *history.Decided) { e.Outcome, e.Commit = history.Accepted, "c2" },
			[]string{
				"CI was waited for with commit c1, and c2 was decided",
				"commit c2 was decided, and no `pushed` event follows",
			},
		},
	} {
		final := *pending
		final.Run = "later"
		c.change(&final)
		finished := &history.Finished{Head: history.Head{Iteration: 1, Run: "later"}, Outcome: final.Outcome}
		assert.ElementsMatch(t, c.says, findings(append(append([]history.Event{}, waited...), &final, finished)), name)
	}
}
