// Package decision decides: whether the changed paths are allowed, what a measurement
// means, and whether the result may be promoted. Every verdict carries its reasons.
package decision

import (
	"encoding/json"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
)

// Verdict says what a measurement means beside the incumbent's.
type Verdict string

// The verdicts. Only Improved keeps a candidate.
const (
	Improved  Verdict = "improved"
	Neutral   Verdict = "neutral"
	Regressed Verdict = "regressed"
)

// Decision is a verdict with everything that led to it.
type Decision struct {
	Verdict Verdict
	// Reasons say why, the deciding one first.
	Reasons []Reason
	// Metric is the candidate's number: its measurement, or the median of the
	// last samples that were taken, or nil.
	Metric *metric.Value
	// Previous is what Metric was compared with: the incumbent's number.
	Previous *metric.Value
	// Best is the metric after the decision, or nil.
	Best *metric.Value
	// Inconclusive says that a Neutral verdict shows neither a gain nor that there is
	// none worth keeping: the change may be tried again.
	Inconclusive bool
	// Delta is the signed decimal difference of Metric and Previous, "" without both.
	Delta string
	// Warning is what a person should look at.
	Warning []Reason
	// Held says why an improvement was too good to be believed at once; Warning, or
	// the first reason, says what came of looking. Nil when it was not.
	Held *Reason
	// Lost are the cases that passed before and do not any more.
	Lost []string
	// Evidence holds a comparison for every stage of repeated runs.
	Evidence []Evidence
	// Fault says why nothing could be decided: the incumbent could not be
	// measured. Nil when the verdict stands.
	Fault *Reason
}

// Evidence is one comparison of repeated runs.
type Evidence struct {
	// Stage is the part of the trial.
	Stage Stage `json:"stage"`
	// Pairs is how many runs of each side were compared.
	Pairs int `json:"pairs"`
	// Confidence is what the difference needed.
	Confidence float64 `json:"confidence"`
	statistics.Effect
}

// Decide compares one plain measurement with the incumbent. A gain must be
// strict and at least MinImprovement; what is outside the plausible range, or
// could not be scored, is never kept.
func Decide(standard Standard, m metric.Measurement) Decision {
	verdict, reason := standard.judge(m)
	return standard.decision(verdict, m.Metric, standard.Best, reason)
}

// decision completes a verdict on a measured number.
func (s Standard) decision(verdict Verdict, key, previous *metric.Value, reasons ...Reason) Decision {
	d := Decision{Verdict: verdict, Reasons: reasons, Metric: key, Previous: previous, Best: s.Best}
	if key != nil {
		d.Delta = metric.Delta(*key, previous)
	}
	if verdict == Improved {
		d.Best = key
		if why := s.tooGood(*key, previous); why != nil {
			d.Warning = []Reason{TooGood.Because(*why)}
		}
	}
	return d
}

func (s Standard) judge(m metric.Measurement) (Verdict, Reason) {
	if reason := s.Unfit(m); reason != nil {
		return Regressed, *reason
	}
	value := *m.Metric
	if s.Best == nil {
		return Improved, Reason{Kind: First}
	}
	best := *s.Best
	if value.Cmp(best) == 0 {
		return Neutral, Reason{Kind: Tie, Value: &value}
	}
	if !s.Direction.Better(value, best) {
		return Regressed, s.beside(Worse, value)
	}
	if reason := s.tooSmall(value.Sub(best), best); reason != nil {
		return Neutral, *reason
	}
	return Improved, s.beside(Better, value)
}

// beside is a comparison with the incumbent's number.
func (s Standard) beside(kind Why, value metric.Value) Reason {
	return Reason{Kind: kind, Value: &value, Beside: s.Best, Term: s.Direction.String()}
}

// Unfit returns why a measurement is no number to compare, nil when it is one.
func (r Rule) Unfit(m metric.Measurement) *Reason {
	switch {
	case m.Metric == nil && m.RejectedReason != "":
		return &Reason{Kind: NotScored, Words: m.RejectedReason}
	case m.Metric == nil:
		return &Reason{Kind: NoNumber}
	default:
		return r.Implausible(*m.Metric)
	}
}

func (r Rule) tooSmall(difference, reference metric.Value) *Reason {
	least := r.MinImprovement.Of(reference)
	if difference.Abs().Cmp(least) >= 0 {
		return nil
	}
	gain := difference.Abs()
	return &Reason{Kind: TooSmall, Value: &gain, Beside: &least}
}

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
