package page_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render/page"
)

func TestWhereAnIterationWent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		outcome  history.Outcome
		measured bool
		why      decision.Why
		want     string
	}{
		{history.Accepted, true, "", "kept"},
		{history.PendingCI, true, "", "waiting"},
		{history.CIFixExhausted, true, "", "failed in CI"},
		{history.Inconclusive, true, decision.PairsInconclusive, "not told from chance"},
		{history.Rejected, true, decision.Worse, "not better"},
		{history.Rejected, true, decision.GuardrailBroken, "broke a guardrail"},
		{history.Rejected, false, decision.NoChange, "no change proposed"},
		{history.Rejected, false, decision.TriedBefore, "tried before"},
		{history.Rejected, false, decision.Unchanged, "tried before"},
		{history.Rejected, false, decision.EvaluationFails, "failed the evaluation"},
		{history.Rejected, false, decision.NotTarget, "refused before measuring"},
		{history.Error, false, decision.AgentFailed, "error: agent rate-limit"},
		{history.Error, false, decision.BaselineFailsAtTimes, "error: evaluation"},
		{history.Error, false, decision.NothingLeft, "error"},
		{history.Error, false, "", "error"},
	} {
		iteration := func(why decision.Reason) page.Iteration {
			decided := history.Decided{Outcome: c.outcome, Reasons: []decision.Reason{why}}
			if c.measured {
				decided.Metric = value(1)
			}
			return page.Iteration{Decided: &decided}
		}
		why := decision.Reason{Kind: c.why, Term: "rate-limit"}
		it, claimed := iteration(why),
			iteration(decision.Reason{Kind: decision.Claimed, Because: []decision.Reason{why}})
		assert.Equal(t, []string{c.want, c.want}, []string{it.Kind(), claimed.Kind()}, c.why)
	}
}

// TestCasesOfASuite: the first measurement, and of each iteration the candidate
// that decided it.
func TestCasesOfASuite(t *testing.T) {
	t.Parallel()
	numbers := func(a, b float64) map[string]metric.Value {
		return map[string]metric.Value{"case.a": *value(a), "case.b": *value(b), "score": *value(1)}
	}
	events := []history.Event{&history.Measured{
		Head: history.Head{Time: noon}, Role: history.Baseline,
		Metric: value(0.25), Numbers: numbers(0, 0.5),
	}}
	for i := 1; i <= 40; i++ {
		events = append(events,
			&history.Measured{
				Head: history.Head{Iteration: i}, Stage: "trial", Role: history.Candidate, Proposal: 1,
				Numbers: numbers(0.5, 0.5),
			},
			&history.Measured{
				Head: history.Head{Iteration: i}, Stage: "trial", Role: history.Candidate, Proposal: 2,
				CaseSamples: map[string][]metric.Value{"case.b": {*value(1), *value(0.5)}},
			},
			&history.Decided{
				Head: history.Head{Iteration: i, Time: noon}, Proposal: 1 + i%2, Outcome: history.Accepted,
				Metric: value(0.5), Best: value(0.5),
			},
		)
	}
	p := program(t, page.Source{Name: "p", Events: events})
	m := p.Cases()
	require.NotNil(t, m)
	require.Len(t, m.Columns, 30)
	assert.Equal(t, []int{0, 12, 40}, []int{m.Columns[0].Iteration, m.Columns[1].Iteration, m.Columns[29].Iteration})
	require.Len(t, m.Rows, 2)
	assert.Equal(t, []page.HeatCell{
		{Percent: "0", Class: "rate0"},
		{Percent: "50", Class: "rate2"},
		{Percent: "", Class: "rate-none"},
	}, m.Rows[0].Cells[:3])
	assert.Equal(t, []page.HeatCell{
		{Percent: "50", Class: "rate2"},
		{Percent: "50", Class: "rate2"},
		{Percent: "75", Class: "rate3"},
	}, m.Rows[1].Cells[:3])
	assert.Contains(t, single(t, p), `<td class="rate3 num">75</td>`)
	assert.Nil(t, program(t, page.Source{Name: "p", Events: made(3, "x")}).Cases())
}

func TestWhoFoundWhatWasKept(t *testing.T) {
	t.Parallel()
	decided := func(iteration int, agent string, outcome history.Outcome, best float64) history.Event {
		return &history.Decided{
			Head: history.Head{Iteration: iteration, Time: noon}, Outcome: outcome,
			Metric: value(best), Best: value(best), Work: history.Work{Agent: agent},
		}
	}
	p := program(t, page.Source{Name: "p", Events: []history.Event{
		&history.Measured{
			Head: history.Head{Time: noon}, Role: history.Baseline, Metric: value(10),
			Direction: metric.Lower,
		},
		decided(1, "small", history.Rejected, 10), decided(2, "large", history.Accepted, 8),
		decided(3, "small", history.Accepted, 7.5),
		decided(4, "large", history.Accepted, 7), decided(5, "large", history.Rejected, 7),
	}})
	authors := p.Authors()
	require.Len(t, authors, 2)
	assert.Equal(t, page.Author{Name: "large", Kept: 2, Tried: 3, Gained: -2.5}, *authors[0])
	assert.Equal(t, page.Author{Name: "small", Kept: 1, Tried: 2, Gained: -0.5}, *authors[1])
	assert.Equal(t, "-2.5", authors[0].Gain())
}
