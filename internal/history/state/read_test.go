package state_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history/state"
)

const table = "## ⚙️ Machine State\n\n| Field | Value |\n|---|---|\n"

func TestPlateauAndPending(t *testing.T) {
	m := state.Machine{RecentStatuses: []string{"accepted", "rejected", "rejected", "rejected"}}
	for n, is := range map[int]bool{3: true, 4: false, 5: false, 0: false} {
		assert.Equal(t, is, m.Plateau(n), n)
	}
	assert.False(t, m.Pending())
	assert.True(t, state.Machine{RecentStatuses: []string{"pending-ci"}}.Pending())
	assert.False(t, state.Machine{}.Pending())
}
