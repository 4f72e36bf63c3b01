package state_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/state"
)

// TestTableKeepsItsForm is what people see of it elsewhere: the rows, without what stands
// around them.
func TestTableKeepsItsForm(t *testing.T) {
	t.Parallel()
	const rows = "| Field | Value |\n|---|---|\n| Iteration Count | 7 |\n| Mine | x |\n"
	for name, c := range map[string]struct{ text, want string }{
		"alone": {"## Machine State\n" + rows, rows},
		"with text around": {"# x\n\n## Machine State\n\n> a note\n\n" + rows +
			"\nafter | with a pipe\n\n## Next\n| no | row |\n", rows + "after | with a pipe\n"},
		"with Windows' ends": {strings.ReplaceAll("## Machine State\n\n"+rows, "\n", "\r\n"), rows},
		"without a line end": {"## Machine State\n| Iteration Count | 7 |", "| Iteration Count | 7 |\n"},
		"an unknown last":    {"## Machine State\n" + rows + "| Own | y |\ntext\n", rows + "| Own | y |\n"},
	} {
		assert.Equal(t, c.want, parse(t, c.text).Table(), name)
	}
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
