package decision_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/golden"
)

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
		"one bad run of four":                    {"1 1 1 1", "1 1 0.5 1", false},
		"the last run is bad":                    {"1 1 1 1", "1 1 1 0", false},
		"the first run is bad":                   {"1 1 1 1", "0 1 1 1", false},
		"one good run of four is chance":         {"1 1 1 1", "0.5 0.5 0.5 1", false},
		"one good run of eight is no chance":     {"1 1 1 1 1 1 1 1", "0.5 0.5 0.5 0.5 0.5 0.5 0.5 1", true},
		"no good run":                            {"1 1 1 1", "0.9 0.9 0.9 0.9", true},
		"as bad as the worst before":             {"1 0.5 1 1", "0.5 0.5 0.5 0.5", false},
		"never as bad as that":                   {"1 0.5 1 1", "0.4 0.4 0.4 0.4", true},
		"seldom bad before, always now":          {"1 0.5 1 1 1 1 1 1", "0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5", true},
		"it passed in half of the runs":          {"1 0.5 1 0.5", "0 0 0 0", false},
		"it passed once, and not in four":        {"1", "0.5 0.5 0.5 0.5", true},
		"it passed once, and in one of four":     {"1", "0.5 0.5 0.5 1", false},
		"it passed in four, and not once":        {"1 1 1 1", "0.5", true},
		"a run that does not say it has lost it": {"1 1 1 1", "- - - -", true},
		"one run of many that does not say it":   {"1 1 1 1", "1 1 - 1", false},
		"more than half are whole, whatever else": {
			"1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
			"1 1 1 1 1 1 1 1 0 0 0 0 0 0 0", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want []string
			if c.lost {
				want = []string{"a"}
			}
			assert.Equal(t, want, decision.LostCases(decision.RatesOf(runsOf(c.before)...),
				decision.RatesOf(runsOf(c.now)...)))
		})
	}
}

// TestLostCaseIsHeldAgainstAllCases: the chance of a false alarm is one for all cases, however
// many runs each side had.
func TestLostCaseIsHeldAgainstAllCases(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, now string
		most        int // the number of cases up to which it is a loss
	}{
		"of eight, one good run left": {
			"1 1 1 1 1 1 1 1", "0.5 0.5 0.5 0.5 0.5 0.5 0.5 1",
			35,
		}, // C(9,1)/C(16,8) is 9/12870
		"of eight, two left":   {"1 1 1 1 1 1 1 1", "0.5 0.5 0.5 0.5 0.5 0.5 1 1", 7}, // C(10,2)/12870
		"eight beside four":    {"1 1 1 1 1 1 1 1", "0.5 0.5 0.5 1", 1},               // C(9,1)/C(12,4)
		"four beside eight":    {"1 1 1 1", "0.5 0.5 0.5 0.5 0.5 0.5 0.5 1", 2},       // C(5,1)/C(12,4)
		"sixteen beside three": {"1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "0.5 0.5 1", 1},   // C(17,1)/C(19,3)
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, cases := range []int{1, 2, 3, 7, 8, 35, 36, 200} {
				before, now := decision.RatesOf(runsOf(c.before)...), decision.RatesOf(runsOf(c.now)...)
				delete(before, "case.other")
				for i := range cases - 1 {
					before[fmt.Sprintf("case.%d", i)], now[fmt.Sprintf("case.%d", i)] = numbers("1"), numbers("1")
				}
				before["size"] = numbers("1") // no case
				assert.Equal(t, cases <= c.most, len(decision.LostCases(before, now)) == 1, "among %d cases", cases)
			}
		})
	}
}

