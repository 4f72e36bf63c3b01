package state_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
)

const table = "## ⚙️ Machine State\n\n| Field | Value |\n|---|---|\n"

func TestHeadings(t *testing.T) {
	rows := "\n| Field | Value |\n|---|---|\n| Iteration Count | 7 |\n"
	for name, before := range map[string]string{
		"as written":          "## ⚙️ Machine State\n",
		"no selector":         "## ⚙ Machine State\n",
		"no emoji":            "## Machine State\n",
		"level one":           "# Machine State\n",
		"level five":          "##### ⚙️ machine STATE\n",
		"ascii sign":          "## [*] Machine State\n",
		"indented":            "  ## Machine State ##\n",
		"byte order mark":     "\ufeff## Machine State\n",
		"after another":       "# Autoloop: x\n\ntext\n\n## ⚙️ Machine State\n> note\n",
		"after a fence":       "```sh\n## Machine State\n| Iteration Count | 9 |\n```\n## Machine State\n",
		"after a comment":     "<!--\n## Machine State\n| Iteration Count | 9 |\n-->\n## Machine State\n",
		"after an open fence": "```\n## Machine State\n",
		"after open comment":  "<!-- hm\n## Machine State\n",
	} {
		t.Run(name, func(t *testing.T) {
			m, _, err := state.ParseMachine([]byte(before + rows))
			require.NoError(t, err)
			assert.Equal(t, 7, m.IterationCount)
			m, _, err = state.ParseMachine([]byte(strings.ReplaceAll(before+rows, "\n", "\r\n")))
			require.NoError(t, err, "CRLF")
			assert.Equal(t, 7, m.IterationCount)
		})
	}
}

func TestCells(t *testing.T) {
	read := func(rows string) state.Machine {
		m, _, err := state.ParseMachine([]byte(table + rows))
		require.NoError(t, err, rows)
		return m
	}
	for _, form := range []string{
		"2025-01-15T10:30:00Z", "`2025-01-15T10:30:00Z`", "2025-01-15T11:30:00+01:00",
		"2025-01-15 10:30 UTC", "2025-01-15T10:30:00", "2025-01-15 10:30:00", "2025-01-15T10:30:00+0000",
	} {
		m := read("| Last Run | " + form + " |\n")
		require.NotNil(t, m.LastRun, form)
		assert.Equal(t, "2025-01-15T10:30:00Z", m.LastRun.Format(time.RFC3339), form)
	}
	assert.Equal(t, "2025-01-15T00:00:00Z", read("| Last Run | 2025-01-15 |\n").LastRun.Format(time.RFC3339))
	for _, null := range []string{"", " ", "—", "-", "--", "n/a", "none", "`—`"} {
		m := read("|Last Run|" + null + "|\n| Best Metric |" + null + "|\n| Paused |" + null + "|\n|Pause Reason|" +
			null + "|\n| PR |" + null + "|\n|Recent Statuses|" + null + "|\n")
		assert.Equal(t, state.Machine{Direction: metric.Higher}, m, "null %q", null)
	}
	assert.True(t, read("| **Paused** | `true` |\n").Paused)
	assert.True(t, read("| paused | **TRUE** (by Ana) |\n").Paused)
	assert.False(t, read("| `Paused` | no |\n").Paused)
	assert.True(t, read("Completed | true\n").Completed)
	for text, want := range map[string]int{
		"#42": 42, "42": 42, "[#42](https://x/y)": 42,
		"https://github.com/o/r/pull/42": 42, "#42 (open)": 42, "#aw_pr (pending)": 0, "soon": 0,
	} {
		assert.Equal(t, want, read("| PR | "+text+" |\n").PR, text)
	}
	assert.Equal(t, `a|b\c | d`, read(`| Pause Reason | a\|b\\c \| d |`+"\n").PauseReason)
	assert.Equal(t, "a | b", read("| Pause Reason | a | b |\n").PauseReason)
	assert.Equal(t, "bad \uFFFD byte", read("| Pause Reason | bad \xe9 byte |\n").PauseReason)
	assert.Equal(t, "1.30625", read("| Best Metric | `1.30625` |\n").BestMetric.String())
	m := read("| Metric Direction | `Lower` |\n| Branch | `autoloop/x` |\n" +
		"| Recent Statuses | Accepted, rejected (iter 4),error |\n| Strategy | x |\n")
	assert.Equal(t, metric.Lower, m.Direction)
	assert.True(t, m.DirectionGiven)
	assert.Equal(t, "autoloop/x", m.Branch)
	assert.Equal(t, []string{"accepted", "rejected", "error"}, m.RecentStatuses)
	m = read("| PR |\n| Pause Reason |\n| Completed Reason\n| Recent Statuses | " + strings.Repeat("rejected, ",
		12) + "accepted |\n")
	require.Len(t, m.RecentStatuses, 10)
	assert.Empty(t, m.PauseReason+m.CompletedReason)
	assert.Equal(t, "accepted", m.RecentStatuses[9])
	assert.False(t, m.DirectionGiven)
}

