package history_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

func TestATargetThatWasSetHoldsUntilTheFileNamesAnother(t *testing.T) {
	t.Parallel()
	value := func(text string) *metric.Value {
		v := metric.MustValue(text)
		return &v
	}
	for name, c := range map[string]struct {
		was        string
		file, want *metric.Value
	}{
		"the file is as it was":      {"2", value("2"), value("7")},
		"the file names another":     {"2", value("3"), value("3")},
		"the file names none now":    {"2", nil, nil},
		"the file named none":        {"—", nil, value("7")},
		"the file named none before": {"—", value("2"), value("2")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			summary := history.Replay([]history.Event{
				&history.Set{Key: history.TargetMetricWas, Value: c.was},
				&history.Set{Key: history.TargetMetric, Value: "7"},
			})
			assert.Equal(t, c.want, summary.Target(c.file))
		})
	}
}

func TestATargetThatIsNoNumberDoesNotHold(t *testing.T) {
	t.Parallel()
	file := metric.MustValue("2")
	for text, want := range map[string]string{"7": "7", "7.50": "7.5", "": "2", "seven": "2", "inf": "2", "7 8": "2"} {
		summary := history.Replay([]history.Event{
			&history.Set{Key: history.TargetMetricWas, Value: "2"},
			&history.Set{Key: history.TargetMetric, Value: text},
		})
		assert.Equal(t, want, history.ValueText(summary.Target(&file)), text)
	}
	none := history.Replay([]history.Event{&history.Set{Key: history.TargetMetricWas, Value: "2"}})
	assert.Same(t, &file, none.Target(&file), "nobody set one")
	assert.Nil(t, none.Target(nil))
}
