package memory_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
)

// TestAProgramGoesOnInTheDirectionOfItsState: where its file leaves that open, and its
// state can be read.
func TestAProgramGoesOnInTheDirectionOfItsState(t *testing.T) {
	t.Parallel()
	table := func(rows ...string) []byte {
		return []byte("# Autoloop: p\n\n## ⚙️ Machine State\n\n| Field | Value |\n|---|---|\n" + strings.Join(rows,
			"\n") + "\n")
	}
	lower, higher := table("| Iteration Count | 2 |", "| Metric Direction | lower |"),
		table("| Metric Direction | higher |")
	for name, test := range map[string]struct {
		states map[string][]byte
		want   metric.Direction
		says   string
	}{
		"no states":                {nil, metric.Lower, ""},
		"no state of this program": {map[string][]byte{"q": lower}, metric.Lower, ""},
		"lower":                    {map[string][]byte{"p": lower, "q": higher}, metric.Lower, ""},
		"higher":                   {map[string][]byte{"p": higher, "q": lower}, metric.Higher, ""},
		"no direction in it":       {map[string][]byte{"p": table("| Iteration Count | 2 |")}, metric.Lower, ""},
		"a state of before it ran": {map[string][]byte{"p": state.New("p").Render()}, metric.Higher, ""},
		"a cell that cannot be read": {map[string][]byte{"p": table("| Iteration Count | many |",
			"| Metric Direction | higher |")}, metric.Lower, `memory/autoloop:p.md:7: Iteration Count is "many"`},
		"no table": {
			map[string][]byte{"p": []byte("# mine\n")},
			metric.Lower,
			"memory/autoloop:p.md",
		},
		"an empty state":        {map[string][]byte{"p": {}}, metric.Lower, "memory/autoloop:p.md"},
		"others cannot be read": {map[string][]byte{"q": []byte("# mine\n")}, metric.Lower, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &program.Program{Name: "p", Evaluation: program.Metric, Direction: metric.Lower}
			says := memory.GoOn(p, test.states)
			assert.Equal(t, test.want, p.Direction)
			if test.says == "" {
				assert.Empty(t, says)
				return
			}
			assert.True(t, strings.HasPrefix(says, test.says), says)
			assert.NotContains(t, says, "\n")
		})
	}
}
