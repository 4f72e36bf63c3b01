// Package decision decides: whether the changed paths are allowed, what a measurement
// means, and whether the result may be promoted. Every verdict carries its reasons.
package decision

import (
	"fmt"

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
	// Reasons are one line each, the deciding one first.
	Reasons []string
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
	// TargetMet says that Best has reached the target.
	TargetMet bool
	// Warning is what a person should look at, "" for nothing.
	Warning string
	// Held says why an improvement was too good to be believed at once; Warning, or
	// the first reason, says what came of looking. "" when it was not.
	Held string
	// Lost are the cases that passed before and do not any more.
	Lost []string
	// Evidence holds a comparison for every stage of repeated runs.
	Evidence []Evidence
	// Fault says why nothing could be decided: the incumbent could not be
	// measured. "" when the verdict stands.
	Fault string
}

// Evidence is one comparison of repeated runs.
type Evidence struct {
	Stage Stage
	// Pairs is how many runs each side had.
	Pairs      int
	Confidence float64
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
func (s Standard) decision(verdict Verdict, key, previous *metric.Value, reasons ...string) Decision {
	d := Decision{Verdict: verdict, Reasons: reasons, Metric: key, Previous: previous, Best: s.Best}
	if key != nil {
		d.Delta = metric.Delta(*key, previous)
	}
	if verdict == Improved {
		d.Best = key
		if why := s.tooGood(*key, previous); why != "" {
			d.Warning = why + ": look whether the evaluation still measures what it should"
		}
	}
	d.TargetMet = d.Best != nil && s.Direction.TargetMet(*d.Best, s.Target)
	return d
}

func (s Standard) judge(m metric.Measurement) (Verdict, string) {
	if reason := s.unfit(m); reason != "" {
		return Regressed, reason
	}
	value := *m.Metric
	if s.Best == nil {
		return Improved, "first measurement"
	}
	best := *s.Best
	if value.Cmp(best) == 0 {
		return Neutral, fmt.Sprintf("%s equals the best so far; only a strict gain is kept", value)
	}
	if !s.Direction.Better(value, best) {
		return Regressed, fmt.Sprintf("%s is worse than the best %s (%s is better)", value, best, s.Direction)
	}
	if reason := s.tooSmall(value.Sub(best), best); reason != "" {
		return Neutral, reason
	}
	return Improved, fmt.Sprintf("%s is better than %s (%s is better)", value, best, s.Direction)
}

// unfit returns why a measurement is no number to compare, or "".
func (r Rule) unfit(m metric.Measurement) string {
	switch {
	case m.Metric == nil && m.RejectedReason != "":
		return "not scored: " + m.RejectedReason
	case m.Metric == nil:
		return "not scored: the evaluation printed null"
	default:
		return r.Implausible(*m.Metric)
	}
}

func (r Rule) tooSmall(difference, reference metric.Value) string {
	least := r.MinImprovement.Of(reference)
	if difference.Abs().Cmp(least) >= 0 {
		return ""
	}
	return fmt.Sprintf("a gain of %s is below min-improvement %s", difference.Abs(), least)
}
