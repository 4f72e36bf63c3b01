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
	const said = "the incumbent, measured anew, gave 94 (runs: 3), and 100 is on record (runs: 7, 1 apart)"
	const why = ": either the machine changed, or what was kept was luck"
	trial := func(incumbent string) []history.Event {
		events := recorded(t, decision.Known(), decision.Rule{Version: 2, Regime: decision.Noisy, Pairs: 8, MaxPairs: 16, Confidence: 0.95}, func(step decision.Step) metric.Measurement {
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
		incumbent, record string
		version           int
		finds             []string
	}{
		"as it was measured":             {"94", said + why, 2, nil},
		"nothing to say":                 {"100", "", 2, nil},
		"left out":                       {"94", "", 2, []string{`its measurements say "` + said + `", and it says ""`}},
		"made up":                        {"100", said, 2, []string{`it says "` + said + `", and its measurements do not`}},
		"another number":                 {"94", "the incumbent, measured anew, gave 99", 2, []string{`its measurements say "` + said + `", and it says "the incumbent, measured anew, gave 99"`}},
		"by a version that did not know": {"94", "", 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events := trial(c.incumbent)
			d := decided(events)
			d.Disagreement = c.record
			if c.version == 1 {
				d.Rule.Version, d.Rule.MaxPairs = 1, 0
			}
			assert.Equal(t, c.finds, findings(decision.Known(), events))
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
	events := recorded(t, decision.Known(), decision.Rule{Version: 2, Regime: decision.Noisy, Pairs: 8, MaxPairs: 16, Confidence: 0.95}, better)
	require.Equal(t, history.Accepted, decided(events).Outcome)
	measured(events).Samples = []metric.Value{metric.FromInt(100), metric.FromInt(100)}
	assert.Empty(t, findings(decision.Known(), events))
	decided(events).Disagreement = "the incumbent was lucky"
	assert.Equal(t, []string{`it says "the incumbent was lucky", and its measurements do not`}, findings(decision.Known(), events))
}
