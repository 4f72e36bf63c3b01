package decision_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
)

func TestLostCases(t *testing.T) {
	t.Parallel()
	one, half := metric.FromInt(1), metric.MustValue("0.5")
	before := decision.RatesOf(map[string]metric.Value{"case.1": one, "case.10": one, "case.2": one, "case.3": half, "case.4": one, "size": one})
	now := decision.RatesOf(map[string]metric.Value{"case.1": half, "case.10": half, "case.3": half, "case.4": one})
	assert.Equal(t, []string{"1", "2", "10"}, decision.LostCases(before, now))
	assert.Empty(t, decision.LostCases(nil, now))
	assert.Empty(t, decision.LostCases(before, before))
}

// runsOf are the numbers of so many runs of a case, as "1 0.5 -": the last did
// not say it.
func runsOf(rates string) []map[string]metric.Value {
	var runs []map[string]metric.Value
	for rate := range strings.FieldsSeq(rates) {
		numbers := map[string]metric.Value{"case.other": metric.FromInt(1)}
		if rate != "-" {
			numbers["case.a"] = metric.MustValue(rate)
		}
		runs = append(runs, numbers)
	}
	return runs
}

func TestNoSingleRunLosesACase(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, now string
		lost        bool
	}{
		"one bad run of four":                     {"1 1 1 1", "1 1 0.5 1", false},
		"the last run is bad":                     {"1 1 1 1", "1 1 1 0", false},
		"the first run is bad":                    {"1 1 1 1", "0 1 1 1", false},
		"one good run of four is chance":          {"1 1 1 1", "0.5 0.5 0.5 1", false},
		"one good run of eight is no chance":      {"1 1 1 1 1 1 1 1", "0.5 0.5 0.5 0.5 0.5 0.5 0.5 1", true},
		"no good run":                             {"1 1 1 1", "0.9 0.9 0.9 0.9", true},
		"as bad as the worst before":              {"1 0.5 1 1", "0.5 0.5 0.5 0.5", false},
		"never as bad as that":                    {"1 0.5 1 1", "0.4 0.4 0.4 0.4", true},
		"seldom bad before, always now":           {"1 0.5 1 1 1 1 1 1", "0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5", true},
		"it passed in half of the runs":           {"1 0.5 1 0.5", "0 0 0 0", false},
		"it passed once, and not in four":         {"1", "0.5 0.5 0.5 0.5", true},
		"it passed once, and in one of four":      {"1", "0.5 0.5 0.5 1", false},
		"it passed in four, and not once":         {"1 1 1 1", "0.5", true},
		"a run that does not say it has lost it":  {"1 1 1 1", "- - - -", true},
		"one run of many that does not say it":    {"1 1 1 1", "1 1 - 1", false},
		"more than half are whole, whatever else": {"1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "1 1 1 1 1 1 1 1 0 0 0 0 0 0 0", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want []string
			if c.lost {
				want = []string{"a"}
			}
			assert.Equal(t, want, decision.LostCases(decision.RatesOf(runsOf(c.before)...), decision.RatesOf(runsOf(c.now)...)))
		})
	}
}

func TestATrialHoldsTheCases(t *testing.T) {
	t.Parallel()
	loses := func(step decision.Step) metric.Measurement {
		m := sides("5", "6")(step)
		m.Numbers = map[string]metric.Value{"case.a": metric.FromInt(1), "case.b": metric.FromInt(1)}
		if step.Side == decision.Candidate {
			m.Numbers["case.b"] = metric.MustValue("0.5")
		}
		return m
	}
	recorded := decision.RatesOf(map[string]metric.Value{"case.a": metric.FromInt(1), "case.b": metric.FromInt(1)})
	single := decision.Standard{Rule: decision.Rule{Regime: decision.Single}, Best: value("5")}
	for name, standard := range map[string]decision.Standard{"single": single, "repeatable": repeatable("5"), "noisy": noisy("5")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			standard.Cases = recorded
			made, _ := play(standard, loses)
			assert.Equal(t, decision.Improved, made.Verdict)
			assert.Equal(t, []string{"b"}, made.Lost)
			assert.Contains(t, made.Reasons, "regressed-cases: b")
			standard.NoCaseRegression = true
			made, _ = play(standard, loses)
			assert.Equal(t, decision.Regressed, made.Verdict)
			assert.Equal(t, "5", made.Best.String())
			assert.Equal(t, "regressed-cases: b; no-case-regression forbids to lose a case that passed", made.Reasons[0])
		})
	}
	made, _ := play(single, loses)
	assert.Empty(t, made.Lost, "nothing is known of the incumbent's cases")
}
