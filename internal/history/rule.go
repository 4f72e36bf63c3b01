package history

import (
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
)

// Rule is the rule of a decision.
//
// It is a decision.Rule as it is written. The rule may change; what was written may
// not, so that only this file knows both.
type Rule struct {
	// Version is the version of the rule; 0, as before versions were written, is
	// the first.
	Version int `json:"version,omitempty"`
	// Regime is how noise is dealt with: `single`, `repeatable` or `noisy`.
	Regime string `json:"regime"`
	// Pairs is how often each side is measured first.
	Pairs int `json:"pairs,omitempty"`
	// MaxPairs is how often at most.
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
	// NoCaseRegression says that no case may get worse.
	NoCaseRegression bool `json:"no_case_regression,omitempty"`
	// CheckTooGood says that a gain that is too good is held.
	CheckTooGood bool `json:"check_too_good,omitempty"`
}

// Allowance is an amount, or a part of another number.
type Allowance struct {
	// Value is the amount.
	Value metric.Value `json:"value"`
	// Percent says that it is a part of the number that it is held against.
	Percent bool `json:"percent,omitempty"`
}

// Guardrail is a number that may not get worse.
type Guardrail struct {
	// Metric is the key of the number.
	Metric string `json:"metric"`
	// Direction says which number is better: `higher` or `lower`.
	Direction metric.Direction `json:"direction"`
	// MaxRegression is how much worse it may be than at the start.
	MaxRegression Allowance `json:"max_regression"`
}

// Evidence is one comparison of repeated runs.
type Evidence struct {
	// Stage is the part of the trial.
	Stage string `json:"stage"`
	// Pairs is how many runs of each side were compared.
	Pairs int `json:"pairs"`
	// Confidence is what the difference needed.
	Confidence float64 `json:"confidence"`
	// Incumbent is the median of the incumbent's runs.
	Incumbent metric.Value `json:"incumbent_median"`
	// Candidate is the median of the candidate's runs.
	Candidate metric.Value `json:"candidate_median"`
	// Difference is the estimated shift from the incumbent to the candidate.
	Difference metric.Value `json:"difference"`
	// Low is the lower end of the interval that has it at the confidence.
	Low metric.Value `json:"low"`
	// High is the upper end of that interval.
	High metric.Value `json:"high"`
	// P is how likely chance gives such a difference.
	P float64 `json:"p_value"`
}

// RuleOf is a rule as it is written.
func RuleOf(r decision.Rule) Rule {
	written := Rule{
		Version: r.Version, Regime: string(r.Regime), Pairs: r.Pairs, MaxPairs: r.MaxPairs, Confidence: r.Confidence, MinImprovement: Allowance(r.MinImprovement),
		Low: r.Low, High: r.High, NoCaseRegression: r.NoCaseRegression, CheckTooGood: r.CheckTooGood,
	}
	for _, rail := range r.Guardrails {
		written.Guardrails = append(written.Guardrails, Guardrail{rail.Metric, rail.Direction, Allowance(rail.MaxRegression)})
	}
	return written
}

// Decision is the rule that was written.
func (r Rule) Decision() decision.Rule {
	rule := decision.Rule{
		Version: r.Version, Regime: decision.Regime(r.Regime), Pairs: r.Pairs, MaxPairs: r.MaxPairs, Confidence: r.Confidence,
		MinImprovement: decision.Allowance(r.MinImprovement), Low: r.Low, High: r.High, NoCaseRegression: r.NoCaseRegression, CheckTooGood: r.CheckTooGood,
	}
	for _, rail := range r.Guardrails {
		rule.Guardrails = append(rule.Guardrails, decision.Guardrail{
			Metric: rail.Metric, Direction: rail.Direction, MaxRegression: decision.Allowance(rail.MaxRegression),
		})
	}
	return rule
}

// EvidenceOf is evidence as it is written.
func EvidenceOf(list []decision.Evidence) []Evidence {
	var written []Evidence
	for _, e := range list {
		written = append(written, Evidence{
			string(e.Stage), e.Pairs, e.Confidence, e.Incumbent, e.Candidate, e.Difference, e.Low, e.High, e.P,
		})
	}
	return written
}

// Decision is the evidence that was written.
func (e Evidence) Decision() decision.Evidence {
	return decision.Evidence{
		Stage: decision.Stage(e.Stage), Pairs: e.Pairs, Confidence: e.Confidence,
		Effect: statistics.Effect{Incumbent: e.Incumbent, Candidate: e.Candidate, Difference: e.Difference, Low: e.Low, High: e.High, P: e.P},
	}
}
