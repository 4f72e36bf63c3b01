package state_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history/state"
)

// TestTheTableAsItStands is what people see of it elsewhere: the rows, without what stands
// around them.
func TestTheTableAsItStands(t *testing.T) {
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

func TestANewFile(t *testing.T) {
	t.Parallel()
	for name, title := range map[string]string{
		"speed": "speed", "a\n## Machine State\nb": "a ## Machine State b",
		"<b>": "&lt;b&gt;", "": "",
	} {
		doc := state.New(name)
		assert.True(t, strings.HasPrefix(string(doc.Bytes()), "# Autoloop: "+title+"\n"), name)
		m := doc.Machine()
		assert.Nil(t, m.LastRun)
		assert.True(t, m.DirectionGiven, "the row is there from the start")
		for _, kind := range []state.SectionKind{
			state.ProgramInfo, state.Priorities, state.Lessons, state.Foreclosed,
			state.Future, state.History,
		} {
			assert.Empty(t, doc.Section(kind), "nothing yet")
		}
		assert.Equal(t, string(doc.Bytes()), string(doc.Render()))
		before := string(doc.Bytes())
		doc.SetMachine(m)
		assert.Equal(t, before, string(doc.Bytes()))
	}
}
