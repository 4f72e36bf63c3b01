package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/gate"
	"github.com/org/autoloop/internal/ledger"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/noise"
)

func TestProposalsAreRemembered(t *testing.T) {
	t.Parallel()
	events := []ledger.Event{
		{Kind: ledger.Measured, Role: ledger.Baseline, Metric: value("5"), Evaluator: "e1"},
		{Kind: ledger.Proposed, Iteration: 1, Proposal: 1, Outcome: ledger.Rejected, Digest: "d1", Evaluator: "e1", Agent: "tuner", Params: map[string]metric.Value{"x": *value("2")}},
		{Kind: ledger.Proposed, Iteration: 1, Proposal: 2, Outcome: ledger.Error, Digest: "d2", Evaluator: "e1"},
		{Kind: ledger.Decided, Iteration: 1, Outcome: ledger.Rejected, Digest: "d1", Evaluator: "e1"},
		{Kind: ledger.Decided, Iteration: 2, Outcome: ledger.Accepted, Digest: "d3", Evaluator: "e1", Best: value("6")},
		{Kind: ledger.Decided, Iteration: 3, Outcome: ledger.Rejected, Digest: "d1", Evaluator: "e1"},
		{Kind: ledger.Decided, Iteration: 4, Outcome: ledger.Rejected, Evaluator: "e1"},
	}
	books := ledger.Replay(events)
	require.Len(t, books.Proposals, 2)
	assert.Equal(t, "2", books.Proposals[0].Params["x"].String())
	assert.Equal(t, 2, books.Proposals[1].Number)
	assert.Equal(t, map[string]ledger.Tried{"d1": {1, ledger.Rejected}, "d3": {2, ledger.Accepted}}, books.Tried, "the first time counts, and no error")
	anew := append(events, ledger.Event{Kind: ledger.Measured, Role: ledger.Baseline, Metric: value("5"), Evaluator: "e2"})
	assert.Empty(t, ledger.Replay(anew).Tried, "another evaluator measures anew")
}

func TestTheErrorOfDifferences(t *testing.T) {
	t.Parallel()
	between := func(low, high string) gate.Evidence {
		return gate.Evidence{Effect: noise.Effect{Low: *value(low), High: *value(high)}}
	}
	compared := []gate.Evidence{between("-9", "9"), between("-3", "1")}
	books := ledger.Replay([]ledger.Event{
		{Kind: ledger.Measured, Role: ledger.Baseline, Metric: value("5"), Evaluator: "e1"},
		{Kind: ledger.Proposed, Iteration: 1, Proposal: 1, Outcome: ledger.Rejected, Evidence: compared},
		{Kind: ledger.Decided, Iteration: 1, Outcome: ledger.Rejected, Evidence: compared},
		{Kind: ledger.Decided, Iteration: 2, Outcome: ledger.Rejected},
	})
	assert.InDelta(t, 1, books.Proposals[0].Deviation, 1e-9, "the last comparison's")
	assert.InDelta(t, 1, books.Attempts[0].Deviation, 1e-9)
	assert.Zero(t, books.Attempts[1].Deviation)
}
