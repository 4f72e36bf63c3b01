package schedule

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

// unknown says that there is no such program as was asked for, and which was perhaps meant.
func (p *Plan) unknown(in *Input) *ForcedError {
	names := make([]string, len(p.Standings))
	for i, s := range p.Standings {
		names[i] = s.Program.Name
	}
	end := cmp.Or(DidYouMean(in.Forced, names), "; there are: "+cmp.Or(render.Few(names), "none"))
	if in.Issues.Unread != "" {
		end += "; " + in.Issues.Unread
	}
	name := strings.ToValidUTF8(in.Forced[:min(len(in.Forced), 80)], "")
	return &ForcedError{Message: fmt.Sprintf("there is no program %q%s", name, end)}
}

// DidYouMean is "; did you mean …?" for the name or file of a program that is not there, with
// the name that is nearest; "" when none is.
func DidYouMean(name string, names []string) string {
	stem := strings.TrimSuffix(filepath.Base(name), ".md")
	meant := Nearest(stem, slices.Compact(slices.Sorted(slices.Values(names))))
	if meant == "" || meant == name {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", meant)
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
