package render_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
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
		whole bool
		class render.Class
		best  int
		gain  string
		what  render.Recommendation
	}{
		"nothing at all":     {"", 0, false, render.NoGain, 0, "0", render.Continue},
		"the baseline alone": {"0.5", 0, false, render.NoGain, 0, "0", render.Reject},
		"a perfect baseline": {"1", 0, false, render.PerfectBaseline, 0, "0", render.Investigate},
		"perfect at once":    {"0.5 +1", 0, false, render.PerfectScore, 1, "+0.5", render.Apply},
		"perfect before stuck": {
			"0.5 +1 -0.5 -0.5 -0.5", 0, false, render.PerfectScore, 1, "+0.5",
			render.Apply,
		},
		"stuck before rapid": {
			"0.1 +0.2 +0.3 +0.4 +0.5 -0.2 -0.3 -", 0, false, render.Stuck, 4,
			"+0.4", render.Investigate,
		},
		"stopped rising, and ran to its maximum": {
			"0.1 +0.2 +0.3 +0.4 -0.2 -0.3 -0.1", 0, true, render.Plateau, 3,
			"+0.3", render.Apply,
		},
		"rose quickly, and ran to its maximum": {
			"0.1 +0.2 +0.3 +0.4 +0.5 -0.2 -0.3 -", 0, true, render.Plateau, 4,
			"+0.4", render.Apply,
		},
		"nothing kept, and ran to its maximum": {"0.1 - - -", 0, true, render.NoGain, 0, "0", render.Reject},
		"stuck with nothing":                   {"0.1 - - -", 0, false, render.Stuck, 0, "0", render.Investigate},
		"rapid before plateau": {
			"0.1 +0.2 +0.3 +0.4 -0.2 -0.3", 0, false, render.Plateau, 3, "+0.3",
			render.Apply,
		},
		"half kept is not rapid": {
			"0.1 +0.2 +0.3 -0.2 -0.3", 0, false, render.Plateau, 2, "+0.2",
			render.Apply,
		},
		"improving": {
			"0.1 -0.1 +0.3 -0.2", 0, false, render.Improving, 2, "+0.2",
			render.Continue,
		},
		"no gain": {"0.1 -0.1 -0.1", 0, false, render.NoGain, 0, "0", render.Reject},
		"reverts that are not the last": {
			"0.1 - - - +0.2", 0, false, render.Improving, 4, "+0.1",
			render.Continue,
		},
		"a lost case is to be looked at": {
			"0.1 +0.2 +0.3 -0.2 -0.3", 1, false, render.Plateau, 2, "+0.2",
			render.Investigate,
		},
		"a tie of decimals is a tie": {"0.3 -0.3", 0, false, render.NoGain, 0, "0", render.Reject},
		"nearly perfect is not perfect": {
			"0.5 +0.999999999999", 0, false, render.Rapid, 1, "+0.499999999999",
			render.Continue,
		},
		"a baseline that was not scored":  {"0 +0.25", 0, false, render.Rapid, 1, "+0.25", render.Continue},
		"a loss cannot be on what is not": {"0.5 -0.2", 2, false, render.NoGain, 0, "0", render.Reject},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := render.Converge(rowsOf(c.rows), c.lost, c.whole)
			assert.Equal(t, c.class, got.Class)
			assert.Equal(t, c.best, got.BestVersion)
			assert.Equal(t, c.gain, got.Gain)
			assert.Equal(t, c.what, got.Recommendation)
			assert.NotEmpty(t, got.Reason)
			if c.class == render.Stuck {
				assert.Len(t, got.NextSteps, 3)
			}
			assert.Equal(t, name == "perfect at once" || name == "perfect before stuck", got.Note != "")
		})
	}
}