func TestWhatCannotBeReadIsNeverAFirstRun(t *testing.T) {
	for name, c := range map[string]struct {
		data, says string
		line       int
	}{
		"empty":            {"", "no Machine State table", 0},
		"other markdown":   {"# Notes\n\n| Last Run | x |\n", "no Machine State table", 0},
		"no rows":          {table, "no Machine State table", 1},
		"in a fence":       {"```\n" + table + "| Last Run | — |\n```\n", "no Machine State table", 0},
		"time":             {table + "| Last Run | yesterday |\n", `Last Run is "yesterday"`, 5},
		"count":            {table + "| Iteration Count | many |\n", "Iteration Count", 5},
		"negative":         {table + "| Consecutive Errors | -1 |\n", "Consecutive Errors", 5},
		"metric":           {table + "| Paused | false |\n| Best Metric | good |\n", `Best Metric is "good"`, 6},
		"percent":          {table + "| Best Metric | 85% |\n", "85%", 5},
		"nan":              {table + "| Target Metric | nan |\n", "nan", 5},
		"flag":             {table + "| Completed | maybe |\n", "`true` or `false`", 5},
		"direction":        {table + "| Metric Direction | down |\n", "`higher` or `lower`", 5},
		"binary":           {"\x00\x01\xff\xfe", "no Machine State table", 0},
		"a very long cell": {table + "| Last Run | " + strings.Repeat("9", 1000) + " |\n", "…", 5},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := state.ParseMachine([]byte(c.data))
			var problem *state.Problem
			require.ErrorAs(t, err, &problem)
			assert.Contains(t, problem.Message, c.says)
			assert.Equal(t, c.line, problem.Line)
			assert.NotContains(t, problem.Message, "\n")
			_, err = state.Parse([]byte(c.data))
			assert.Error(t, err)
		})
	}
}

func TestWarnings(t *testing.T) {
	for rows, says := range map[string]string{
		"| PR | soon |\n":                                  "counts as none",
		"| Best Metric | 3.5 seconds |\n":                  `"seconds"`,
		"| Last Run | — |\n| Iteration Count | 12 |\n":     "never run",
		"| Issue | #99999999999999999999 |\n| PR | #1 |\n": "Issue",
	} {
		_, warnings, err := state.ParseMachine([]byte(table + rows))
		require.NoError(t, err)
		require.Len(t, warnings, 1, rows)
		assert.Contains(t, warnings[0].Message, says)
		assert.Equal(t, 5, warnings[0].Line)
	}
}

func TestPlateauAndPending(t *testing.T) {
	m := state.Machine{RecentStatuses: []string{"accepted", "rejected", "rejected", "rejected"}}
	assert.True(t, m.Plateau(3))
	assert.False(t, m.Plateau(4))
	assert.False(t, m.Plateau(5))
	assert.False(t, m.Plateau(0))
	assert.False(t, m.Pending())
	assert.True(t, state.Machine{RecentStatuses: []string{"pending-ci"}}.Pending())
	assert.False(t, state.Machine{}.Pending())
}
