// Package decision decides: whether the changed paths are allowed, what a measurement
// means, and whether the result may be promoted. Every verdict carries its reasons.
package decision

import (
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
			d.Warning = []Reason{{Kind: TooGood, Because: []Reason{*why}}}
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
