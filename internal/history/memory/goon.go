package memory

import (
	"errors"

	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/program"
)

// GoOn lets a program go on in the direction that its state says, and says why the
// state cannot be read; "" when it can be read, or the program has no state yet.
func GoOn(p *program.Program, states map[string][]byte) string {
	data, found := states[p.Name]
	machine, _, err := state.ParseMachine(data)
	if err == nil && machine.DirectionGiven {
		p.GoOn(machine.Direction)
	}
	if err == nil || !found {
		return ""
	}
	problem := program.Problem{File: MemoryBranch + ":" + p.Name + ".md", Message: err.Error()}
	if at, ok := errors.AsType[*state.Problem](err); ok {
		problem.Line = at.Line
	}
	return problem.String()
}
