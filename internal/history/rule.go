package history

import (
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
)

// Rule is a decision.Rule as it is written. The rule may change; what was
// written may not, so that only this file knows both.
type Rule struct {
	// Version is the version of the rule; 0, as before versions were written, is
	// the first.
	Version        int           `json:"version,omitempty"`
	Regime         string        `json:"regime"`
	Pairs          int           `json:"pairs,omitempty"`
	MaxPairs       int           `json:"max_pairs,omitempty"`
	Confidence     float64       `json:"confidence,omitempty"`
	MinImprovement Allowance     `json:"min_improvement"`
	Low            *metric.Value `json:"low,omitempty"`
	High           *metric.Value `json:"high,omitempty"`
	Guardrails     []Guardrail   `json:"guardrails,omitempty"`
	// NoCaseRegression says that no case may get worse.
	NoCaseRegression bool `json:"no_case_regression,omitempty"`
	// CheckTooGood says that a gain that is too good is held.
	CheckTooGood bool `json:"check_too_good,omitempty"`
}

// Allowance is a decision.Allowance as it is written.
type Allowance struct {
	Value   metric.Value `json:"value"`
	Percent bool         `json:"percent,omitempty"`
}

// Guardrail is a decision.Guardrail as it is written.
type Guardrail struct {
	Metric        string           `json:"metric"`
	Direction     metric.Direction `json:"direction"`
	MaxRegression Allowance        `json:"max_regression"`
}

// Evidence is a decision.Evidence as it is written: one comparison of repeated
// runs.
type Evidence struct {
	Stage      string  `json:"stage"`
	Pairs      int     `json:"pairs"`
	Confidence float64 `json:"confidence"`
	// Incumbent and Candidate are the medians of the sides, Difference is theirs,
	// and Low and High bound it at the confidence.
	Incumbent  metric.Value `json:"incumbent_median"`
	Candidate  metric.Value `json:"candidate_median"`
	Difference metric.Value `json:"difference"`
	Low        metric.Value `json:"low"`
	High       metric.Value `json:"high"`
	P          float64      `json:"p_value"`
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
