package audit

import (
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
)

// Disagreement says that the incumbent, as the trial of a candidate that was not
// kept measured it last, is not what the records before it have; nil when
// it is.
func Disagreement(before history.Summary, measured []*history.Measured) *decision.Reason {
	for _, m := range slices.Backward(measured) {
		if m.Role == history.Incumbent && m.Stage != "" && len(m.Samples) > 0 {
			return decision.Disagreement(before.Samples, m.Samples)
		}
	}
	return nil
}

// disagreement holds what a decision says of the incumbent against that.
func (r *Report) disagreement(before history.Summary, measured []*history.Measured, e *history.Decided) {
	var again *decision.Reason
	if e.Outcome != history.Accepted && e.Outcome != history.PendingCI {
		again = Disagreement(before, measured)
	}
	switch {
	case again == nil && e.Disagreement != nil:
		r.find(Ledger, e.Iteration, fmt.Sprintf("it says %q, and its measurements do not", e.Disagreement))
	case decision.Text(again) != decision.Text(e.Disagreement):
		r.find(Ledger, e.Iteration, fmt.Sprintf("its measurements say %q, and it says %q", decision.Text(again),
			decision.Text(e.Disagreement)))
	}
}
