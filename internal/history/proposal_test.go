package history_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

func TestProposalsAreRemembered(t *testing.T) {
	t.Parallel()
	events := []history.Event{
		&history.Measured{Role: history.Baseline, Metric: value("5"), Evaluator: "e1"},
		&history.Proposed{
			Head: history.Head{Iteration: 1}, Proposal: 1, Outcome: history.Rejected, Digest: "d1",
			Evaluator: "e1", Work: history.Work{Agent: "tuner", Params: map[string]metric.Value{"x": *value("2")}},
		},
		&history.Proposed{
			Head: history.Head{Iteration: 1}, Proposal: 2, Outcome: history.Error, Digest: "d2",
			Evaluator: "e1",
		},
		&history.Decided{Head: history.Head{Iteration: 1}, Outcome: history.Rejected, Digest: "d1", Evaluator: "e1"},
		&history.Decided{
			Head: history.Head{Iteration: 2}, Outcome: history.Accepted, Digest: "d3", Evaluator: "e1",
			Best: value("6"),
		},
		&history.Decided{Head: history.Head{Iteration: 3}, Outcome: history.Rejected, Digest: "d1", Evaluator: "e1"},
		&history.Decided{Head: history.Head{Iteration: 4}, Outcome: history.Rejected, Evaluator: "e1"},
	}
	summary := history.Replay(events)
	require.Len(t, summary.Proposals, 2)
	assert.Equal(t, "2", summary.Proposals[0].Params["x"].String())
	assert.Equal(t, 2, summary.Proposals[1].Proposal)
	assert.Equal(t, map[string]history.Tried{"d1": {1, history.Rejected}, "d3": {2, history.Accepted}}, summary.Tried,
		"the first time counts, and no error")
	anew := append(events, &history.Measured{Role: history.Baseline, Metric: value("5"), Evaluator: "e2"})
	assert.Empty(t, history.Replay(anew).Tried, "another evaluator measures anew")
}
