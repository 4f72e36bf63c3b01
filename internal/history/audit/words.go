package audit

import (
	"fmt"
	"strings"
)

// String says whether the records agree, and where they do not.
func (r *Report) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%d iterations, %d decisions computed again", r.Decisions, r.Repeated)
	if len(r.Findings) == 0 {
		out.WriteString(": the records agree\n")
	} else {
		fmt.Fprintf(&out, ": %d disagreements\n", len(r.Findings))
	}
	for _, finding := range r.Findings {
		fmt.Fprintf(&out, "  %s, iteration %d: %s\n", finding.Where, finding.Iteration, finding.Message)
	}
	for _, unseen := range r.Unseen {
		fmt.Fprintf(&out, "  not looked at: %s\n", unseen)
	}
	return out.String()
}
