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
				&history.Set{Key: history.TargetMetricWas, Value: c.was}, &history.Set{Key: history.TargetMetric, Value: "7"},
			})
			assert.Equal(t, c.want, summary.Target(c.file))
		})
	}
}
