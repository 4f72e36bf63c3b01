package decision_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
)

// TestInconclusive: a better median that may be chance, and whose interval
// holds a gain worth keeping. Everything else that is not kept was shown to be
// no better, or not by enough.
func TestInconclusive(t *testing.T) {
	t.Parallel()
	noise := []int64{0, 10, 3, 7, 1, 9, 4, 6}
	for name, c := range map[string]struct {
		gain, least  string
		verdict      decision.Verdict
		inconclusive bool
	}{
		"a little better":               {"1", "0", decision.Neutral, true},
		"enough may be in it":           {"1", "2", decision.Neutral, true},
		"never enough":                  {"1", "50", decision.Neutral, false},
		"the same":                      {"0", "0", decision.Neutral, false},
		"a little worse":                {"-1", "0", decision.Neutral, false},
		"better for sure":               {"100", "0", decision.Improved, false},
		"better for sure, and not much": {"100", "1000", decision.Neutral, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			standard := noisy("5")
			standard.MinImprovement = decision.Allowance{Value: metric.MustValue(c.least)}
			runs := map[decision.Side]int{}
			made, _ := play(standard, func(step decision.Step) metric.Measurement {
				v := metric.FromInt(noise[runs[step.Side]%len(noise)])
				runs[step.Side]++
				if step.Side == decision.Candidate {
					v = v.Add(metric.MustValue(c.gain))
				}
				return metric.Measurement{Metric: &v}
			})
			assert.Equal(t, c.verdict, made.Verdict, made.Reasons)
			assert.Equal(t, c.inconclusive, made.Inconclusive, made.Reasons)
		})
	}
}
