package setup_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/setup"
)

func values(numbers ...float64) (list []metric.Value) {
	for _, f := range numbers {
		list = append(list, metric.MustValue(strconv.FormatFloat(f, 'f', -1, 64)))
	}
	return list
}

func TestDemoLine(t *testing.T) {
	t.Parallel()
	for says, r := range map[string]render.Result{
		" 1 kept     s: 204 minutes beside 211\n": {
			Outcome: history.Accepted, Samples: render.Samples{Incumbent: values(210, 211, 212)},
		},
		" 1 noise    s: 204 minutes beside 204 is no gain\n": {
			Outcome: history.Rejected, Samples: render.Samples{Incumbent: values(203, 204, 205), Candidate: values(204)},
		},
		" 1 worse    s: 204 minutes beside 100\n": {
			Outcome: history.Rejected, Samples: render.Samples{Incumbent: values(100), Candidate: values(203.6)},
		},
		" 1 refused  s: a; b\n": {Outcome: history.Rejected, Reasons: decision.Says("a", "b")},
	} {
		r.Iteration, r.Summary = 1, "s"
		if r.Reasons == nil {
			r.Metric = &values(203.6)[0]
		}
		assert.Equal(t, says, new(setup.DemoLines).Line(r))
	}
}

// TestDemoKnowsNoiseByAllRides: the three rides of a trial that ended early may lie
// close together, and apart from three others.
func TestDemoKnowsNoiseByAllRides(t *testing.T) {
	t.Parallel()
	var lines setup.DemoLines
	for _, c := range []struct {
		incumbent, candidate []metric.Value
		outcome              state.Status
		says                 string
	}{
		{values(300, 320), values(236, 238, 240, 242), history.Accepted, " kept "},
		{values(237, 237.1, 237.2), values(240, 240.1, 240.2), history.Rejected, " noise "},
		{values(237, 237.1, 237.2), values(280, 281, 279), history.Rejected, " worse "},
	} {
		assert.Contains(t, lines.Line(render.Result{
			Outcome: c.outcome, Metric: &values(240)[0],
			Samples: render.Samples{Incumbent: c.incumbent, Candidate: c.candidate},
		}), c.says)
	}
}

func TestDemoDiffHasTheLineBefore(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "             one\n            -two\n                        +three\n",
		setup.DemoDiff("--- a\n+++ b\n@@ -1,3 +1,3 @@\n one\n-two\n+three\n four\n"))
}
