package gate_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/gate"
	"github.com/org/autoloop/internal/metric"
)

// play runs a trial whose sides measure what metric returns, and lists the
// runs: I and C, in lower case for a warm-up.
func play(standard gate.Standard, key func(step gate.Step) metric.Measurement) (gate.Decision, string) {
	trial := gate.NewTrial(standard)
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
func sides(incumbent, candidate string) func(gate.Step) metric.Measurement {
	return func(step gate.Step) metric.Measurement {
		if step.Side == gate.Incumbent {
			return scored(incumbent)
		}
		return scored(candidate)
	}
}

func repeatable(best string) gate.Standard {
	return gate.Standard{Rule: gate.Rule{Regime: gate.Repeatable, Pairs: 8, Confidence: 0.95}, Direction: metric.Higher, Best: value(best)}
}

func noisy(best string) gate.Standard {
	s := repeatable(best)
	s.Regime = gate.Noisy
	return s
}

func TestTrialCosts(t *testing.T) {
	for name, c := range map[string]struct {
		standard gate.Standard
		metric   func(gate.Step) metric.Measurement
		verdict  gate.Verdict
		runs     string
	}{
		"worse":            {repeatable("5"), sides("5", "4"), gate.Regressed, "C"},
		"a tie":            {repeatable("5"), sides("5", "5"), gate.Neutral, "C"},
		"better":           {repeatable("5"), sides("5", "6"), gate.Improved, "CIC"},
		"better, once":     {gate.Standard{Rule: gate.Rule{Regime: gate.Single}, Best: value("5")}, sides("5", "6"), gate.Improved, "C"},
		"noisy and worse":  {noisy("5"), sides("5", "4"), gate.Neutral, "icICCIIC"},
		"noisy and better": {noisy("5"), sides("5", "6"), gate.Improved, "icICCIICCIICCIICCIciCIICCIICCIICCIIC"},
		"it did not repeat": {repeatable("5"), func(step gate.Step) metric.Measurement {
			if step.Stage == gate.Again && step.Side == gate.Incumbent {
				return scored("5.5")
			}
			return sides("5", "6")(step)
		}, gate.Improved, "CI" + "icICCIICCIICCIICCIciCIICCIICCIICCIIC"},
		"the candidate did not repeat": {repeatable("5"), func(step gate.Step) metric.Measurement {
			if step.Stage == gate.Again && step.Side == gate.Candidate {
				return scored("5.5")
			}
			return sides("5", "6")(step)
		}, gate.Improved, "CIC" + "icICCIICCIICCIICCIciCIICCIICCIICCIIC"},
		"not confirmed": {noisy("5"), func(step gate.Step) metric.Measurement {
			if step.Stage == gate.Confirmation {
				return scored("5")
			}
			return sides("5", "6")(step)
		}, gate.Neutral, "icICCIICCIICCIICCIciCIICCI"},
	} {
		t.Run(name, func(t *testing.T) {
			decision, runs := play(c.standard, c.metric)
			assert.Equal(t, c.verdict, decision.Verdict, decision.Reasons)
			assert.Equal(t, c.runs, runs)
			assert.Empty(t, decision.Fault)
		})
	}
}

func TestTrialOfWhatCannotBeScored(t *testing.T) {
	null := metric.Measurement{RejectedReason: "overlap"}
	decision, runs := play(repeatable("5"), func(gate.Step) metric.Measurement { return null })
	assert.Equal(t, gate.Regressed, decision.Verdict)
	assert.Equal(t, "C", runs)
	decision, _ = play(noisy("5"), func(step gate.Step) metric.Measurement {
		if step.Side == gate.Incumbent {
			return null
		}
		return scored("6")
	})
	assert.Contains(t, decision.Fault, "not scored: overlap", "the incumbent cannot be held against the candidate")
	assert.NotEqual(t, gate.Improved, decision.Verdict)
}

func TestTrialAtTheEdgesOfNumbers(t *testing.T) {
	percent := func(s gate.Standard, text string) gate.Standard {
		s.MinImprovement = gate.Allowance{Value: metric.MustValue(text), Percent: true}
		return s
	}
	outlier := func(step gate.Step) metric.Measurement {
		if step.Side == gate.Incumbent && step.Number == 4 {
			return scored("5000")
		}
		return sides("5", "6")(step)
	}
	lower := func(s gate.Standard) gate.Standard { s.Direction = metric.Lower; return s }
	for name, c := range map[string]struct {
		standard gate.Standard
		metric   func(gate.Step) metric.Measurement
		verdict  gate.Verdict
	}{
		"an outlier of a thousand times":     {noisy("5"), outlier, gate.Improved},
		"an outlier, lower is better":        {lower(noisy("5")), outlier, gate.Neutral},
		"negative, half a percent reached":   {percent(noisy("-100"), "0.5"), sides("-100", "-99.5"), gate.Improved},
		"negative, below half a percent":     {percent(noisy("-100"), "0.5"), sides("-100", "-99.6"), gate.Neutral},
		"a percentage of zero asks nothing":  {percent(noisy("0"), "5"), sides("0", "1e-300"), gate.Improved},
		"integers beyond 2^53":               {noisy("9007199254740992"), sides("9007199254740992", "9007199254740993"), gate.Improved},
		"integers beyond 2^53, repeatable":   {repeatable("9007199254740992"), sides("9007199254740992", "9007199254740993"), gate.Improved},
		"as small as can be":                 {noisy("1e-300"), sides("1e-300", "2e-300"), gate.Improved},
		"as small as can be, lower":          {lower(noisy("2e-300")), sides("2e-300", "1e-300"), gate.Improved},
		"constant and equal":                 {noisy("7"), sides("7", "7"), gate.Neutral},
		"absolute threshold exactly reached": {gate.Standard{Rule: gate.Rule{Regime: gate.Noisy, Pairs: 4, Confidence: 0.95, MinImprovement: gate.Allowance{Value: metric.MustValue("1")}}, Best: value("5")}, sides("5", "6"), gate.Improved},
	} {
		t.Run(name, func(t *testing.T) {
			decision, _ := play(c.standard, c.metric)
			assert.Equal(t, c.verdict, decision.Verdict, decision.Reasons)
		})
	}
}

func TestGuardrailOfATrial(t *testing.T) {
	rail := func(step gate.Step, text string) metric.Measurement {
		m := sides("5", "6")(step)
		m.Numbers = map[string]metric.Value{"lag": metric.MustValue(text)}
		return m
	}
	standard := func(s gate.Standard, initial ...string) gate.Standard {
		s.Guardrails = []gate.Guardrail{{Metric: "lag", Direction: metric.Lower, MaxRegression: gate.Allowance{Value: metric.MustValue("10"), Percent: true}}}
		s.Initial = map[string][]metric.Value{}
		for _, text := range initial {
			s.Initial["lag"] = append(s.Initial["lag"], metric.MustValue(text))
		}
		return s
	}
	for name, c := range map[string]struct {
		standard gate.Standard
		lag      string
		verdict  gate.Verdict
	}{
		"at the allowance":                  {standard(repeatable("5"), "100"), "110", gate.Improved},
		"beyond":                            {standard(repeatable("5"), "100"), "110.1", gate.Regressed},
		"noisy, within the scatter":         {standard(noisy("5"), "80", "90", "95", "99", "101", "105", "110", "120"), "110.1", gate.Improved},
		"noisy and beyond":                  {standard(noisy("5"), "99", "99", "100", "100", "100", "100", "101", "101"), "113", gate.Regressed},
		"too few at iteration 0 for a test": {standard(noisy("5"), "100"), "110.1", gate.Regressed},
		"nothing at iteration 0":            {standard(noisy("5")), "1", gate.Regressed},
	} {
		t.Run(name, func(t *testing.T) {
			decision, _ := play(c.standard, func(step gate.Step) metric.Measurement { return rail(step, c.lag) })
			assert.Equal(t, c.verdict, decision.Verdict, decision.Reasons)
		})
	}
	decision, _ := play(standard(repeatable("5"), "100"), sides("5", "6"))
	assert.Contains(t, decision.Reasons[0], "the evaluation did not print it")

	_, runs := play(standard(repeatable("5"), "100"), func(step gate.Step) metric.Measurement {
		if step.Stage == gate.Once {
			return rail(step, "101")
		}
		return rail(step, "100")
	})
	assert.Equal(t, "CIC"+"icICCIICCIICCIICCIciCIICCIICCIICCIIC", runs, "a metric that repeats beside a guardrail that does not")
}

func TestVisible(t *testing.T) {
	samples := []metric.Value{}
	for _, text := range []string{"97", "98", "99", "99.5", "100.5", "101", "102", "103"} {
		samples = append(samples, metric.MustValue(text))
	}
	rule := noisy("0").Rule
	eight := gate.Visible(rule, samples)
	assert.InDelta(t, 2*2.4, eight, 1.2, "about two standard deviations at eight pairs")
	found := 0
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		decision, _ := play(noisy("0"), func(step gate.Step) metric.Measurement {
			x := random.NormFloat64() * 2.4
			if step.Side == gate.Candidate {
				x += eight
			}
			v, _ := metric.FromFloat(x)
			return metric.Measurement{Metric: &v}
		})
		if decision.Verdict == gate.Improved {
			found++
		}
	}
	assert.InDelta(t, 160, found, 24, "the trial itself finds it four times in five")
	rule.Pairs = 30
	assert.Less(t, gate.Visible(rule, samples), eight, "more pairs see smaller gains")
	rule.Regime = gate.Repeatable
	assert.Zero(t, gate.Visible(rule, samples))
	rule.MinImprovement = gate.Allowance{Value: metric.MustValue("1"), Percent: true}
	assert.InDelta(t, 1, gate.Visible(rule, samples), 0.001)
}