func TestRatesOfRuns(t *testing.T) {
	t.Parallel()
	one := metric.FromInt(1)
	got := decision.RatesOf(
		map[string]metric.Value{"case.a": one, "size": one}, nil,
		map[string]metric.Value{"case.b": one, "case": one, "Case.c": one, "case.": one},
	)
	zero := metric.Value{}
	assert.Equal(t, decision.CaseRates{
		"case.a": {one, zero, zero}, "case.b": {zero, zero, one},
		"case.": {zero, zero, one},
	}, got)
	assert.Empty(t, decision.RatesOf())
	assert.Equal(t, []string{"a"},
		decision.LostCases(decision.CaseRates{"case.a": numbers("1.5 1")},
			decision.CaseRates{"case.a": numbers("0.99")}), "more than whole is whole")
}

// TestTextOfLostCases: their names are an evaluation's, and there may be many.
func TestTextOfLostCases(t *testing.T) {
	t.Parallel()
	said := func(names ...string) string {
		cases := decision.CaseRates{}
		for _, name := range names {
			cases["case."+name] = numbers("1")
		}
		standard := decision.Standard{Rule: decision.Rule{Regime: decision.Single}, Best: value("5"), Cases: cases}
		made, _ := play(standard, sides("5", "6"))
		assert.Len(t, made.Lost, len(names))
		return made.Reasons[len(made.Reasons)-1].String()
	}
	assert.Equal(t, "regressed-cases: a b", said("a \n\t b "))
	assert.Equal(t, "regressed-cases: "+strings.Repeat("é", 60)+"…", said(strings.Repeat("é", 61)))
	assert.Equal(t, "regressed-cases: "+strings.Repeat("é", 60), said(strings.Repeat("é", 60)))
	var many []string
	for i := range 21 {
		many = append(many, fmt.Sprintf("c%02d", i))
	}
	assert.True(t, strings.HasSuffix(said(many[:20]...), ", c19"))
	assert.True(t, strings.HasSuffix(said(many...), ", c19 and 1 more"))
}

// TestWhichCasesOfTheIncumbentCount: those that were measured beside the candidate, and
// only without any those on record.
func TestWhichCasesOfTheIncumbentCount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		regime, recorded, incumbent, candidate string
		lost                                   bool
	}{
		"single: the record":                  {"single", "1", "0", "0.5", true},
		"single: a record that was not whole": {"single", "0.5", "1", "0.4", false},
		"repeatable: what is beside it":       {"repeatable", "1", "0.5", "0.5", false},
		"repeatable: whatever the record":     {"repeatable", "0.5", "1", "0.5", true},
		"noisy: what is beside it":            {"noisy", "1", "0.5", "0.5", false},
		"noisy: whatever the record":          {"noisy", "0.5", "1", "0.5", true},
		"nothing on record":                   {"single", "", "1", "0.5", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			standard := changed(repeatable("5"), `{"regime":"`+c.regime+`","target":6}`)
			if c.recorded != "" {
				standard.Cases = decision.CaseRates{"case.a": numbers(c.recorded)}
			}
			measure := func(step decision.Step) metric.Measurement {
				m, rate := sides("5", "6")(step), c.candidate
				if step.Side == decision.Incumbent {
					rate = c.incumbent
				}
				m.Numbers = map[string]metric.Value{"case.a": metric.MustValue(rate)}
				return m
			}
			made, _ := play(standard, measure)
			assert.Equal(t, decision.Improved, made.Verdict)
			assert.Equal(t, c.lost, len(made.Lost) == 1)
			assert.Equal(t, c.lost, strings.Contains(decision.Joined(made.Reasons), "regressed-cases: a"))
			assert.True(t, made.TargetMet)
			standard.NoCaseRegression = true
			made, _ = play(standard, measure)
			assert.Equal(t, !c.lost, made.TargetMet, "the target is that of the best after the decision")
			assert.Equal(t, "6", made.Metric.String(), "what was measured is said")
			if c.lost {
				assert.Equal(t, decision.Regressed, made.Verdict)
				assert.Equal(t, "5", made.Best.String())
				golden.Row(t, "regressed-cases: a; no-case-regression forbids", made.Reasons[0].String())
			}
		})
	}
}
