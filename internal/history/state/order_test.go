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

	for _, cell := range []string{"pending CI", "Pending CI", "— (no run yet)", "- (not measured)", "(new PR this run, #135 was previous)", "*(none so far)*"} {
		m, _, err := state.ParseMachine([]byte(head + "| Best Metric | " + cell + " |\n| PR | " + cell + " |\n| Last Run | " + cell + " |\n| Iteration Count | 0 |\n"))
		require.NoError(t, err, cell)
		assert.Nil(t, m.BestMetric, cell)
		assert.Zero(t, m.PR, cell)
		assert.Nil(t, m.LastRun, cell)
	}
	m, _, err = state.ParseMachine([]byte(head + "| Recent Statuses | accepted, pending-ci |\n| Pause Reason | (a person, by hand) |\n"))
	require.NoError(t, err)
	assert.True(t, m.Pending())
	assert.Equal(t, "(a person, by hand)", m.PauseReason)
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
