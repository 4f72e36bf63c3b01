package audit_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/metric"
)

// recorded plays a trial and writes what it measured
// and decided as the loop does.
func recorded(t *testing.T, rule decision.Rule, measure func(decision.Step) metric.Measurement) []history.Event {
	t.Helper()
	best := metric.FromInt(100)
	numbers := map[string]metric.Value{"case.a": metric.FromInt(1)}
	events := []history.Event{
		&history.Started{Head: history.Head{Iteration: 1}},
		&history.Measured{Role: history.Baseline, Metric: &best, Samples: []metric.Value{best}, Numbers: numbers},
	}
	rule.Version = decision.RuleVersion
	trial := decision.NewTrial(decision.Standard{
		Rule: rule, Seed: "secret", Direction: metric.Higher, Best: &best,
		Cases: decision.RatesOf(numbers),
	})
	made, err := trial.Run(func(step decision.Step) (metric.Measurement, error) {
		m := measure(step)
		if step.WarmUp {
			return m, nil
		}
		var e *history.Measured
		for m := range history.Of[*history.Measured](slices.All(events)) {
			if m.Stage == step.Stage && string(m.Role) == string(step.Side) {
				e = m
			}
		}
		if e == nil {
			e = &history.Measured{Head: history.Head{Iteration: 1}, Role: history.Role(step.Side), Stage: step.Stage}
			events = append(events, e)
		}
		e.Samples, e.Numbers = append(e.Samples, *m.Metric), m.Numbers
		return m, nil
	})
	require.NoError(t, err)
	outcome := history.Rejected
	if made.Verdict == decision.Improved {
		outcome = history.Accepted
	}
	return append(events, &history.Decided{
		Head: history.Head{Iteration: 1}, Outcome: outcome, Verdict: made.Verdict, Rule: &rule, Seed: "secret",
		Evidence: made.Evidence,
		Metric:   made.Metric, PreviousBest: made.Previous, Best: made.Best, Delta: made.Delta,
		Direction: metric.Higher,
	}, &history.Finished{Head: history.Head{Iteration: 1}, Outcome: outcome})
}

// decision is the decision among recorded events.
func decided(events []history.Event) *history.Decided {
	return events[len(events)-2].(*history.Decided) //nolint:errcheck,forcetypeassert // recorded writes it there
}

// trials are the measurements of the trial.
func trials(events []history.Event) []*history.Measured {
	return slices.Collect(history.Of[*history.Measured](slices.All(events[2:])))
}

// findings are those of a ledger, given in parts.
func findings(segments ...[]history.Event) []string {
	var list []string
	for _, found := range reported(slices.Concat(segments...)).Findings {
		if found.Where == audit.Ledger {
			list = append(list, found.Message)
		}
	}
	return list
}

func better(step decision.Step) metric.Measurement {
	value := metric.FromInt(100)
	if step.Side == decision.Candidate {
		value = metric.FromInt(int64(110 + step.Number))
	}
	return metric.Measurement{Metric: &value, Numbers: map[string]metric.Value{"case.a": metric.FromInt(1)}}
}

func TestAnUnknownVersionOfTheRule(t *testing.T) {
	t.Parallel()
	events := recorded(t, decision.Rule{Regime: decision.Noisy, Pairs: 8, Confidence: 0.95}, better)
	require.Equal(t, history.Accepted, decided(events).Outcome)
	assert.Empty(t, findings(events))
	_, problems := audit.Decision(history.Replay(events[:2]), trials(events), decided(events))
	assert.Empty(t, problems)
	decided(events).Rule.Version = 78
	assert.Equal(t, []string{"the decision cannot be computed again: version 78 of the rule is not known here: use a " +
		"newer autoloop"}, findings(events))
}

func TestLostCasesAreFoundAgain(t *testing.T) {
	t.Parallel()
	loses := func(step decision.Step) metric.Measurement {
		m := better(step)
		if step.Side == decision.Candidate {
			m.Numbers["case.a"] = metric.MustValue("0.5")
		}
		return m
	}
	for _, regime := range []decision.Regime{decision.Single, decision.Repeatable} {
		rule := decision.Rule{Regime: regime, Pairs: 8, Confidence: 0.95, NoCaseRegression: true}
		steady := func(step decision.Step) metric.Measurement {
			step.Number = 1
			return loses(step)
		}
		events := recorded(t, rule, steady)
		decided := decided(events)
		assert.Equal(t, history.Rejected, decided.Outcome, regime)
		assert.Empty(t, findings(events), regime)
		decided.Outcome, decided.Verdict, decided.Best = history.Accepted, decision.Improved, decided.Metric
		assert.NotEmpty(t, findings(events), "a keep that loses a case is a forgery: %s", regime)
	}
}

func TestTheOrderIsRepeatedFromItsSeed(t *testing.T) {
	t.Parallel()
	for _, regime := range []decision.Regime{decision.Noisy, decision.Repeatable} {
		rule := decision.Rule{Regime: regime, Pairs: 8, MaxPairs: 16, Confidence: 0.95}
		events := recorded(t, rule, better)
		decided := decided(events)
		require.Equal(t, history.Accepted, decided.Outcome)
		assert.Empty(t, findings(events), regime)
		decided.Seed = ""
		assert.Contains(t, findings(events)[0], "no seed is recorded")
	}
}

// reported is the report on a ledger alone.
func reported(events []history.Event) audit.Report {
	return audit.Of(audit.Records{Events: events}, nil)
}
