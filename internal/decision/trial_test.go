package decision_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
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

func TestTrialCosts(t *testing.T) {
	for name, c := range map[string]struct {
		standard decision.Standard
		metric   func(decision.Step) metric.Measurement
		verdict  decision.Verdict
		runs     string
	}{
		"worse":  {repeatable("5"), sides("5", "4"), decision.Regressed, "C"},
		"a tie":  {repeatable("5"), sides("5", "5"), decision.Neutral, "C"},
		"better": {repeatable("5"), sides("5", "6"), decision.Improved, "CCCI"},
		"better, once": {
			decision.Standard{Rule: decision.Rule{Regime: decision.Single}, Best: value("5")},
			sides("5", "6"), decision.Improved, "C",
		},
		"noisy and worse":  {noisy("5"), sides("5", "4"), decision.Neutral, "icICCICI"},
		"noisy and better": {noisy("5"), sides("5", "6"), decision.Improved, "icICCICIICICCCICIIicICCIICCICIICIICC"},
		"it did not repeat": {repeatable("5"), func(step decision.Step) metric.Measurement {
			if step.Stage == decision.Again && step.Side == decision.Incumbent {
				return scored("5.5")
			}
			return sides("5", "6")(step)
		}, decision.Improved, "CCCI" + "icICCICIICICCCICIIicICCIICCICIICIICC"},
		"the candidate did not repeat": {repeatable("5"), func(step decision.Step) metric.Measurement {
			if step.Stage == decision.Again && step.Side == decision.Candidate {
				return scored("5.5")
			}
			return sides("5", "6")(step)
		}, decision.Improved, "CC" + "icICCICIICICCCICIIicICCIICCICIICIICC"},
		"not confirmed": {noisy("5"), func(step decision.Step) metric.Measurement {
			if step.Stage == decision.Confirmation {
				return scored("5")
			}
			return sides("5", "6")(step)
		}, decision.Neutral, "icICCICIICICCCICIIicICCIIC"},
	} {
		t.Run(name, func(t *testing.T) {
			made, runs := play(c.standard, c.metric)
			assert.Equal(t, c.verdict, made.Verdict, made.Reasons)
			assert.Equal(t, c.runs, runs)
			assert.Empty(t, made.Fault)
		})
	}
}

func TestTrialAtTheEdgesOfNumbers(t *testing.T) {
	t.Parallel()
	const half = `{"min_improvement":{"value":0.5,"percent":true}}`
	const beyond, next = "9007199254740992", "9007199254740993"
	lower := func(best string) decision.Standard { return changed(noisy(best), `{"direction":"lower"}`) }
	for name, c := range map[string]struct {
		standard             decision.Standard
		incumbent, candidate string
		verdict              decision.Verdict
	}{
		"an outlier of a thousand times":    {noisy("5"), "", "6", decision.Improved},
		"an outlier, lower is better":       {lower("5"), "", "6", decision.Neutral},
		"negative, half a percent reached":  {changed(noisy("-100"), half), "-100", "-99.5", decision.Improved},
		"negative, below half a percent":    {changed(noisy("-100"), half), "-100", "-99.6", decision.Neutral},
		"a percentage of zero asks nothing": {changed(noisy("0"), half), "0", "1e-300", decision.Improved},
		"integers beyond 2^53":              {noisy(beyond), beyond, next, decision.Improved},
		"integers beyond 2^53, repeatable":  {repeatable(beyond), beyond, next, decision.Improved},
		"as small as can be":                {noisy("1e-300"), "1e-300", "2e-300", decision.Improved},
		"as small as can be, lower":         {lower("2e-300"), "2e-300", "1e-300", decision.Improved},
		"constant and equal":                {noisy("7"), "7", "7", decision.Neutral},
		"an amount exactly reached": {
			changed(noisy("5"), `{"pairs":4,"min_improvement":{"value":1}}`), "5", "6", decision.Improved,
		},
	} {
		made, _ := play(c.standard, func(step decision.Step) metric.Measurement {
			if c.incumbent == "" && step.Side == decision.Incumbent && step.Number == 4 {
				return scored("5000")
			}
			return sides(cmp.Or(c.incumbent, "5"), c.candidate)(step)
		})
		assert.Equal(t, c.verdict, made.Verdict, "%s: %v", name, made.Reasons)
	}
}
