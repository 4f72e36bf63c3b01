package render_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/render"
)

// TestTablesFitATerminal: no line is wider, no word is lost, and elsewhere a row
// is one line.
func TestTablesFitATerminal(t *testing.T) {
	t.Parallel()
	why := "better than before; " + strings.Repeat("größer als 12 und 13; ", 20) + "end"
	table := render.Table{
		Header: []string{"iteration", "outcome", "why"}, Align: "r",
		Rows: [][]string{{"1", "rejected", why}, {"2", "accepted", "short"}},
	}
	for _, width := range []int{60, 80, 200} {
		text := table.Fit(width).String()
		for line := range strings.Lines(text) {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), width)
		}
		assert.Equal(t, strings.Fields(table.String()), strings.Fields(text), "every word is there, in its order")
	}
	assert.Equal(t, table.String(), table.Fit(0).String())
	assert.Equal(t, 3, strings.Count(table.String(), "\n"))
	assert.Equal(t, []string{"a", "verylongword", "b c"}, render.Wrap("a verylongword b c", 5))
}

// TestNarrowTables: where the last column has no room beside the others it goes below
// its row.
func TestNarrowTables(t *testing.T) {
	t.Parallel()
	table := render.Table{
		Header: []string{"program", "state", "runs", "best", "reason"}, Align: "llr",
		Rows: [][]string{
			{"speed", "paused", "12", "4.5", "paused: 3 errors in a row; see the history"},
			{"size", "due", "0", "—", ""},
		},
	}
	assert.Equal(t, "program  state   runs  best  reason\n"+
		"speed    paused    12  4.5   paused: 3 errors in a row; see\n"+
		"                             the history\n"+
		"size     due        0  —\n", table.Fit(60).String())
	assert.Equal(t, "program  state   runs  best\n"+
		"speed    paused    12  4.5\n"+
		"    paused: 3 errors in a row; see the history\n"+
		"size     due        0  —\n", table.Fit(50).String())
}
