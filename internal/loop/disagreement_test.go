package loop

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/metric"
)

// TestTheIncumbentIsAnAlarm: where what is on record is 106 and the unchanged files
// give 100 again and again, that is said and recorded, and the program goes on with
// what is measured anew.
func TestTheIncumbentIsAnAlarm(t *testing.T) {
	t.Parallel()
	for _, jobs := range []int{1, 2} {
		t.Run(strconv.Itoa(jobs), func(t *testing.T) {
			t.Parallel()
			b := newBed(t, "evaluation-runs: 8", "106")
			b.noise = []string{"0", "0.3", "-0.2", "0.1", "-0.4", "0.2", "-0.1"}
			b.agent = func(request agent.Request) agent.Reply {
				b.write(request.Dir, map[string]string{"value.txt": strconv.Itoa(90-request.Iteration) + "\n"})
				return agent.Reply{Summary: "worse"}
			}
			iterate := func() Result {
				if jobs == 2 {
					_, published := b.twoJobs()
					return published
				}
				return b.one()
			}
			require.Equal(t, history.Rejected, iterate().Outcome)
			assert.Zero(t, b.records().sum.Disagreements, "nothing has changed")
			assert.InDelta(t, 106, b.records().sum.Best.Float64(), 0.2)

			for i := range b.noise { // from now on another machine, which is slower
				slower := metric.MustValue(b.noise[i]).Sub(metric.MustValue("6"))
				b.noise[i] = slower.String()
			}
			var last Result
			for i := range maxDisagreements {
				assert.Empty(t, last.Stopped)
				last = iterate()
				require.Equal(t, history.Rejected, last.Outcome)
				assert.Contains(t, last.Warnings[0], "the incumbent, measured anew, gave ")
				assert.Contains(t, last.Warnings[0], "either the machine changed, or what was kept was luck")
				assert.Equal(t, i+1, b.records().sum.Disagreements)
			}
			assert.Empty(t, last.Stopped)
			assert.Empty(t, auditOf(b.records().log.Events), "replay computes the same")
			forged := slices.Clone(b.records().log.Events)
			for i, e := range forged {
				if decided, is := e.(*history.Decided); is {
					other := *decided
					other.Disagreement, forged[i] = nil, &other
				}
			}
			assert.Len(t, auditOf(forged), maxDisagreements)
			assert.Contains(t, string(b.records().doc.Render()), "the incumbent, measured anew, gave")

			iterate()
			assert.Contains(t, string(b.records().doc.Render()),
				"New baseline: the incumbent was not what is on record")
			assert.Zero(t, b.records().sum.Disagreements)
			assert.Less(t, b.records().sum.Best.Float64(), 101.0)
		})
	}
}

// auditOf is what an audit finds in the ledger.
func auditOf(events []history.Event) []audit.Finding {
	return slices.DeleteFunc(audit.Of(audit.Records{Events: events}, nil).Findings,
		func(f audit.Finding) bool { return f.Where != audit.Ledger })
}
