package decision_test

import (
	
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

func TestTrialOfWhatCannotBeScored(t *testing.T) {
	null := metric.Measurement{RejectedReason: "overlap"}
	made, runs := play(repeatable("5"), func(decision.Step) metric.Measurement { return null })
	assert.Equal(t, decision.Regressed, made.Verdict)
	assert.Equal(t, "C", runs)
	made, _ = play(noisy("5"), func(step decision.Step) metric.Measurement {
		if step.Side == decision.Incumbent {
			return null
		}
		return scored("6")
	})
	assert.Contains(t, decision.Text(made.Fault), "not scored: overlap",
		"the incumbent cannot be held against the candidate")
	assert.NotEqual(t, decision.Improved, made.Verdict)
}

func TestTrialAtTheEdgesOfNumbers(t *testing.T) {
	percent := func(s decision.Standard, text string) decision.Standard {
		s.MinImprovement = decision.Allowance{Value: metric.MustValue(text), Percent: true}
		return s
	}
	outlier := func(step decision.Step) metric.Measurement {
		if step.Side == decision.Incumbent && step.Number == 4 {
			return scored("5000")
		}
		return sides("5", "6")(step)
	}
	lower := func(s decision.Standard) decision.Standard { s.Direction = metric.Lower; return s }
	for name, c := range map[string]struct {
		standard decision.Standard
		metric   func(decision.Step) metric.Measurement
		verdict  decision.Verdict
	}{
		"an outlier of a thousand times": {noisy("5"), outlier, decision.Improved},
		"an outlier, lower is better":    {lower(noisy("5")), outlier, decision.Neutral},
		"negative, half a percent reached": {
			percent(noisy("-100"), "0.5"), sides("-100", "-99.5"),
			decision.Improved,
		},
		"negative, below half a percent":    {percent(noisy("-100"), "0.5"), sides("-100", "-99.6"), decision.Neutral},
		"a percentage of zero asks nothing": {percent(noisy("0"), "5"), sides("0", "1e-300"), decision.Improved},
		"integers beyond 2^53": {
			noisy("9007199254740992"), sides("9007199254740992", "9007199254740993"),
			decision.Improved,
		},
		"integers beyond 2^53, repeatable": {
			repeatable("9007199254740992"),
			sides("9007199254740992", "9007199254740993"), decision.Improved,
		},
		"as small as can be":        {noisy("1e-300"), sides("1e-300", "2e-300"), decision.Improved},
		"as small as can be, lower": {lower(noisy("2e-300")), sides("2e-300", "1e-300"), decision.Improved},
		"constant and equal":        {noisy("7"), sides("7", "7"), decision.Neutral},
		"absolute threshold exactly reached": {
			decision.Standard{Rule: decision.Rule{
				Regime: decision.Noisy, Pairs: 4,
				Confidence: 0.95, MinImprovement: decision.Allowance{Value: metric.MustValue("1")},
			}, Best: value("5")},
			sides("5", "6"), decision.Improved,
		},
	} {
		t.Run(name, func(t *testing.T) {
			made, _ := play(c.standard, c.metric)
			assert.Equal(t, c.verdict, made.Verdict, made.Reasons)
		})
	}
}

func TestGuardrailOfATrial(t *testing.T) {
	rail := func(step decision.Step, text string) metric.Measurement {
		m := sides("5", "6")(step)
		m.Numbers = map[string]metric.Value{"lag": metric.MustValue(text)}
		return m
	}
	standard := func(s decision.Standard, initial ...string) decision.Standard {
		s.Guardrails = []decision.Guardrail{{
			Metric: "lag", Direction: metric.Lower,
			MaxRegression: decision.Allowance{Value: metric.MustValue("10"), Percent: true},
		}}
		s.Initial = map[string][]metric.Value{}
		for _, text := range initial {
			s.Initial["lag"] = append(s.Initial["lag"], metric.MustValue(text))
		}
		return s
	}
	for name, c := range map[string]struct {
		standard decision.Standard
		lag      string
		verdict  decision.Verdict
	}{
		"at the allowance": {standard(repeatable("5"), "100"), "110", decision.Improved},
		"beyond":           {standard(repeatable("5"), "100"), "110.1", decision.Regressed},
		"noisy, within the scatter": {
			standard(noisy("5"), "80", "90", "95", "99", "101", "105", "110", "120"),
			"110.1", decision.Improved,
		},
		"noisy and beyond": {standard(noisy("5"), "99", "99", "100", "100", "100", "100", "101",
			"101"), "113", decision.Regressed},
		"too few at iteration 0 for a test": {standard(noisy("5"), "100"), "110.1", decision.Regressed},
		"nothing at iteration 0":            {standard(noisy("5")), "1", decision.Regressed},
	} {
		t.Run(name, func(t *testing.T) {
			made, _ := play(c.standard, func(step decision.Step) metric.Measurement { return rail(step, c.lag) })
			assert.Equal(t, c.verdict, made.Verdict, made.Reasons)
		})
	}
	made, _ := play(standard(repeatable("5"), "100"), sides("5", "6"))
	assert.Contains(t, made.Reasons[0].String(), "the evaluation did not print it")

	_, runs := play(standard(repeatable("5"), "100"), func(step decision.Step) metric.Measurement {
		if step.Stage == decision.Once {
			return rail(step, "101")
		}
		return rail(step, "100")
	})
	assert.Equal(t, "CC"+"icICCICIICICCCICIIicICCIICCICIICIICC", runs,
		"a metric that repeats beside a guardrail that does not")
}



// TestRunsThatAreAnnouncedAreTaken: budgets are reserved by what is announced.
func TestRunsThatAreAnnouncedAreTaken(t *testing.T) {
	t.Parallel()
	for name, standard := range map[string]decision.Standard{"repeatable": repeatable("5"), "noisy": noisy("5")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			standard.Seed = "seed"
			runs, environments := standard.KeptRuns()
			kept, order := play(standard, sides("5", "9"))
			assert.Equal(t, decision.Improved, kept.Verdict)
			assert.LessOrEqual(t, len(order), runs)
			assert.Positive(t, environments)
			held, more := standard.HeldRuns()
			assert.Zero(t, held+more, "nothing is held unless it is asked for")
			standard.CheckTooGood = true
			held, more = standard.HeldRuns()
			assert.Positive(t, held)
			assert.Positive(t, more)
			lower := standard
			lower.Direction, lower.Best = metric.Lower, value("1000")
			trial := decision.NewTrial(lower)
			taken := 0
			for step, next := trial.Next(); next; step, next = trial.Next() {
				taken++
				switch {
				case step.Stage == decision.Held:
					trial.Add(step, scored("1000"))
				case step.Side == decision.Incumbent:
					trial.Add(step, scored("1000"))
				default:
					trial.Add(step, scored("0"))
				}
			}
			assert.NotEmpty(t, trial.Held(), "a drop to zero")
			assert.LessOrEqual(t, taken, runs+held)
		})
	}
}
