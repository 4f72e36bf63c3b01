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

func TestDecide(t *testing.T) {
	for name, c := range map[string]struct {
		standard decision.Standard
		metric   *metric.Value
		verdict  decision.Verdict
		best     string
		delta    string
		says     string
	}{
		"lower improves": {
			decision.Standard{Direction: metric.Lower, Best: value("1.5")},
			value("1.3"),
			decision.Improved, "1.3", "-0.2", "better",
		},
		"lower gets worse": {
			decision.Standard{Direction: metric.Lower, Best: value("1.5")},
			value("1.7"),
			decision.Regressed, "1.5", "+0.2", "worse",
		},
		"a tie is no gain": {
			decision.Standard{Best: value("1.50")},
			value("1.5"), decision.Neutral, "1.5",
			"0", "strict",
		},
		"no direction: higher": {
			decision.Standard{Best: value("1.5")},
			value("1.7"), decision.Improved, "1.7",
			"+0.2", "higher",
		},
		"first": {decision.Standard{}, value("-3"), decision.Improved, "-3", "", "first"},
		"below the range": {
			decision.Standard{
				Best: value("50"),
				Rule: decision.Rule{Low: value("0"), High: value("100")},
			},
			value("1121"), decision.Regressed, "50", "+1071",
			"implausible",
		},
		"open range": {
			decision.Standard{Best: value("50"), Rule: decision.Rule{Low: value("0")}},
			value("1121"), decision.Improved, "1121", "+1071", "better",
		},
		"gain too small": {
			decision.Standard{
				Best: value("100"),
				Rule: decision.Rule{MinImprovement: decision.Allowance{Value: metric.MustValue("0.5"), Percent: true}},
			},
			value("100.4"), decision.Neutral, "100", "+0.4", "min-improvement 0.5",
		},
		"gain just large enough": {
			decision.Standard{
				Best: value("-100"),
				Rule: decision.Rule{MinImprovement: decision.Allowance{Value: metric.MustValue("0.5"), Percent: true}},
			},
			value("-99.5"), decision.Improved, "-99.5", "+0.5", "better",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := decision.Decide(c.standard, metric.Measurement{Metric: c.metric})
			assert.Equal(t, c.verdict, got.Verdict)
			assert.Equal(t, c.best, got.Best.String())
			assert.Equal(t, c.delta, got.Delta)
			assert.Contains(t, got.Reasons[0].String(), c.says)
		})
	}
}

func TestDecideUnscored(t *testing.T) {
	got := decision.Decide(decision.Standard{Best: value("1")}, metric.Measurement{RejectedReason: "circles overlap"})
	assert.Equal(t, decision.Regressed, got.Verdict)
	assert.Equal(t, []string{"not scored: circles overlap"}, decision.Texts(got.Reasons))
	assert.Equal(t, "1", got.Best.String())
}

func TestDecideTarget(t *testing.T) {
	standard := decision.Standard{Direction: metric.Lower, Best: value("0.95"), Target: value("0.9")}
	assert.True(t, decision.Decide(standard, metric.Measurement{Metric: value("0.85")}).TargetMet)
	assert.False(t, decision.Decide(standard, metric.Measurement{Metric: value("0.92")}).TargetMet)
	standard.Best = value("0.9")
	assert.True(t, decision.Decide(standard, metric.Measurement{Metric: value("0.99")}).TargetMet,
		"judged on the best after the decision")
}
