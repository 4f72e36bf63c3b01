package loop

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/loop/proposal"
	"github.com/org/autoloop/internal/metric"
)

// TestVerifyRefuses: a proposal that does not hold is refused in the job that made
// it too, and nothing of it is written.
func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1", "1", "2", "3")
	require.Equal(t, history.Accepted, b.one().Outcome)
	run := b.service.begin()
	require.NoError(t, run.lease.acquireLease(t.Context()))
	at, _, err := run.proposer.propose(t.Context())
	require.NoError(t, err)
	a, err := run.team.attempt(t.Context(), at)
	require.NoError(t, err)
	outside := b.treeWith("autoloop/p", map[string]string{"value.txt": "3\n", "other.txt": "touched\n"})
	for _, c := range []struct {
		name   string
		change func(p *proposal.Proposal)
		says   string
	}{
		{"as it was proposed", func(*proposal.Proposal) {}, ""},
		{"a loss is a gain", func(p *proposal.Proposal) {
			for _, m := range history.Of[*history.Measured](p.Measured) {
				m.Metric, m.Samples = metricOf("1"), []metric.Value{*metricOf("1")}
				break
			}
			p.Decided.Metric, p.Decided.Best, p.Decided.Delta = metricOf("1"), metricOf("1"), "-1"
		}, "do not bear its decision"},
		{
			"another rule", func(p *proposal.Proposal) { p.Decided.Rule = &decision.Rule{Regime: "noisy"} },
			"another rule",
		},
		{"a baseline that nothing asks for", func(p *proposal.Proposal) {
			p.Baseline = []*history.Measured{{Role: history.Baseline, Metric: metricOf("1")}}
		}, "nothing asks for"},
		{
			"a rejection that improved", func(p *proposal.Proposal) {
				p.Decided.Outcome,
					p.Candidate = history.Rejected, ""
			},
			"do not bear its decision",
		},
		{"a file outside the target", func(p *proposal.Proposal) { p.Candidate = outside }, "other.txt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := run.proposer.newProposal(proposal.Iteration, at)
			run.proposer.describe(p, at, a)
			require.True(t, p.Kept())
			c.change(p)
			before := b.refs()
			if c.says == "" {
				require.NoError(t, run.recorder.verify(t.Context(), at, p))
				_, err := run.recorder.verifyDecision(run.records, at, p)
				require.NoError(t, err)
				return
			}
			err = run.record(t.Context(), at, p)
			requireRefusal(t, err, c.says, c.name)
			assert.Equal(t, before, b.refs())
		})
	}
}

// brokenSuite says that a candidate is better, without a number.
type brokenSuite struct{}

func (brokenSuite) Measure(context.Context, string, evaluation.Limit) (Suited, error) {
	one := metric.MustValue("1")
	return Suited{Incumbent: &one}, nil
}

func (brokenSuite) Compare(context.Context, string, string, evaluation.Limit) (Suited, error) {
	return Suited{Verdict: decision.Improved}, nil
}

// TestRefusedProposalIsError: what verification refuses in one job is recorded
// as an error, and nothing of it is kept.
func TestRefusedProposalIsError(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "", "1", "3")
	b.service.Suite = brokenSuite{}
	result := b.one()
	assert.Equal(t, history.Error, result.Outcome)
	assert.Equal(t, []string{"the proposal was not recorded: it is accepted without an improvement"},
		decision.Texts(result.Reasons))
	assert.NotContains(t, b.refs(), "refs/heads/autoloop/")
	assert.Equal(t, history.Error, b.records().standing().Decision.Outcome)

	_, _, err := b.service.Propose(t.Context())
	require.ErrorContains(t, err, "accepted without an improvement", "no bundle is made of it")
}
