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
	}{
		"lower improves": {
			`{"direction":"lower","best":1.5}`, "1.3", decision.Improved, "1.3", "-0.2", "better",
		},
		"lower gets worse": {
			`{"direction":"lower","best":1.5}`, "1.7", decision.Regressed, "1.5", "+0.2", "worse",
		},
		"a tie is no gain":     {`{"best":1.50}`, "1.5", decision.Neutral, "1.5", "0", "strict"},
		"no direction: higher": {`{"best":1.5}`, "1.7", decision.Improved, "1.7", "+0.2", "higher"},
		"first":                {`{}`, "-3", decision.Improved, "-3", "", "first"},
		"beyond the range": {
			`{"best":50,"low":0,"high":100}`, "1121", decision.Regressed, "50", "+1071", "implausible",
		},
		"an open range": {`{"best":50,"low":0}`, "1121", decision.Improved, "1121", "+1071", "better"},
		"a gain too small": {
			`{"best":100,` + half + `}`, "100.4", decision.Neutral, "100", "+0.4", "min-improvement 0.5",
		},
		"a gain just enough": {
			`{"best":-100,` + half + `}`, "-99.5", decision.Improved, "-99.5", "+0.5", "better",
		},
		"not scored": {`{"best":1}`, "", decision.Regressed, "1", "", "not scored: overlap"},
	} {
		m := metric.Measurement{RejectedReason: "overlap"}
		if c.metric != "" {
			m = scored(c.metric)
		}
		got := decision.Decide(changed(decision.Standard{}, c.standard), m)
		assert.Equal(t, c.verdict, got.Verdict, name)
		assert.Equal(t, []string{c.best, c.delta}, []string{got.Best.String(), got.Delta}, name)
		assert.Contains(t, got.Reasons[0].String(), c.says, name)
	}
}
