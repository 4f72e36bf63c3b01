package loop

import (
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
)

// samples are what repeated runs of one tree measured, in their order.
type samples struct {
	metric  []metric.Value
	rails   map[string][]metric.Value
	numbers []map[string]metric.Value
	last    metric.Measurement
	problem string // why the last run failed; "" when it did not
	output  string
	seconds float64 // of all runs together
	prepare float64 // of the environment
	runs    int
	// timedOut says that the last run was ended for its time, after it lasted.
	timedOut bool
	lasted   time.Duration
}

// add takes one more run over. Guardrails are the numbers that are kept of each.
func (s *samples) add(outcome evaluation.Result, rails []program.Guardrail) {
	s.runs++
	s.timedOut, s.lasted = outcome.TimedOut, outcome.Duration
	s.seconds += outcome.Duration.Seconds()
	s.output, s.problem, s.last = outcome.Tail, outcome.Problem, outcome.Measurement
	if outcome.Measurement.Metric == nil {
		return
	}
	s.metric = append(s.metric, *outcome.Measurement.Metric)
	s.numbers = append(s.numbers, outcome.Measurement.Numbers)
	for _, rail := range rails {
		if value, printed := outcome.Measurement.Numbers[rail.Metric]; printed {
			if s.rails == nil {
				s.rails = map[string][]metric.Value{}
			}
			s.rails[rail.Metric] = append(s.rails[rail.Metric], value)
		}
	}
}

// median is nil when nothing was measured.
func (s *samples) median() *metric.Value {
	if len(s.metric) == 0 {
		return nil
	}
	m := statistics.Median(s.metric)
	return &m
}

// same reports whether all runs agree in the metric and in every guardrail.
func (s *samples) same() bool {
	if !statistics.Same(s.metric) {
		return false
	}
	for _, values := range s.rails {
		if len(values) != len(s.metric) || !statistics.Same(values) {
			return false
		}
	}
	return true
}

// cases are the pass rates of cases in all runs; nil after one run, or
// without cases.
func (s *samples) cases() decision.CaseRates {
	if rates := decision.RatesOf(s.numbers...); len(s.numbers) > 1 && len(rates) > 0 {
		return rates
	}
	return nil
}

// event records the samples. Numbers and Output are the last run's.
func (s *samples) event(role history.Role) *history.Measured {
	return &history.Measured{
		CaseSamples: s.cases(), Role: role, Metric: s.median(), Samples: s.metric, GuardrailSamples: s.rails,
		Numbers:        s.last.Numbers,
		RejectedReason: s.last.RejectedReason, Problem: s.problem, Output: s.output,
		Seconds: s.seconds / float64(max(s.runs, 1)), Prepare: s.prepare,
	}
}
