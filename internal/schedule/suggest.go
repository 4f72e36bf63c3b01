package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

// unknown says that there is no such program, and which was perhaps meant.
func (p *Plan) unknown(name string) *ForcedError {
	names := make([]string, len(p.Standings))
	for i, s := range p.Standings {
		names[i] = s.Program.Name
	}
	end := "; there are: " + cmp.Or(render.Few(names), "none")
	if meant := Nearest(name, names); meant != "" {
		end = fmt.Sprintf("; did you mean %q?", meant)
	}
	name = strings.ToValidUTF8(name[:min(len(name), 80)], "")
	return &ForcedError{Message: fmt.Sprintf("there is no program %q%s", name, end)}
}

// Nearest returns the name that differs least from name, "" when none is near.
func Nearest(name string, names []string) string {
	name = strings.ToLower(name)
	if len(name) > 200 {
		return ""
	}
	best, distance := "", max(2, len(name)/3)+1
	for _, candidate := range names {
		if d := program.Distance(name, candidate); d < distance {
			best, distance = candidate, d
		}
	}
	if best == "" && len(name) > 2 {
		at := slices.IndexFunc(names, func(candidate string) bool { return strings.Contains(candidate, name) })
		if at >= 0 {
			return names[at]
		}
	}
	return best
}
