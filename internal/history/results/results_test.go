package results_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
)

func start() time.Time { return time.Date(2025, 1, 15, 10, 30, 0, 0, time.UTC) }

func row(iteration int, key string, action results.Action, changelog string) results.Row {
	r := results.Row{
		Iteration: iteration, Time: start().Add(time.Duration(iteration) * time.Hour), Action: action,
		Changelog: changelog,
	}
	if key != "" {
		v := metric.MustValue(key)
		r.Score = &v
	}
	return r
}

func text(value *metric.Value) string {
	if value == nil {
		return ""
	}
	return value.String()
}

func TestFormat(t *testing.T) {
	var table results.Table
	assert.Equal(t, results.Header+"\n", string(table.Bytes()))
	for _, r := range []results.Row{
		row(0, "1.50", results.Baseline, results.InitialEvaluation),
		row(1, "1.3", results.Kept, "a\tb\\n\nc"),
		row(2, "", results.Reverted, "evaluation failed"),
		row(3, "1.2", results.Reverted, "guardrail"),
		row(4, "9007199254740993", results.Baseline, "New evaluator"),
	} {
		table.Append(r, metric.Lower)
	}
	assert.Equal(t, strings.Join([]string{
		"iteration\ttimestamp\tscore\tbest_score\taction\tchangelog",
		"0\t2025-01-15T10:30:00+00:00\t1.5\t1.5\tbaseline\tInitial evaluation",
		"1\t2025-01-15T11:30:00+00:00\t1.3\t1.3\tkept\ta\\tb\\\\n\\nc",
		"2\t2025-01-15T12:30:00+00:00\t\t1.3\treverted\tevaluation failed",
		"3\t2025-01-15T13:30:00+00:00\t1.2\t1.3\treverted\tguardrail",
		"4\t2025-01-15T14:30:00+00:00\t9007199254740993\t9007199254740993\tbaseline\tNew evaluator",
		"",
	}, "\n"), string(table.Bytes()))
	again, err := results.Parse(table.Bytes())
	require.NoError(t, err)
	assert.Equal(t, "a\tb\\n\nc", again.Rows()[1].Changelog)
	assert.Equal(t, "9007199254740993", text(again.Rows()[len(again.Rows())-1].Best))
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(results.Header+"\n1\t2025-01-15\t1\t1\tkept\tx\\ty\n"), "a\tb\\\n\x00\xff")
	f.Fuzz(func(t *testing.T, data []byte, changelog string) {
		table, err := results.Parse(data)
		if err != nil {
			return
		}
		before := len(table.Rows())
		added := results.Row{Iteration: 1 << 40, Time: start(), Action: results.Kept, Changelog: changelog}
		table.Append(added, metric.Lower)
		again, err := results.Parse(table.Bytes())
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(again.Rows()), before)
		assert.Equal(t, table.Rows()[len(table.Rows())-1].Changelog, again.Rows()[len(again.Rows())-1].Changelog)
		once := again.Bytes()
		again.Append(added, metric.Lower)
		assert.Equal(t, string(once), string(again.Bytes()))
	})
}
