package decision

import (
	"encoding/json"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
)

// Allowance is an amount, absolute or as a percentage of a reference.
type Allowance struct {
	// Value is the amount.
	Value metric.Value `json:"value"`
	// Percent says that it is a part of the number that it is held against.
	Percent bool `json:"percent,omitempty"`
}

// Of returns the allowance in the unit of the reference: its Value, or that
// many percent of the reference's magnitude.
func (a Allowance) Of(reference metric.Value) metric.Value {
	if !a.Percent {
		return a.Value
	}
	return reference.Abs().Mul(a.Value).Mul(metric.MustValue("0.01"))
}

// Regime says how often a metric has to be measured to be believed.
type Regime string

// The regimes.
const (
	Single     Regime = "single"     // one measurement decides, unverified
	Repeatable Regime = "repeatable" // every repetition so far gave the same
	Noisy      Regime = "noisy"      // pairs of incumbent and candidate decide
)

// DefaultPairs is how many pairs a noisy metric gets when nothing else is said.
const DefaultPairs = 8

// Rule is how a program's candidates are decided, as the program asks for it, and as
// it is written with each decision.
type Rule struct {
	// Version is RuleVersion.
	Version int `json:"version,omitempty"`
	// Regime is how noise is dealt with: `single`, `repeatable` or `noisy`.
	Regime Regime `json:"regime"`
	// Pairs is how often each side is measured first.
	Pairs int `json:"pairs,omitempty"`
	// MaxPairs is how often at most, where the first were inconclusive; not more than
	// Pairs is as many.
	MaxPairs int `json:"max_pairs,omitempty"`
	// Confidence is what a difference needs, from 0.5 to below 1.
	Confidence float64 `json:"confidence,omitempty"`
	// MinImprovement is the smallest gain worth keeping.
	MinImprovement Allowance `json:"min_improvement"`
	// Low is the smallest plausible metric; null is no bound.
	Low *metric.Value `json:"low,omitempty"`
	// High is the largest plausible metric; null is no bound.
	High *metric.Value `json:"high,omitempty"`
	// Guardrails are the numbers that may not get worse.
	Guardrails []Guardrail `json:"guardrails,omitempty"`
	// NoCaseRegression says that no case may get worse (LostCases).
	NoCaseRegression bool `json:"no_case_regression,omitempty"`
	// CheckTooGood holds a gain that is too good until the evaluation was seen to
	// notice emptied files.
	CheckTooGood bool `json:"check_too_good,omitempty"`
}

// RuleOf is the rule for so many runs of each side: 1 is the plain comparison, more are so
// many pairs, and 0 believes a single run until two of one version gave two numbers.
func RuleOf(runs int, confidence float64) Rule {
	rule := Rule{
		Version: RuleVersion, Regime: Repeatable, Confidence: confidence,
		Pairs: max(DefaultPairs, statistics.RunsNeeded(confidence)),
	}
	if runs == 1 {
		rule.Regime = Single
	} else if runs > 1 {
		rule.Regime, rule.Pairs = Noisy, runs
	}
	return rule
}

// Same reports whether two rules are written alike.
func (r Rule) Same(other Rule) bool {
	a, err := json.Marshal(r)
	b, failed := json.Marshal(other)
	return err == nil && failed == nil && string(a) == string(b)
}

// IsOf reports whether the rule is what a program asks for, perhaps with more pairs where the
// first are inconclusive, and of an evaluation that was found to be noisy.
func (r Rule) IsOf(asked Rule) bool {
	asked.MaxPairs = r.MaxPairs
	if asked.Regime == Repeatable && r.Regime == Noisy {
		asked.Regime = Noisy
	}
	return r.Same(asked)
}

// KeptRuns is how many runs of the evaluation a candidate takes that is kept, and how
// many environments they need.
func (r Rule) KeptRuns() (runs, environments int) {
	switch r.Regime {
	case Noisy: // two stages, each with a warm-up and the pairs on two sides
		return 4 + 4*r.Pairs, 4
	case Repeatable:
		return 4, 3
	case Single:
		return 1, 1
	default:
		return 0, 0
	}
}

// HeldRuns is how many more runs and environments a gain takes at most that is too
// good to be believed at once.
func (r Rule) HeldRuns() (runs, environments int) {
	switch {
	case !r.CheckTooGood:
		return 0, 0
	case r.Regime == Noisy:
		return heldRuns, 2
	default:
		return 2, 2
	}
}

// Standard is what a candidate is held against.
type Standard struct {
	Rule

	// Seed makes the order of the runs random: a secret of the trial, until it is over.
	Seed      string
	Direction metric.Direction
	// Best is the incumbent's metric; nil when nothing was ever measured.
	Best *metric.Value
	// Initial holds iteration 0's samples of every guardrail's metric.
	Initial map[string][]metric.Value
	// Cases are the incumbent's pass rates of cases, as recorded.
	Cases CaseRates
	// Gains are the sizes of the gains that were kept so far.
	Gains []metric.Value
	// LeavesNothing says that the candidate left nothing in the files that it changed.
	LeavesNothing bool
}

// Implausible returns why value lies outside the program's metric-range, nil when it
// is plausible.
func (r Rule) Implausible(value metric.Value) *Reason {
	if r.Low != nil && value.Cmp(*r.Low) < 0 || r.High != nil && value.Cmp(*r.High) > 0 {
		return &Reason{Kind: Implausible, Value: &value, Low: r.Low, High: r.High}
	}
	return nil
}
