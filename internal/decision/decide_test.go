package decision_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
)

func value(text string) *metric.Value {
	v := metric.MustValue(text)
	return &v
}

// TestDecide by one measurement: strictly better is better, by enough, and what was not scored or is implausible is
// none.
func TestDecide(t *testing.T) {
	t.Parallel()
	const half = `"min_improvement":{"value":0.5,"percent":true}`
	for name, c := range map[string]struct {
		standard, metric  string // "" for one that was not scored
		verdict           decision.Verdict
		best, delta, says string
		met               bool
	}{
		"lower improves": {
			`{"direction":"lower","best":1.5}`, "1.3", decision.Improved, "1.3", "-0.2", "better", false,
		},
		"lower gets worse": {
			`{"direction":"lower","best":1.5}`, "1.7", decision.Regressed, "1.5", "+0.2", "worse", false,
		},
		"a tie is no gain":     {`{"best":1.50}`, "1.5", decision.Neutral, "1.5", "0", "strict", false},
		"no direction: higher": {`{"best":1.5}`, "1.7", decision.Improved, "1.7", "+0.2", "higher", false},
		"first":                {`{}`, "-3", decision.Improved, "-3", "", "first", false},
		"beyond the range": {
			`{"best":50,"low":0,"high":100}`, "1121", decision.Regressed, "50", "+1071", "implausible", false,
		},
		"an open range": {`{"best":50,"low":0}`, "1121", decision.Improved, "1121", "+1071", "better", false},
		"a gain too small": {
			`{"best":100,` + half + `}`, "100.4", decision.Neutral, "100", "+0.4", "min-improvement 0.5", false,
		},
		"a gain just enough": {
			`{"best":-100,` + half + `}`, "-99.5", decision.Improved, "-99.5", "+0.5", "better", false,
		},
		"not scored": {`{"best":1}`, "", decision.Regressed, "1", "", "not scored: overlap", false},
		"the target is met": {
			`{"direction":"lower","best":0.95,"target":0.9}`, "0.9", decision.Improved, "0.9", "-0.05", "better", true,
		},
		"the target is not met": {
			`{"direction":"lower","best":0.95,"target":0.9}`, "0.92", decision.Improved, "0.92", "-0.03", "better",
			false,
		},
		"the best meets it": {
			`{"direction":"lower","best":0.9,"target":0.9}`, "0.99", decision.Regressed, "0.9", "+0.09", "worse", true,
		},
	} {
		m := metric.Measurement{RejectedReason: "overlap"}
		if c.metric != "" {
			m = scored(c.metric)
		}
		got := decision.Decide(changed(decision.Standard{}, c.standard), m)
		assert.Equal(t, c.verdict, got.Verdict, name)
		assert.Equal(t, []string{c.best, c.delta}, []string{got.Best.String(), got.Delta}, name)
		assert.Contains(t, got.Reasons[0].String(), c.says, name)
		assert.Equal(t, c.met, got.TargetMet, name)
	}
}
