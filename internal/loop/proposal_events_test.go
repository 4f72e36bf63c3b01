package loop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/proposal"
	"github.com/org/autoloop/internal/process"
)

// TestEventsOfAttempts: the measurements of every attempt, and where there were several an
// event for each; those of the one that decides come last. A bundle may have them.
func TestEventsOfAttempts(t *testing.T) {
	t.Parallel()
	attemptOf := func(number, of int, stages ...decision.Stage) *attempt {
		a := &attempt{number: number, of: of, agent: absent("a"), durations: map[string]float64{"propose": 1}}
		for _, stage := range stages {
			a.measured = append(a.measured,
				&history.Measured{
					Head: history.Head{Iteration: 1}, Role: history.Candidate, Stage: stage,
					Problem: "x",
				})
		}
		return a.end(history.Rejected, decision.Say("worse"))
	}
	words := func(events []history.Event) []string {
		var list []string
		for _, e := range events {
			switch e := e.(type) {
			case *history.Measured:
				list = append(list, "measured "+string(rune('0'+e.Proposal))+" "+string(e.Stage))
			case *history.Proposed:
				list = append(list, "proposed "+string(rune('0'+e.Proposal)))
			}
		}
		return list
	}
	r, _ := inMemory(t, programWith("", ""))
	r.iteration = 1
	at := position{Head: "h", identity: identity{Evaluator: "e", Definition: "d"}}
	alone := attemptOf(1, 1, decision.Once)
	several := attemptOf(2, 3, decision.Once, decision.Again)
	several.others = []*attempt{attemptOf(1, 3, decision.Once), attemptOf(3, 3)}
	for _, c := range []struct {
		decides *attempt
		number  int
		want    []string
	}{
		{alone, 0, []string{"measured 0 once"}},
		{several, 2, []string{
			"measured 1 once", "proposed 1", "proposed 3", "measured 2 once", "measured 2 again",
			"proposed 2",
		}},
	} {
		p := r.proposer.newProposal(proposal.Iteration, at)
		p.Run = "own"
		r.proposer.describe(p, at, c.decides)
		assert.Equal(t, c.want, words(p.Measured))
		assert.Equal(t, c.number, p.Decided.Proposal)
		assert.Equal(t, max(c.number, 1), p.Number())
		for _, measured := range c.decides.measured {
			assert.Zero(t, measured.Proposal, "the attempt's own stay as they are")
		}
		bundle, err := p.Bundle(time.Unix(0, 0))
		require.NoError(t, err)
		back, err := proposal.Decode(bundle, process.Masker{})
		require.NoError(t, err)
		assert.Equal(t, c.want, words(back.Measured))
		assert.Equal(t, p.Decided.Outcome, back.Decided.Outcome)
	}
}

// TestADecisionOnAnAttempt says what was compared, or that nothing was.
func TestADecisionOnAnAttempt(t *testing.T) {
	t.Parallel()
	r, _ := inMemory(t, programWith("", ""), decidedOnce()...)
	r.iteration = 2
	at := position{Head: "h", identity: identity{Evaluator: "e", Definition: "d"}}
	a := &attempt{
		number: 1, of: 1, agent: absent("a"), leavesNothing: true, noisy: true, seed: "s", digest: "g",
		focus: "f",
	}
	for range 150 {
		a.changed = append(a.changed, "f")
	}
	a.end(history.Error, decision.Say("it failed"))
	a.decision = decision.Decision{Verdict: decision.Improved, Metric: metricOf("9"), Best: metricOf("9")}
	e := r.team.decidedEvent(at, a)
	assert.Empty(t, e.Verdict)
	assert.Nil(t, e.Metric)
	assert.Equal(t, "3", e.Best.String(), "the best stays as it is")
	assert.Equal(t, "3", e.PreviousBest.String())
	assert.Len(t, e.Changed, 100)
	assert.Equal(t, "h", e.Parent)
	assert.Equal(t, 2, e.Iteration)
	verdict := decision.Improved
	a.verdict = &verdict
	e = r.team.decidedEvent(at, a)
	assert.Equal(t, decision.Improved, e.Verdict)
	assert.Equal(t, "9", e.Best.String())
	assert.Nil(t, e.PreviousBest)
	assert.True(t, e.LeavesNothing)
}

// TestAnAttemptThatIsPutOff says until when, of whom, and what was used.
func TestAnAttemptThatIsPutOff(t *testing.T) {
	t.Parallel()
	r, _ := inMemory(t, programWith("", ""))
	r.iteration = 1
	until := time.Date(2026, 1, 2, 5, 0, 0, 0, time.UTC)
	a := &attempt{
		number: 1, of: 1, agent: absent("a"), durations: map[string]float64{"propose": 2},
		reply: agent.Reply{Failure: &agent.Failure{Kind: agent.RateLimit, Message: "come back"}},
	}
	e := r.team.postponed(a, until)
	assert.Equal(t, "a", e.Agent)
	assert.Equal(t, until, *e.NotBefore)
	assert.Equal(t, decision.RateLimit, e.Reason.Kind)
	assert.Equal(t, until, *e.Reason.Until)
	assert.InDelta(t, 2, e.Durations["propose"], 0)
	require.NoError(t, r.recorder.enterPostponed(r.records, e))
	assert.Equal(t, e.Reason.String(), r.records.stopped)
	late := r.Now().Add(mostWait + time.Second)
	require.ErrorContains(t, r.recorder.enterPostponed(r.records, r.team.postponed(a, late)),
		"longer than any service asks for")
	require.NoError(t, r.recorder.enterPostponed(r.records, r.team.postponed(a, late.Add(-time.Second))))
}
