package audit

import (
	"fmt"
	"strings"
)

// String says whether the records agree, and where they do not.
func (r *Report) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%d iterations, %d decisions computed again", r.Decisions, r.Repeated)
	if r.Archived > 0 {
		fmt.Fprintf(&out, " after the %d that are archived", r.Archived)
	}
	if r.Old > 0 {
		fmt.Fprintf(&out, ", %d from before rules were recorded", r.Old)
	}
	if len(r.Findings) == 0 {
		out.WriteString(": the records agree\n")
		return out.String()
	}
	fmt.Fprintf(&out, ": %d disagreements\n", len(r.Findings))
	for _, finding := range r.Findings {
		fmt.Fprintf(&out, "  %s, iteration %d: %s\n", finding.Where, finding.Iteration, finding.Message)
	}
	return out.String()
}
