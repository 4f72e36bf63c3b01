package render_test

import (
	"fmt"
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
		want  string // the class, the best version, its gain and what to do
	}{
		"nothing at all":       {"", 0, false, "no-gain 0 0 continue"},
		"the baseline alone":   {"0.5", 0, false, "no-gain 0 0 reject"},
		"a perfect baseline":   {"1", 0, false, "perfect-baseline 0 0 investigate"},
		"perfect at once":      {"0.5 +1", 0, false, "perfect 1 +0.5 apply"},
		"perfect before stuck": {"0.5 +1 -0.5 -0.5 -0.5", 0, false, "perfect 1 +0.5 apply"},
		"stuck before rapid":   {"0.1 +0.2 +0.3 +0.4 +0.5 -0.2 -0.3 -", 0, false, "stuck 4 +0.4 investigate"},
		"stopped rising, and ran to its maximum": {
			"0.1 +0.2 +0.3 +0.4 -0.2 -0.3 -0.1", 0, true, "plateau 3 +0.3 apply",
		},
		"rose quickly, and ran to its maximum": {
			"0.1 +0.2 +0.3 +0.4 +0.5 -0.2 -0.3 -", 0, true, "plateau 4 +0.4 apply",
		},
		"nothing kept, and ran to its maximum": {"0.1 - - -", 0, true, "no-gain 0 0 reject"},
		"stuck with nothing":                   {"0.1 - - -", 0, false, "stuck 0 0 investigate"},
		"rapid before plateau":                 {"0.1 +0.2 +0.3 +0.4 -0.2 -0.3", 0, false, "plateau 3 +0.3 apply"},
		"half kept is not rapid":               {"0.1 +0.2 +0.3 -0.2 -0.3", 0, false, "plateau 2 +0.2 apply"},
		"improving":                            {"0.1 -0.1 +0.3 -0.2", 0, false, "improving 2 +0.2 continue"},
		"no gain":                              {"0.1 -0.1 -0.1", 0, false, "no-gain 0 0 reject"},
		"reverts that are not the last":        {"0.1 - - - +0.2", 0, false, "improving 4 +0.1 continue"},
		"a lost case is to be looked at":       {"0.1 +0.2 +0.3 -0.2 -0.3", 1, false, "plateau 2 +0.2 investigate"},
		"a tie of decimals is a tie":           {"0.3 -0.3", 0, false, "no-gain 0 0 reject"},
		"nearly perfect is not perfect":        {"0.5 +0.999999999999", 0, false, "rapid 1 +0.499999999999 continue"},
		"a baseline that was not scored":       {"0 +0.25", 0, false, "rapid 1 +0.25 continue"},
		"a loss cannot be on what is not":      {"0.5 -0.2", 2, false, "no-gain 0 0 reject"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := render.NewSkillReport(
				render.SkillReport{RegressedCases: make([]string, c.lost)}, rowsOf(c.rows), c.whole, false)
			assert.Equal(t, c.want, fmt.Sprint(got.Class, " ", got.BestVersion, " ", got.Gain, " ", got.Recommendation))
			assert.NotEmpty(t, got.Reason)
			if got.Class == "stuck" {
				assert.Len(t, got.NextSteps, 3)
			}
		})
	}
}
