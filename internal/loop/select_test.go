package loop

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/loop/budget"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/tests/golden"
)

// outcome is an attempt that ended; metric "" means that nothing was measured.
func outcome(number, of int, ended state.Status, key string) *attempt {
	a := &attempt{of: of, agent: &agent.Command{}}
	a.Proposal, a.Durations = number, map[string]float64{}
	a.end(ended, decision.Says("because")...)
	if key != "" {
		value := metric.MustValue(key)
		a.Verdict, a.Metric = decision.Neutral, &value
	}
	return a
}

func TestSelectAttempt(t *testing.T) {
	t.Parallel()
	const accepted, rejected, failed = history.Accepted, history.Rejected, history.Error
	type tried struct {
		outcome state.Status
		metric  string
	}
	cases := []struct {
		name      string
		direction metric.Direction
		tried     []tried
		want      int
	}{
		{"the best that passed", metric.Higher, []tried{{accepted, "3"}, {accepted, "5"}, {accepted, "4"}}, 2},
		{"passing goes before a number", metric.Higher, []tried{{rejected, "9"}, {accepted, "3"}}, 2},
		{
			"the closest when none passed", metric.Higher,
			[]tried{{rejected, ""}, {rejected, "1"}, {rejected, "2"}, {failed, ""}},
			3,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			run := &run{thread: threadOf(&journal{session: sessionOf(&program.Program{Direction: c.direction})})}
			var all []*attempt
			for i, one := range c.tried {
				all = append(all, outcome(i+1, len(c.tried), one.outcome, one.metric))
			}
			all = run.selectAttempt(all)
			assert.Equal(t, c.want, all[len(all)-1].Proposal)
			assert.Len(t, all, len(c.tried))
			for _, other := range all[:len(all)-1] {
				assert.NotEqual(t, accepted, other.Outcome, "one is kept at most")
				if c.tried[other.Proposal-1].outcome == accepted {
					assert.Contains(t, other.Reasons[0].String(),
						fmt.Sprintf("proposal %d is better still (%s)", c.want, c.tried[c.want-1].metric))
				} else {
					assert.Equal(t, []string{"because"}, decision.Texts(other.Reasons))
				}
			}
		})
	}
}

// TestShareOfLeastRemainder: however little is left and however many share it, no
// agent is given a limit of nothing, which would mean no limit, or be refused.
func TestShareOfLeastRemainder(t *testing.T) {
	t.Parallel()
	left := course{left: budget.Left{Tokens: 3, USD: 0.0001}}
	r := &spending{journal: &journal{session: &session{Service: &Service{}, course: left}}}
	limit, _ := r.limit(8)
	assert.Equal(t, int64(1), limit.Tokens)
	assert.Equal(t, "0.0001", limit.CostUSD.String())
	r.left.USD = 1
	limit, _ = r.limit(4)
	assert.Equal(t, "0.2500", fmt.Sprintf("%.4f", limit.CostUSD.Float64()))
	r.left = budget.Left{}
	limit, _ = r.limit(4)
	assert.Equal(t, metric.Limit{}, limit, "no bound")
}

// TestOtherProposalsAreToldByTheirFirstReason: the deciding proposal is left out.
func TestOtherProposalsAreToldByTheirFirstReason(t *testing.T) {
	t.Parallel()
	two := decision.Says("worse", "and slow")
	golden.Line(t, decision.Texts(others(&Proposal{
		Decided: &history.Decided{Proposal: 2},
		Proposed: []*history.Proposed{
			{Decided: history.Decided{Proposal: 1, Outcome: history.Rejected, Reasons: two}},
			{Decided: history.Decided{Proposal: 2}},
		},
	})))
}
