package state_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/state"
)

const table = "## ⚙️ Machine State\n\n| Field | Value |\n|---|---|\n"

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
