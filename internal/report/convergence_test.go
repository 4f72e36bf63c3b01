package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/report"
)

// rowsOf makes a table of words such as "0.5 +0.7 -0.6": the first is the
// baseline, + is kept, - reverted; "-" alone was not measured.
func rowsOf(text string) []results.Row {
	var rows []results.Row
	for i, word := range strings.Fields(text) {
		row := results.Row{Iteration: i, Action: results.Baseline}
		switch word[0] {
		case '+':
			row.Action = results.Kept
		case '-':
			row.Action = results.Reverted
		}
		if number := strings.TrimLeft(word, "+-"); number != "" {
			value := metric.MustValue(number)
			row.Score = &value
		}
		rows = append(rows, row)
	}
	return rows
}

func TestConverge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows  string
		lost  int
		class report.Class
		best  int
		gain  string
		what  report.Recommendation
	}{
		"nothing at all":                  {"", 0, report.NoGain, 0, "0", report.Continue},
		"the baseline alone":              {"0.5", 0, report.NoGain, 0, "0", report.Reject},
		"a perfect baseline":              {"1", 0, report.PerfectBaseline, 0, "0", report.Investigate},
		"perfect at once":                 {"0.5 +1", 0, report.PerfectScore, 1, "+0.5", report.Apply},
		"perfect before stuck":            {"0.5 +1 -0.5 -0.5 -0.5", 0, report.PerfectScore, 1, "+0.5", report.Apply},
		"stuck before rapid":              {"0.1 +0.2 +0.3 +0.4 +0.5 -0.2 -0.3 -", 0, report.Stuck, 4, "+0.4", report.Investigate},
		"stuck with nothing":              {"0.1 - - -", 0, report.Stuck, 0, "0", report.Investigate},
		"rapid before plateau":            {"0.1 +0.2 +0.3 +0.4 -0.2 -0.3", 0, report.Rapid, 3, "+0.3", report.Continue},
		"half kept is not rapid":          {"0.1 +0.2 +0.3 -0.2 -0.3", 0, report.Plateau, 2, "+0.2", report.Apply},
		"improving":                       {"0.1 -0.1 +0.3 -0.2", 0, report.Improving, 2, "+0.2", report.Continue},
		"no gain":                         {"0.1 -0.1 -0.1", 0, report.NoGain, 0, "0", report.Reject},
		"reverts that are not the last":   {"0.1 - - - +0.2", 0, report.Improving, 4, "+0.1", report.Continue},
		"a lost case is to be looked at":  {"0.1 +0.2 +0.3 -0.2 -0.3", 1, report.Plateau, 2, "+0.2", report.Investigate},
		"a tie of decimals is a tie":      {"0.3 -0.3", 0, report.NoGain, 0, "0", report.Reject},
		"nearly perfect is not perfect":   {"0.5 +0.999999999999", 0, report.Rapid, 1, "+0.499999999999", report.Continue},
		"a baseline that was not scored":  {"0 +0.25", 0, report.Rapid, 1, "+0.25", report.Continue},
		"a loss cannot be on what is not": {"0.5 -0.2", 2, report.NoGain, 0, "0", report.Reject},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := report.Converge(rowsOf(c.rows), c.lost)
			assert.Equal(t, c.class, got.Class)
			assert.Equal(t, c.best, got.BestVersion)
			assert.Equal(t, c.gain, got.Gain)
			assert.Equal(t, c.what, got.Recommendation)
			assert.NotEmpty(t, got.Reason)
			if c.class == report.Stuck {
				assert.Len(t, got.NextSteps, 3)
			}
			assert.Equal(t, name == "perfect at once" || name == "perfect before stuck", got.Note != "")
		})
	}
}
