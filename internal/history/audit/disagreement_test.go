package audit_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// TestWhatIsSaidOfTheIncumbent: a decision says of the incumbent what its trial
// measured, neither more nor less.
func TestWhatIsSaidOfTheIncumbent(t *testing.T) {
	t.Parallel()
	number := func(text string) *metric.Value { v := metric.MustValue(text); return &v }
	is := &decision.Reason{
		Kind: decision.Disagrees, Value: number("94"), Count: 3, Beside: number("100"), Of: 7,
		High: number("1"),
	}
	other := *is
	other.Value = number("99")
	said := is.String()
	trial := func(incumbent string) []history.Event {
		events := recorded(t, decision.Rule{Regime: decision.Noisy, Pairs: 8, MaxPairs: 16, Confidence: 0.95},
			func(step decision.Step) metric.Measurement {
				value := metric.MustValue(incumbent)
				if step.Side == decision.Candidate {
					value = metric.FromInt(80)
				}
				return metric.Measurement{Metric: &value}
			})
		for _, text := range []string{"99.5", "99.7", "99.9", "100.1", "100.3", "100.5"} {
			baseline := measured(events)
			baseline.Samples = append(baseline.Samples, metric.MustValue(text))
		}
		require.Equal(t, history.Rejected, decided(events).Outcome)
		return events
	}
	for name, c := range map[string]struct {
		incumbent string
		record    *decision.Reason
		finds     []string
	}{
		"as it was measured": {"94", is, nil},
		"nothing to say":     {"100", nil, nil},
		"left out":           {"94", nil, []string{`its measurements say "` + said + `", and it says ""`}},
		"made up":            {"100", is, []string{`it says "` + said + `", and its measurements do not`}},
		"another number": {
			"94", &other,
			[]string{`its measurements say "` + said + `", and it says "` + other.String() + `"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events := trial(c.incumbent)
			d := decided(events)
			d.Disagreement = c.record
			assert.Equal(t, c.finds, findings(events))
		})
	}
}

// measured is the baseline among recorded events.
func measured(events []history.Event) *history.Measured {
	return events[1].(*history.Measured) //nolint:errcheck,forcetypeassert // recorded writes it there
}

// TestKeptIncumbentsAreNotCompared: who keeps has measured another incumbent.
func TestKeptIncumbentsAreNotCompared(t *testing.T) {
	t.Parallel()
	events := recorded(t, decision.Rule{Regime: decision.Noisy, Pairs: 8, MaxPairs: 16, Confidence: 0.95}, better)
	require.Equal(t, history.Accepted, decided(events).Outcome)
	measured(events).Samples = []metric.Value{metric.FromInt(100), metric.FromInt(100)}
	assert.Empty(t, findings(events))
	decided(events).Disagreement = &decision.Reason{Kind: decision.Said, Words: "the incumbent was lucky"}
	assert.Equal(t, []string{`it says "the incumbent was lucky", and its measurements do not`}, findings(events))
}
