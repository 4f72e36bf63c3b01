package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
)

// saysDisagreement is the first version of the rule whose decisions say that the
// incumbent was not what is on record.
const saysDisagreement = 2

// Disagreement says that the incumbent, as the trial of a candidate that was not
// kept measured it last, is not what the records before it have, by the rule of its
// decision; "" when it is.
func Disagreement(before history.Summary, measured []*history.Measured, rule *history.Rule) string {
	for _, m := range slices.Backward(measured) {
		if m.Role == history.Incumbent && m.Stage != "" && len(m.Samples) > 0 {
			return versionOf(rule).Disagreement(before.Samples, m.Samples)
		}
	}
	return ""
}

// versionOf is the version of a rule, without one the first. A decision by one that is
// not known is found elsewhere.
func versionOf(rule *history.Rule) decision.Version {
	known, number := decision.Known(), 1
	if rule != nil {
		number = max(rule.Version, 1)
	}
	if version, is := known[number]; is {
		return version
	}
	return known[decision.Latest]
}

// disagreement holds what a decision says of the incumbent against that.
func (r *Report) disagreement(before history.Summary, measured []*history.Measured, e *history.Decided) {
	again := ""
	if e.Outcome != history.Accepted && e.Outcome != history.PendingCI {
		again = Disagreement(before, measured, e.Rule)
	}
	switch {
	case again == "" && e.Disagreement != "":
		r.find(Ledger, e.Iteration, fmt.Sprintf("it says %q, and its measurements do not", e.Disagreement))
	case again == "" || e.Disagreement == "" && (e.Rule == nil || e.Rule.Version < saysDisagreement):
	case !strings.HasPrefix(e.Disagreement, again):
		r.find(Ledger, e.Iteration, fmt.Sprintf("its measurements say %q, and it says %q", again, e.Disagreement))
	}
}
