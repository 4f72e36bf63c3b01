package decision_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/golden"
)

// play runs a trial whose sides measure what metric returns, and lists the
// runs: I and C, in lower case for a warm-up.
func play(standard decision.Standard, key func(step decision.Step) metric.Measurement) (decision.Decision, string) {
	trial := decision.NewTrial(standard)
	var order strings.Builder
	for step, more := trial.Next(); more; step, more = trial.Next() {
		sign := strings.ToUpper(string(step.Side[:1]))
		if step.WarmUp {
			sign = strings.ToLower(sign)
		}
		order.WriteString(sign)
		trial.Add(step, key(step))
	}
	return trial.Decision(), order.String()
}

func scored(text string) metric.Measurement { return metric.Measurement{Metric: value(text)} }

// sides measures the same on each side, every time.
func sides(incumbent, candidate string) func(decision.Step) metric.Measurement {
	return func(step decision.Step) metric.Measurement {
		if step.Side == decision.Incumbent {
			return scored(incumbent)
		}
		return scored(candidate)
	}
}

func repeatable(best string) decision.Standard {
	return decision.Standard{
		Rule:      decision.Rule{Regime: decision.Repeatable, Pairs: 8, Confidence: 0.95},
		Direction: metric.Higher, Best: value(best),
	}
}

func noisy(best string) decision.Standard {
	s := repeatable(best)
	s.Regime = decision.Noisy
	return s
}

// changed is the standard with other settings, by the names of their fields.
func changed(s decision.Standard, by string) decision.Standard {
	s.Initial = maps.Clone(s.Initial)
	if err := json.Unmarshal([]byte(by), &s); err != nil {
		panic(err)
	}
	return s
}

// told is all that a decision says.
func told(d decision.Decision) string {
	var evidence []string
	for _, e := range d.Evidence {
		evidence = append(evidence, fmt.Sprint(e.Stage, " of ", e.Pairs, " at ", e.Confidence))
	}
	return fmt.Sprintf(
		"%s: %s after %s (%s), best %s, %s, reasons %s, fault %q, held %q, warning %q",
		d.Verdict,
		d.Metric,
		d.Previous,
		d.Delta,
		d.Best,
		evidence,
		strings.Join(decision.Texts(d.Reasons), "; "),
		decision.Text(d.Fault),
		decision.Text(d.Held),
		decision.Joined(d.Warning),
	)
}

// TestTrialDecides with so many runs, by numbers that are the same each time, and at the edges of numbers. A row has
// the rule, the numbers of the incumbent and of the candidate, and in which stage or run a side has another.
func TestTrialDecides(t *testing.T) {
	t.Parallel()
	const (
		once    = `{"regime":"repeatable"} `
		half    = `{"min_improvement":{"value":0.5,"percent":true}} `
		lower   = `{"direction":"lower"} `
		integer = "9007199254740992 9007199254740993"
	)
	golden.Table(t, map[string]string{
		"worse":                             once + "5 4",
		"a tie":                             once + "5 5",
		"better":                            once + "5 6",
		"better, once":                      `{"regime":"single"} 5 6`,
		"noisy and worse":                   "{} 5 4",
		"noisy and better":                  "{} 5 6",
		"it did not repeat":                 once + "5 6 again incumbent 5.5",
		"the candidate did not repeat":      once + "5 6 again candidate 5.5",
		"not confirmed":                     "{} 5 6 confirmation candidate 5",
		"an outlier of a thousand times":    "{} 5 6 4 incumbent 5000",
		"an outlier, lower is better":       lower + "5 6 4 incumbent 5000",
		"negative, half a percent reached":  half + "-100 -99.5",
		"negative, below half a percent":    half + "-100 -99.6",
		"a percentage of zero asks nothing": half + "0 1e-300",
		"integers beyond 2^53":              "{} " + integer,
		"integers beyond 2^53, repeatable":  once + integer,
		"as small as can be":                "{} 1e-300 2e-300",
		"as small as can be, lower":         lower + "2e-300 1e-300",
		"constant and equal":                "{} 7 7",
		"an amount exactly reached":         `{"pairs":4,"min_improvement":{"value":1}} 5 6`,
	}, func(_ *testing.T, row string) any {
		words := append(strings.Fields(row), "", "", "")
		made, runs := play(changed(noisy(words[1]), words[0]), func(step decision.Step) metric.Measurement {
			if string(step.Side) == words[4] &&
				(string(step.Stage) == words[3] || fmt.Sprint(step.Number) == words[3]) {
				return scored(words[5])
			}
			return sides(words[1], words[2])(step)
		})
		return runs + " " + told(made)
	})
}
