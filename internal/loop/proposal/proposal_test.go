package proposal

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/process"
)

// TestUnrecordedFix is a failed attempt: what it used is not lost, and nothing of it
// is kept.
func TestUnrecordedFix(t *testing.T) {
	t.Parallel()
	tokens := int64(7)
	decided := &history.Decided{Outcome: history.PendingCI, Evaluation: &history.Expense{Tokens: &tokens}}
	decided.Agent, decided.Usage, decided.Durations, decided.Summary = "a", &metric.Usage{InputTokens: &tokens},
		map[string]float64{"propose": 1}, "s"
	p := &Proposal{
		Manifest: Manifest{Kind: Fix, Run: "r", Iteration: 2},
		Checked:  &history.Checked{Head: history.Head{Iteration: 2}, Signature: "build"}, Decided: decided,
	}
	require.True(t, p.Kept())
	p.FailFix(decision.Say("it was refused"))
	assert.False(t, p.Kept())
	assert.Nil(t, p.Decided)
	assert.Equal(t, "it was refused", p.Checked.Failed.String())
	assert.Equal(t, "build", p.Checked.Signature)
	assert.Equal(t, "a", p.Checked.Agent)
	assert.Equal(t, &metric.Usage{InputTokens: &tokens}, p.Checked.Usage)
	assert.Equal(t, map[string]float64{"propose": 1}, p.Checked.Durations)
	assert.Equal(t, &history.Expense{Tokens: &tokens}, p.Checked.Evaluation)
	bundle, err := p.Bundle(time.Unix(0, 0))
	require.NoError(t, err)
	back, err := Decode(bundle, process.Masker{})
	require.NoError(t, err, "and it may travel")
	assert.Equal(t, p.Checked.Usage, back.Checked.Usage)
}

// TestExecutorOfSuite: the baseline says it where there is one, else the decision.
func TestExecutorOfSuite(t *testing.T) {
	t.Parallel()
	one, other := &history.Executor{Agent: "one"}, &history.Executor{Agent: "other"}
	for _, c := range []struct {
		p    Proposal
		want *history.Executor
	}{
		{Proposal{}, nil},
		{Proposal{Decided: &history.Decided{}}, nil},
		{Proposal{Decided: &history.Decided{Executor: one}}, one},
		{Proposal{Baseline: []*history.Measured{{Executor: other}}, Decided: &history.Decided{Executor: one}}, other},
		{Proposal{Baseline: []*history.Measured{{}, {Executor: other}}, Decided: &history.Decided{Executor: one}}, nil},
	} {
		assert.Equal(t, c.want, c.p.Executor())
	}
}

// TestNumberOfCandidate that decides: an only one is the first.
func TestNumberOfCandidate(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 1, (&Proposal{}).Number())
	for number, want := range map[int]int{0: 1, 1: 1, 2: 2, 9: 9} {
		assert.Equal(t, want, (&Proposal{Decided: &history.Decided{Proposal: number}}).Number())
	}
}
