package history_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

func TestUndoneIterationIsNotKept(t *testing.T) {
	t.Parallel()
	decided := func(iteration int, outcome history.Outcome) history.Event {
		best := metric.FromInt(int64(iteration))
		return &history.Decided{
			Head: history.Head{Iteration: iteration}, Outcome: outcome, Metric: &best, Best: &best,
			Commit: "c",
		}
	}
	summary := history.Replay([]history.Event{
		decided(1, history.Accepted), decided(2, history.Accepted), decided(3, history.Rejected),
		&history.Set{Head: history.Head{Iteration: 3}, Key: history.UndoneIteration, Value: "2", Commit: "back"},
	})
	assert.Equal(t, history.Undone, summary.Attempts[1].Outcome, "as the next agent is told")
	assert.Equal(t, 1, summary.Count(history.Accepted))
	assert.Equal(t, []string{"accepted", "accepted", "rejected"}, summary.Statuses(),
		"the state file has no word for it")
	assert.Nil(t, summary.Best)
	assert.Equal(t, "back", summary.Incumbent)
}
