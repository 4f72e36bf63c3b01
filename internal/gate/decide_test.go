package gate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/gate"
	"github.com/org/autoloop/internal/metric"
)

func value(text string) *metric.Value {
	v := metric.MustValue(text)
	return &v
}

func TestDecide(t *testing.T) {
	for name, c := range map[string]struct {
		standard gate.Standard
		metric   *metric.Value
		verdict  gate.Verdict
		best     string
		delta    string
		says     string
	}{
		"lower improves":       {gate.Standard{Direction: metric.Lower, Best: value("1.5")}, value("1.3"), gate.Improved, "1.3", "-0.2", "better"},
		"lower gets worse":     {gate.Standard{Direction: metric.Lower, Best: value("1.5")}, value("1.7"), gate.Regressed, "1.5", "+0.2", "worse"},
		"a tie is no gain":     {gate.Standard{Best: value("1.50")}, value("1.5"), gate.Neutral, "1.5", "0", "strict"},
		"no direction: higher": {gate.Standard{Best: value("1.5")}, value("1.7"), gate.Improved, "1.7", "+0.2", "higher"},
		"first":                {gate.Standard{}, value("-3"), gate.Improved, "-3", "", "first"},
		"below the range":      {gate.Standard{Best: value("50"), Rule: gate.Rule{Low: value("0"), High: value("100")}}, value("1121"), gate.Regressed, "50", "+1071", "implausible"},
		"open range":           {gate.Standard{Best: value("50"), Rule: gate.Rule{Low: value("0")}}, value("1121"), gate.Improved, "1121", "+1071", "better"},
		"gain too small": {
			gate.Standard{Best: value("100"), Rule: gate.Rule{MinImprovement: gate.Allowance{Value: metric.MustValue("0.5"), Percent: true}}},
			value("100.4"), gate.Neutral, "100", "+0.4", "min-improvement 0.5",
		},
		"gain just large enough": {
			gate.Standard{Best: value("-100"), Rule: gate.Rule{MinImprovement: gate.Allowance{Value: metric.MustValue("0.5"), Percent: true}}},
			value("-99.5"), gate.Improved, "-99.5", "+0.5", "better",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := gate.Decide(c.standard, metric.Measurement{Metric: c.metric})
			assert.Equal(t, c.verdict, got.Verdict)
			assert.Equal(t, c.best, got.Best.String())
			assert.Equal(t, c.delta, got.Delta)
			assert.Contains(t, got.Reasons[0], c.says)
		})
	}
}

func TestDecideUnscored(t *testing.T) {
	got := gate.Decide(gate.Standard{Best: value("1")}, metric.Measurement{RejectedReason: "circles overlap"})
	assert.Equal(t, gate.Regressed, got.Verdict)
	assert.Equal(t, []string{"not scored: circles overlap"}, got.Reasons)
	assert.Equal(t, "1", got.Best.String())
}

func TestDecideTarget(t *testing.T) {
	standard := gate.Standard{Direction: metric.Lower, Best: value("0.95"), Target: value("0.9")}
	assert.True(t, gate.Decide(standard, metric.Measurement{Metric: value("0.85")}).TargetMet)
	assert.False(t, gate.Decide(standard, metric.Measurement{Metric: value("0.92")}).TargetMet)
	standard.Best = value("0.9")
	assert.True(t, gate.Decide(standard, metric.Measurement{Metric: value("0.99")}).TargetMet, "judged on the best after the decision")
}
