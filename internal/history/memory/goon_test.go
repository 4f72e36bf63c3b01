package memory_test

import (
	"testing"

	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/tests/golden"
)

// TestProgramKeepsDirectionOfState: where its file leaves that open, and its
// state can be read.
func TestProgramKeepsDirectionOfState(t *testing.T) {
	t.Parallel()
	const head = "# Autoloop: p\n\n## ⚙️ Machine State\n\n| Field | Value |\n|---|---|\n"
	const lower, higher = head + "| Metric Direction | lower |\n", head + "| Metric Direction | higher |\n"
	const none = "none"
	for name, states := range map[string][2]string{ // of the program, and of another
		"no state":                   {none, higher},
		"lower":                      {lower, higher},
		"higher":                     {higher, lower},
		"no direction in it":         {head + "| Iteration Count | 2 |\n"},
		"a state of before it ran":   {string(state.New("p").Render())},
		"a cell that cannot be read": {higher + "| Iteration Count | many |\n"},
		"no table":                   {"# mine\n"},
		"an empty state":             {},
		"others cannot be read":      {none, "# mine\n"},
	} {
		p := &program.Program{Name: "p", Evaluation: program.Metric, Direction: metric.Lower}
		known := map[string][]byte{"q": []byte(states[1])}
		if states[0] != none {
			known["p"] = []byte(states[0])
		}
		says := memory.GoOn(p, known)
		golden.Row(t, name, string(p.Direction)+" "+says)
	}
}
