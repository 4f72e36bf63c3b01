package loop

import (
	"crypto/rand"
	"fmt"
	"math"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
)

// rule is how a candidate of the program is decided now. `auto` believes a
// single run until two equal ones gave two numbers.
func (r *journal) rule() decision.Rule { return r.records.rule() }

func (b *records) rule() decision.Rule {
	p, rule := b.Program, AskedRule(b.Program)
	if p.Runs != 0 {
		return rule
	}
	if b.Noisy {
		rule.Regime = decision.Noisy
	}
	extended := rule
	extended.Regime, extended.Pairs = decision.Noisy, 2*rule.Pairs
	if cost, _ := cost(extended, b.Seconds, b.Prepare); cost <= p.Timeout {
		rule.MaxPairs = extended.Pairs
	}
	return rule
}

// AskedRule is the rule as a program's file asks for it, before anything is known of
// its evaluation.
func AskedRule(p *program.Program) decision.Rule {
	rule := decision.RuleOf(p.Runs, p.Confidence)
	rule.MinImprovement, rule.NoCaseRegression = p.MinImprovement, p.NoCaseRegression
	rule.CheckTooGood, rule.Guardrails = p.Evaluation == program.Metric, p.Guardrails
	if p.Range != nil {
		rule.Low, rule.High = &p.Range.Min, &p.Range.Max
	}
	return rule
}

// standard is what a candidate is held against now. The order of its runs is
// drawn here, after the agent worked, and is on record with the decision.
func (r *journal) standard(a *attempt) decision.Standard {
	sum := &r.records.Summary
	a.Seed = rand.Text()
	return decision.Standard{
		Seed: a.Seed,
		Rule: r.rule(), Direction: r.Program.Direction, Best: sum.Best,
		Initial: sum.Guardrails, Gains: sum.Gains,
		Cases: decision.RatesOf(sum.Numbers),
	}
}

// cost is how long a candidate takes to decide at most, and in how many runs: when it
// is kept, and was too good to be believed at once. Seconds are those of one run,
// prepare those of an environment.
func cost(rule decision.Rule, seconds, prepare float64) (time.Duration, int) {
	runs, environments := rule.KeptRuns()
	more, moreEnvironments := rule.HeldRuns()
	return history.Seconds(float64(runs+more)*seconds + float64(environments+moreEnvironments)*prepare), runs + more
}

// exceedsTimeLimit says why the repeats cannot fit the iteration's time, nil when they do.
func (r *journal) exceedsTimeLimit(seconds, prepare float64) *decision.Reason {
	rule := r.rule()
	rule.Regime = decision.Noisy
	cost, runs := cost(rule, seconds, prepare)
	if cost <= r.Program.Timeout {
		return nil
	}
	return &decision.Reason{
		Kind: decision.TooManyRuns, Count: rule.Pairs, Of: runs, Value: figure("%.0f", math.Ceil(cost.Minutes())),
		Low:    figure("%.3g", seconds),
		Beside: figure("%.0f", r.Program.Timeout.Minutes()), High: figure("%.0f", math.Ceil(cost.Minutes()*1.25)),
	}
}

// figure is a number as it is told.
func figure(format string, number float64) *metric.Value {
	value, err := metric.ParseValue(fmt.Sprintf(format, number))
	if err != nil {
		return nil
	}
	return &value
}

// samples are what repeated runs of one tree measured, in their order.
type samples struct {
	history.Measured
	numbers []map[string]metric.Value // of each run that gave a metric
	runs    int
}

// add takes one more run over. Guardrails are the numbers that are kept of each.
func (s *samples) add(outcome evaluation.Result, rails []decision.Guardrail) {
	m := outcome.Measurement
	s.runs++
	s.Seconds += (outcome.Duration.Seconds() - s.Seconds) / float64(s.runs)
	s.Output, s.Problem = outcome.Tail, outcome.Problem
	s.Numbers, s.RejectedReason = m.Numbers, m.RejectedReason
	if m.Metric == nil {
		return
	}
	s.Samples, s.numbers = append(s.Samples, *m.Metric), append(s.numbers, m.Numbers)
	s.Metric = median(s.Samples)
	for _, rail := range rails {
		value, printed := m.Numbers[rail.Metric]
		if printed && len(s.GuardrailSamples[rail.Metric]) < len(s.Samples) { // two may guard one number
			if s.GuardrailSamples == nil {
				s.GuardrailSamples = map[string][]metric.Value{}
			}
			s.GuardrailSamples[rail.Metric] = append(s.GuardrailSamples[rail.Metric], value)
		}
	}
	if rates := decision.RatesOf(s.numbers...); len(s.numbers) > 1 && len(rates) > 0 {
		s.CaseSamples = rates
	}
}

// median is nil when nothing was measured.
func median(values []metric.Value) *metric.Value {
	if len(values) == 0 {
		return nil
	}
	return new(statistics.Median(values))
}

// same reports whether all runs agree in the metric and in every guardrail.
func (s *samples) same() bool {
	if !statistics.Same(s.Samples) {
		return false
	}
	for _, values := range s.GuardrailSamples {
		if len(values) != len(s.Samples) || !statistics.Same(values) {
			return false
		}
	}
	return true
}
