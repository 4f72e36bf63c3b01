package setup_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/setup"
)

func TestDemoLine(t *testing.T) {
	t.Parallel()
	values := func(texts ...string) (list []metric.Value) {
		for _, text := range texts {
			list = append(list, metric.MustValue(text))
		}
		return list
	}
	value := metric.MustValue("203.6")
	for says, r := range map[string]loop.Result{
		" 1 kept     s: 204 minutes beside 211\n": {
			Outcome: history.Accepted, Metric: &value,
			Samples: loop.Samples{Incumbent: values("210", "211", "212")},
		},
		" 1 noise    s: 204 minutes beside 204 is no gain\n": {
			Outcome: history.Rejected, Metric: &value,
			Samples: loop.Samples{Incumbent: values("203", "204", "205"), Candidate: values("204")},
		},
		" 1 worse    s: 204 minutes beside 100\n": {
			Outcome: history.Rejected, Metric: &value,
			Samples: loop.Samples{Incumbent: values("100"), Candidate: values("203.6")},
		},
		" 1 refused  s: a; b\n": {
			Outcome: history.Rejected,
			Reasons: decision.Says("a", "b"),
		},
	} {
		r.Iteration, r.Summary = 1, "s"
		assert.Equal(t, says, new(setup.DemoLines).Line(r))
	}
}

// TestDemoKnowsNoiseByAllRides: the three rides of a trial that ended early may lie
// close together, and apart from three others.
func TestDemoKnowsNoiseByAllRides(t *testing.T) {
	t.Parallel()
	values := func(numbers ...float64) (list []metric.Value) {
		for _, f := range numbers {
			v, err := metric.FromFloat(f)
			require.NoError(t, err)
			list = append(list, v)
		}
		return list
	}
	var lines setup.DemoLines
	value := metric.MustValue("240")
	lines.Line(loop.Result{
		Outcome: history.Accepted, Metric: &value,
		Samples: loop.Samples{Incumbent: values(300, 320), Candidate: values(236, 238, 240, 242)},
	})
	apart := loop.Samples{Incumbent: values(237, 237.1, 237.2), Candidate: values(240, 240.1, 240.2)}
	assert.Contains(t, lines.Line(loop.Result{Outcome: history.Rejected, Metric: &value, Samples: apart}), " noise ")
	apart.Candidate = values(280, 281, 279)
	assert.Contains(t, lines.Line(loop.Result{Outcome: history.Rejected, Metric: &value, Samples: apart}), " worse ")
}

func TestDemoDiffHasTheLineBefore(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "             one\n            -two\n                        +three\n",
		setup.DemoDiff("--- a\n+++ b\n@@ -1,3 +1,3 @@\n one\n-two\n+three\n four\n"))
}
