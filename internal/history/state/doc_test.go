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

// TestTableOfMachine is what people see of it elsewhere: what a file says that is read again.
func TestTableOfMachine(t *testing.T) {
	t.Parallel()
	m, later := state.Machine{IterationCount: 7, PauseReason: "a | b"}, time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	assert.NotContains(t, m.Table(), "Not Before")
	m.NotBefore = &later
	again := parse(t, "## Machine State\n"+m.Table()).Machine()
	m.Direction, m.DirectionGiven = metric.Higher, true
	assert.Equal(t, m, again)
}

func TestNewStateFile(t *testing.T) {
	t.Parallel()
	for name, title := range map[string]string{
		"speed": "speed", "a\n## Machine State\nb": "a ## Machine State b", "<b>": "&lt;b&gt;", "": "",
	} {
		doc := state.New(name)
		before := string(doc.Bytes())
		assert.True(t, strings.HasPrefix(before, "# Autoloop: "+title+"\n"), name)
		m, warnings, err := state.ParseMachine(doc.Bytes())
		require.NoError(t, err)
		assert.Empty(t, warnings)
		assert.True(t, m.LastRun == nil && m.DirectionGiven, "the row is there from the start")
		assert.Empty(t, doc.Section(state.Lessons)+doc.Section(state.History), "nothing yet")
		doc.SetMachine(m)
		assert.Equal(t, before, string(doc.Bytes()))
	}
}
