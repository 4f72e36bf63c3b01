package history_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func value(text string) *metric.Value {
	v := metric.MustValue(text)
	return &v
}

// events are those of a line such as `started run_id=a minute=3 | decided commit="1"`: kinds of events with the
// fields of their JSON. A minute is one after noon, and what is no JSON is a text.
func events(t *testing.T, line string) (list []history.Event) {
	t.Helper()
	for _, one := range strings.FieldsFunc(line, func(r rune) bool { return r == '|' }) {
		words := strings.Fields(one)
		if len(words) == 0 {
			continue
		}
		fields := map[string]any{"event": words[0]}
		for _, word := range words[1:] {
			key, text, _ := strings.Cut(word, "=")
			minute, _ := strconv.Atoi(text)
			switch {
			case key == "minute":
				fields["time"] = noon.Add(time.Duration(minute) * time.Minute)
			case json.Valid([]byte(text)):
				fields[key] = json.RawMessage(text)
			default:
				fields[key] = text
			}
		}
		text, err := json.Marshal(fields)
		require.NoError(t, err)
		event, err := history.ParseEvent(text)
		require.NoError(t, err, one)
		list = append(list, event)
	}
	return list
}

// replay adds up the events of a line.
func replay(t *testing.T, line string) history.Summary {
	t.Helper()
	return history.Replay(events(t, line))
}
