package audit

import (
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
)

// rule holds the rule of a decision against what came before it and against the
// program file.
func (a *walk) rule(e *history.Decided) {
	if e.Rule == nil {
		return
	}
	if e.Rule.Regime == decision.Repeatable && a.summary.Noisy {
		a.find(Ledger, e.Iteration, "the evaluation was known to be noisy, and the rule takes it for one that "+
			"repeats itself")
	}
	now := fmt.Sprint(e.Rule.Low, e.Rule.High, e.Rule.Guardrails)
	if was, known := a.bounds[a.summary.Definition]; !known {
		a.bounds[a.summary.Definition] = now
	} else if was != now {
		a.find(Ledger, e.Iteration, "its guardrails or its range are not those of the decisions before it, under the "+
			"same evaluation")
	}
	if len(a.asked) > 0 && !slices.ContainsFunc(a.asked, e.Rule.IsOf) {
		a.find(Ledger, e.Iteration, "no version of the program file asks for the rule that is recorded")
	}
}
