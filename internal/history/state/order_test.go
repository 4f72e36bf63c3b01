package state_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/state"
)

func TestStatesThatOthersWriteAreRead(t *testing.T) {
	const head = "## Machine State\n\n| Field | Value |\n|---|---|\n"
	m, warnings, err := state.ParseMachine([]byte(head + "| Paused | true |\n| Best Metric | 3 |\n| Paused | false |\n"))
	require.NoError(t, err)
	assert.False(t, m.Paused, "the last of a row that is given twice counts")
	require.Len(t, warnings, 1)
	assert.Equal(t, 7, warnings[0].Line)
	assert.Contains(t, warnings[0].Message, "the row Paused is there twice (also in line 5); this one counts")
	doc, err := state.Parse([]byte(head + "| Iteration Count | 1 |\n| Iteration Count | 2 |\n"))
	require.NoError(t, err)
	changed := doc.Machine()
	changed.IterationCount = 3
	doc.SetMachine(changed)
	assert.Contains(t, string(doc.Render()), "| Iteration Count | 1 |\n| Iteration Count | 3 |\n")

	m, _, err = state.ParseMachine([]byte(head + "| Recent Statuses | accepted, pending-ci |\n| Pause Reason | (a person, by hand) |\n"))
	require.NoError(t, err)
	assert.True(t, m.Pending())
	assert.Equal(t, "(a person, by hand)", m.PauseReason)
}

func TestWordsOnWhyThereIsNoValue(t *testing.T) {
	for name, c := range map[string]struct {
		row  string
		read bool
	}{
		"a best that CI is waited for":      {"| Best Metric | pending CI |", true},
		"in capitals":                       {"| Best Metric | *Pending CI* |", true},
		"a pull request CI is waited for":   {"| PR | pending CI |", true},
		"a dash and why":                    {"| Best Metric | — (no run yet) |", true},
		"a dash and why, of a time":         {"| Last Run | - (not yet) |", true},
		"a dash and why, of a count":        {"| Iteration Count | — (first run) |", true},
		"a new pull request":                {"| PR | (new PR this run, #135 was previous) |", true},
		"a number in brackets":              {"| Best Metric | (0.95) |", false},
		"a flag CI is waited for":           {"| Paused | pending CI |", false},
		"a time CI is waited for":           {"| Last Run | pending CI |", false},
		"a time in brackets":                {"| Last Run | (2026-01-02T03:04:05Z) |", false},
		"a count in brackets":               {"| Iteration Count | (12) |", false},
		"a target CI is waited for":         {"| Target Metric | pending CI |", false},
		"a dash, brackets and a number":     {"| Best Metric | — (was 3) 4 |", false},
		"a dash and a number":               {"| Best Metric | — 4 |", false},
		"a new pull request, of a metric":   {"| Best Metric | (new PR this run, #135 was previous) |", false},
		"a direction in brackets":           {"| Metric Direction | (lower) |", false},
		"consecutive errors CI is awaited ": {"| Consecutive Errors | pending CI |", false},
	} {
		t.Run(name, func(t *testing.T) {
			m, _, err := state.ParseMachine([]byte("## Machine State\n\n| Field | Value |\n|---|---|\n" + c.row + "\n"))
			if !c.read {
				var at *state.Problem
				require.ErrorAs(t, err, &at)
				assert.Equal(t, 5, at.Line)
				return
			}
			require.NoError(t, err)
			assert.Nil(t, m.BestMetric)
			assert.Nil(t, m.LastRun)
			assert.Zero(t, m.PR+m.IterationCount)
		})
	}
	m, _, err := state.ParseMachine([]byte("## Machine State\n\n| Field | Value |\n|---|---|\n| Paused | (true) |\n"))
	require.NoError(t, err)
	assert.True(t, m.Paused, "brackets around a flag take nothing away")
	for cell, want := range map[string]int{"(#12)": 12, "(new PR, #135)": 135} {
		m, _, err := state.ParseMachine([]byte("## Machine State\n\n| Field | Value |\n|---|---|\n| PR | " + cell + " |\n"))
		require.NoError(t, err)
		assert.Equal(t, want, m.PR, "a number in brackets is one")
	}
}

func TestStatusesInTheOrderOfTheHistory(t *testing.T) {
	entry := func(n int, status string) string {
		return "### Iteration " + string(rune('0'+n)) + "\n\n- **Status**: " + status + "\n\n"
	}
	history := "## 📊 Iteration History\n\n" + entry(7, "✅ Accepted") + entry(6, "❌ Rejected") + entry(5, "❌ Rejected") + entry(4, "❌ Rejected")
	for _, statuses := range []string{"accepted, rejected, rejected, rejected", "rejected, rejected, rejected, accepted"} {
		got := state.OldestFirst(strings.Split(statuses, ", "), []byte(history))
		assert.Equal(t, []string{"rejected", "rejected", "rejected", "accepted"}, got)
	}
	assert.Equal(t, []string{"accepted", "rejected"}, state.OldestFirst([]string{"accepted", "rejected"}, []byte("no history\n")))
	older := "## Iteration History\n\n" + entry(3, "rejected") + entry(9, "accepted")
	assert.Equal(t, []string{"rejected", "accepted"}, state.OldestFirst([]string{"accepted", "rejected"}, []byte(older)), "the newest is known by its number")
}
