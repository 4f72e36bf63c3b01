package history_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

func TestLead(t *testing.T) {
	t.Parallel()
	number := func(text string) *metric.Value {
		value, err := metric.ParseValue(text)
		require.NoError(t, err)
		return &value
	}
	measured := func(role history.Role, value string) history.Event {
		return &history.Measured{Role: role, Metric: number(value), Direction: metric.Lower}
	}
	kept := func(from, to string) history.Event {
		return &history.Decided{Outcome: history.Accepted, PreviousBest: number(from), Best: number(to)}
	}
	base := measured(history.Baseline, "10")
	for name, c := range map[string]struct {
		events []history.Event
		leads  bool
	}{
		"nothing of its own":         {[]history.Event{base}, false},
		"a gain":                     {[]history.Event{base, kept("10", "9")}, true},
		"a person's commit is worse": {[]history.Event{base, measured(history.Incumbent, "20")}, false},
		"a gain over a worse commit": {[]history.Event{
			base, measured(history.Incumbent, "20"),
			kept("20", "15"),
		}, false},
		"gains up to the default branch": {[]history.Event{
			base, measured(history.Incumbent, "20"),
			kept("20", "15"), kept("15", "10"),
		}, false},
		"gains beyond the default branch": {[]history.Event{
			base, measured(history.Incumbent, "20"),
			kept("20", "15"), kept("15", "9.9"),
		}, true},
		"a person's commit is better": {[]history.Event{base, measured(history.Incumbent, "8")}, true},
		"the default branch caught up": {[]history.Event{
			base, kept("10", "9"), measured(history.Baseline, "9"),
			measured(history.Incumbent, "9"),
		}, false},
		"noise between two times": {[]history.Event{base, kept("10.4", "10.1")}, true},
		"rejected": {[]history.Event{
			base,
			&history.Decided{Outcome: history.Rejected, PreviousBest: number("10"), Best: number("10")},
		}, false},
		"better by cost, with an equal rate": {[]history.Event{base, kept("10", "10")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.leads, history.Replay(c.events).Lead.Better())
		})
	}
}
