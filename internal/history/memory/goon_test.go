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

// TestProgramKeepsDirectionOfState: where its file leaves that open, and its
// state can be read.
func TestProgramKeepsDirectionOfState(t *testing.T) {
	t.Parallel()
	const head = "# Autoloop: p\n\n## ⚙️ Machine State\n\n| Field | Value |\n|---|---|\n"
	const lower, higher = head + "| Metric Direction | lower |\n", head + "| Metric Direction | higher |\n"
	const none = "none"
	for name, test := range map[string]struct {
		state, other string
		want         metric.Direction
		says         string
	}{
		"no state":                 {none, higher, metric.Lower, ""},
		"lower":                    {lower, higher, metric.Lower, ""},
		"higher":                   {higher, lower, metric.Higher, ""},
		"no direction in it":       {head + "| Iteration Count | 2 |\n", "", metric.Lower, ""},
		"a state of before it ran": {string(state.New("p").Render()), "", metric.Higher, ""},
		"a cell that cannot be read": {
			higher + "| Iteration Count | many |\n", "", metric.Lower,
			`memory/autoloop:p.md:8: Iteration Count is "many"`,
		},
		"no table":              {"# mine\n", "", metric.Lower, "memory/autoloop:p.md"},
		"an empty state":        {"", "", metric.Lower, "memory/autoloop:p.md"},
		"others cannot be read": {none, "# mine\n", metric.Lower, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &program.Program{Name: "p", Evaluation: program.Metric, Direction: metric.Lower}
			states := map[string][]byte{"q": []byte(test.other)}
			if test.state != none {
				states["p"] = []byte(test.state)
			}
			says := memory.GoOn(p, states)
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
