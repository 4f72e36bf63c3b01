package audit_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/metric"
)

func number(text string) *metric.Value {
	value := metric.MustValue(text)
	return &value
}

// events are those of a line such as `started run_id=a | decided run_id=a outcome=accepted`: kinds of events with the
// fields of their JSON, where what is no JSON is a text.
func events(t *testing.T, line string) (list []history.Event) {
	t.Helper()
	for _, one := range strings.Split(line, "|") {
		fields := map[string]any{}
		for i, word := range strings.Fields(one) {
			key, text, _ := strings.Cut(word, "=")
			switch {
			case i == 0:
				fields["event"] = word
			case json.Valid([]byte(text)):
				fields[key] = json.RawMessage(text)
			default:
				fields[key] = text
			}
		}
		if len(fields) == 0 {
			continue
		}
		text, err := json.Marshal(fields)
		require.NoError(t, err)
		event, err := history.ParseEvent(text)
		require.NoError(t, err, one)
		list = append(list, event)
	}
	return list
}

// found are the findings in one of the records, each with its iteration.
func found(where audit.Where, events []history.Event, records audit.Records, asked ...decision.Rule) (list []string) {
	records.Events = events
	for _, finding := range audit.Of(records, asked).Findings {
		if finding.Where == where {
			list = append(list, fmt.Sprintf("%d: %s", finding.Iteration, finding.Message))
		}
	}
	return list
}

// findings are those of a ledger alone, without those that nothing can be computed again, since it has no rule.
func findings(events []history.Event) (list []string) {
	for _, says := range found(audit.Ledger, events, audit.Records{}) {
		if !strings.Contains(says, `no program asks for the regime ""`) {
			_, says, _ = strings.Cut(says, ": ")
			list = append(list, says)
		}
	}
	return list
}
