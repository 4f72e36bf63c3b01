package audit

import (
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// rule holds the rule of a decision against what came before it and against the
// program file. A rule that is stricter than the program asks for keeps
// nothing that it should not.
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
	if reason := weakerThanAll(*e.Rule, a.asked); reason != "" {
		a.find(Ledger, e.Iteration, reason+" in the record, and no version of the program file asks for less than that")
	}
}

// weakerThanAll says in what a rule is weaker than the newest of those that the
// program file asked for, when it is weaker than each of them.
func weakerThanAll(rule decision.Rule, asked []decision.Rule) string {
	reason := ""
	for i, a := range asked {
		why := weaker(rule, a)
		if why == "" {
			return ""
		}
		if i == 0 {
			reason = why
		}
	}
	return reason
}

// weaker says in what a rule would keep more than another one, or "".
func weaker(rule, asked decision.Rule) string {
	least, need := rule.MinImprovement, asked.MinImprovement
	switch {
	case rule.Regime == decision.Single && asked.Regime != decision.Single:
		return "single runs decide"
	case rule.Regime == decision.Repeatable && asked.Regime == decision.Noisy:
		return "single runs decide until two differ"
	case rule.Regime != decision.Single && rule.Confidence < asked.Confidence:
		return fmt.Sprintf("the confidence is %g", rule.Confidence)
	case rule.Regime == decision.Noisy && rule.Pairs < asked.Pairs:
		return fmt.Sprintf("%d pairs decide", rule.Pairs)
	case need.Value.Sign() > 0 && (least.Percent != need.Percent || least.Value.Cmp(need.Value) < 0):
		return "the smallest gain is " + amount(least)
	case asked.CheckTooGood && !rule.CheckTooGood:
		return "a gain that is too good is not held"
	case asked.NoCaseRegression && !rule.NoCaseRegression:
		return "cases may get worse"
	case len(rule.Guardrails) < len(asked.Guardrails):
		return fmt.Sprintf("there are %d guardrails", len(rule.Guardrails))
	case rule.Low == nil && asked.Low != nil, rule.High == nil && asked.High != nil:
		return "there is no metric-range"
	case asked.Low != nil && rule.Low.Cmp(*asked.Low) < 0, asked.High != nil && rule.High.Cmp(*asked.High) > 0:
		return fmt.Sprintf("the metric-range is [%s, %s]", metric.Text(rule.Low, "…"), metric.Text(rule.High, "…"))
	default:
		return weakerRail(rule.Guardrails, asked.Guardrails)
	}
}

// weakerRail says which guardrail that was asked for allows more, or "".
func weakerRail(rails, asked []decision.Guardrail) string {
	for _, want := range asked {
		at := slices.IndexFunc(rails, func(g decision.Guardrail) bool {
			return g.Metric == want.Metric &&
				g.Direction == want.Direction
		})
		if at < 0 {
			return fmt.Sprintf("there is no guardrail of %s, where %s is better", want.Metric, want.Direction)
		}
		is, most := rails[at].MaxRegression, want.MaxRegression
		if is.Value.Sign() > 0 && (is.Percent != most.Percent || is.Value.Cmp(most.Value) > 0) {
			return fmt.Sprintf("the guardrail of %s allows %s", want.Metric, amount(is))
		}
	}
	return ""
}

func amount(a decision.Allowance) string {
	if a.Percent {
		return a.Value.String() + "%"
	}
	return a.Value.String()
}
